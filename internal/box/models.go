package box

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/audit"
)

// maxModels bounds how many pairs of models the log of one host holds.
const maxModels = 50

// modelIn matches where a request or a response of OpenAI's, Anthropic's or Gemini's API names
// its model. Within a text the quotes would be escaped.
var modelIn = regexp.MustCompile(`"model(?:Version)?"\s*:\s*"([^"\\]{1,200})"`)

// pathModel matches the model in a path of Gemini's API.
var pathModel = regexp.MustCompile(`/models/([^/:]{1,200}):`)

// A modelPair is the model that a request asks and the one that answers.
type modelPair struct {
	mu            sync.Mutex
	asked, served string
	note          func(asked, served string) // called once both are known
}

func (m *modelPair) set(to *string, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if *to != "" || name == "" {
		return
	}
	if *to = name; m.asked != "" && m.served != "" {
		m.note(m.asked, m.served)
	}
}

// watchModels returns the pair of a request, which is filled in as bodies are read.
func (p *proxy) watchModels(r *http.Request) *modelPair {
	m := &modelPair{note: func(asked, served string) {
		p.noteProvider(func(t *audit.Traffic) {
			pair := audit.AnsweredBy{Asked: asked, Served: served}
			if len(t.Models) < maxModels && !slices.Contains(t.Models, pair) {
				t.Models = append(t.Models, pair)
			}
		})
	}}
	if in := pathModel.FindStringSubmatch(r.URL.Path); in != nil {
		m.set(&m.asked, in[1])
	}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &sniffedBody{ReadCloser: r.Body,
			found: func(name string) { m.set(&m.asked, name) }}
	}
	return m
}

// answered reads the model from a response's header, or from its body as it passes. Codex's
// server names the model that it chose in the header alone.
func (m *modelPair) answered(r *http.Response) {
	if r.StatusCode >= 300 || m == nil {
		return
	}
	if name := r.Header.Get("Openai-Model"); name != "" {
		m.set(&m.served, name)
		return
	}
	r.Body = &sniffedBody{ReadCloser: r.Body, found: func(name string) { m.set(&m.served, name) }}
}

// noteProvider changes what is counted for the provider.
func (p *proxy) noteProvider(f func(*audit.Traffic)) {
	p.note(net.JoinHostPort(p.provider.Hostname(), portOf(p.provider)), f)
}

// countAnswer counts a response of the provider when its body has been read to the end.
func (p *proxy) countAnswer(r *http.Response) {
	if r.StatusCode >= 400 {
		p.noteProvider(func(t *audit.Traffic) { t.Status = r.StatusCode })
		return
	}
	r.Body = &wholeBody{ReadCloser: r.Body,
		whole: sync.OnceFunc(func() { p.noteProvider(func(t *audit.Traffic) { t.Answers++ }) })}
}

// A wholeBody calls whole when all of a body has been read.
type wholeBody struct {
	io.ReadCloser
	whole func()
}

func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.whole()
	}
	return n, err
}

// A sniffedBody looks for the first model that a body names, as it is read.
type sniffedBody struct {
	io.ReadCloser
	found func(model string)
	seen  []byte // the end of what was read
	done  bool
}

func (b *sniffedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.done {
		return n, err
	}
	b.seen = append(b.seen, p[:n]...)
	if m := modelIn.FindSubmatch(b.seen); m != nil {
		b.done = true
		b.found(strings.Clone(string(m[1])))
	}
	if keep := 300; len(b.seen) > keep {
		b.seen = bytes.Clone(b.seen[len(b.seen)-keep:])
	}
	return n, err
}
