package render

import (
	"bytes"
	"html/template"
	"path/filepath"
	text "text/template"

	"github.com/microcosm-cc/bluemonday"

	"nordwind.example/helpdesk/worker/internal/store"
)

// Digest is the data of the queue digest.
type Digest struct {
	Heading string
	Note    string
	Intro   template.HTML
	Tickets []store.TicketRow
}

type Views struct {
	digest *template.Template
	plain  *text.Template
	board  *text.Template
	policy *bluemonday.Policy
}

const boardSource = `<!doctype html>
<title>{{.Heading}}</title>
<h1>{{.Heading}}</h1>
<p>{{.Note}}</p>
<ul>
{{range .Tickets}}<li data-queue="{{.Queue}}">#{{.ID}} {{.Subject}}</li>
{{end}}</ul>
`

func New(dir string) (*Views, error) {
	digest, err := template.ParseFiles(filepath.Join(dir, "digest.html"))
	if err != nil {
		return nil, err
	}
	plain, err := text.New("plain").Parse("{{.Heading}}\n{{range .Tickets}}#{{.ID}} {{.Subject}}\n{{end}}")
	if err != nil {
		return nil, err
	}
	board, err := text.New("board").Parse(boardSource)
	if err != nil {
		return nil, err
	}
	return &Views{digest: digest, plain: plain, board: board, policy: bluemonday.UGCPolicy()}, nil
}

// Digest renders the HTML digest.
func (v *Views) Digest(heading, intro string, rows []store.TicketRow) ([]byte, error) {
	var out bytes.Buffer
	data := Digest{
		Heading: heading,
		Intro:   template.HTML(v.policy.Sanitize(intro)),
		Tickets: rows,
	}
	err := v.digest.Execute(&out, data)
	return out.Bytes(), err
}

// Board renders the wall board page.
func (v *Views) Board(heading, note string, rows []store.TicketRow) ([]byte, error) {
	var out bytes.Buffer
	err := v.board.Execute(&out, Digest{Heading: heading, Note: note, Tickets: rows})
	return out.Bytes(), err
}

// Plain renders the text part of a mail.
func (v *Views) Plain(heading string, rows []store.TicketRow) (string, error) {
	var out bytes.Buffer
	err := v.plain.Execute(&out, Digest{Heading: heading, Tickets: rows})
	return out.String(), err
}
