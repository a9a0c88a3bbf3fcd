package handlers

import (
	"html/template"
	"net/http"
	"strings"
	texttemplate "text/template"

	"rm-labor.example/tracker/internal/model"
	"rm-labor.example/tracker/internal/store"
)

type Board struct {
	Instruments *store.Instruments
	pages       *template.Template
	labels      *texttemplate.Template
}

const labelLayout = `{{ .Title }}
{{ range .Lines }}| {{ . }}
{{ end }}`

type row struct {
	Serial string
	Room   string
	Note   template.HTML
}

type labelData struct {
	Title string
	Lines []string
}

func NewBoard(instruments *store.Instruments) *Board {
	return &Board{
		Instruments: instruments,
		pages:       template.Must(template.ParseGlob("web/templates/*.gohtml")),
		labels:      texttemplate.Must(texttemplate.New("label").Parse(labelLayout)),
	}
}

func rowsOf(found []model.Instrument) []row {
	rows := make([]row, 0, len(found))
	for _, i := range found {
		note := strings.ReplaceAll(i.Note, "\n", "<br>")
		rows = append(rows, row{Serial: i.Serial, Room: i.Room, Note: template.HTML(note)})
	}
	return rows
}

func escapedNote(note string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(note), "\n", "<br>"))
}

func (b *Board) Page(w http.ResponseWriter, r *http.Request) {
	found, err := b.Instruments.Retired(1, r.URL.Query().Get("by") == "room")
	if err != nil {
		http.Error(w, "the board is not available", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	data := map[string]any{"Rows": rowsOf(found), "Heading": r.URL.Query().Get("heading"), "Hint": escapedNote(r.URL.Query().Get("hint"))}
	_ = b.pages.ExecuteTemplate(w, "board.gohtml", data)
}

func (b *Board) Label(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	data := labelData{Title: r.FormValue("title"), Lines: r.Form["line"]}
	_ = b.labels.Execute(w, data)
}

func (b *Board) Preview(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	data := labelData{Title: r.FormValue("title"), Lines: r.Form["line"]}
	var out strings.Builder
	if err := b.labels.Execute(&out, data); err != nil {
		http.Error(w, "label cannot be shown", http.StatusInternalServerError)
		return
	}
	_, _ = w.Write([]byte("<pre>" + out.String() + "</pre>"))
}
