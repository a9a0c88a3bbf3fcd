// Package mockapi is a model's server for tests, on this machine, that answers by chat
// completions, Responses or Messages as it is told, and misbehaves on demand. It remembers what it was sent
// and what it would have charged.
package mockapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Request is what a client sent.
type Request struct {
	N      int    // from 1, in the order of arrival
	Model  string // as asked for
	Prompt string // the messages' texts
	Key    string // of the authorization header
	Header http.Header
	Body   []byte
	Tries  int // how often this prompt was sent so far, this time included
	Stream bool
	API    string // chat/completions, responses or messages: the end of its path
}

// A Reply is what the server does with a request. The zero value answers "bad".
type Reply struct {
	Status     int               // 0: 200
	Header     map[string]string // besides Content-Type
	Body       string            // in place of a completion
	Content    string            // of the completion's message; "": a verdict "bad", unless there are calls
	Calls      []Call            // of tools
	Finish     string            // finish reason; "": stop
	Model      string            // as served; "": as asked for
	Cost       float64           // USD in usage.cost; below 0: none is stated
	Latency    time.Duration     // before the answer
	CutAfter   int               // bytes of the body after which the connection is reset; 0: none
	EndAfter   int               // bytes of the body after which it ends, as if that were all; 0: none
	Stall      bool              // no answer until the client gives up
	StallAfter int               // with Stall: bytes of the body that come before
	Whole      bool              // no stream, though one was asked for
	Piece      int               // bytes of the content in each chunk of a stream; 0: 16
	Pause      time.Duration     // before each chunk of a stream
	Think      time.Duration     // of a stream: between its first chunk, which says nothing, and the next
	Nap        time.Duration     // of a stream: in the middle of its content
	Uncounted  bool              // no usage
}

// A Call is one call of a tool.
type Call struct{ Name, Arguments string }

func (c Call) tool(req Request, n int) map[string]any {
	return map[string]any{"index": n, "id": fmt.Sprintf("call-%d-%d", req.N, n), "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}}
}

// Verdict is the content of an answer.
func Verdict(v string) string {
	if v == "good" {
		return `{"explanation":"because","verdict":"good","violated_requirements":[],"cwes":[]}`
	}
	return `{"explanation":"because","verdict":"` + v + `","violated_requirements":[2],"cwes":["CWE-639"]}`
}

// A Server is a running mock. Its URL is in the embedded server; the API's base
// URL is BaseURL.
type Server struct {
	*httptest.Server
	BaseURL string
	Forget  bool // keep no requests: for benchmarks; set before the first one

	mu       sync.Mutex
	script   func(Request) Reply
	requests []Request
	tries    map[string]int
	answers  map[string]int // by prompt
	charged  float64
	broken   float64 // cost of completions that did not arrive whole
	count    int
	flying   int
	most     int
}

// New starts a server that does what script says. Close ends it.
func New(script func(Request) Reply) *Server {
	s := &Server{script: script, tries: map[string]int{}, answers: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	s.BaseURL = s.URL + "/v1"
	return s
}

// Requests gives what was sent so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Answers gives how many whole completions each prompt has got.
func (s *Server) Answers() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.answers)
}

// Charged gives the sum of the stated costs of all completions.
func (s *Server) Charged() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.charged
}

// ChargedBroken gives the sum of the costs of completions that were cut off or
// stalled: a provider charges for them too, and the client never learns it.
func (s *Server) ChargedBroken() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// MostInFlight gives the largest number of requests under way at once.
func (s *Server) MostInFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodGet { // who asks whether anybody is there
		http.NotFound(w, req)
		return
	}
	r, ok := s.note(w, req)
	if !ok {
		return
	}
	defer func() { s.mu.Lock(); s.flying--; s.mu.Unlock() }()
	reply := s.script(r)
	if reply.Latency > 0 && !wait(req, reply.Latency) {
		return
	}
	s.charge(r, reply)
	if reply.Stall && reply.StallAfter == 0 {
		<-req.Context().Done()
		return
	}
	reply.send(w, req, r)
}

// wait tells whether the client is still there after that time.
func wait(req *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-req.Context().Done():
		return false
	}
}

// charge counts a completion, which costs whether it arrives whole or not.
func (s *Server) charge(r Request, p Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case p.Stall || p.CutAfter > 0 || p.EndAfter > 0:
		s.broken += max(0, p.Cost)
	case cmp.Or(p.Status, http.StatusOK) == http.StatusOK && p.Body == "":
		s.answers[r.Prompt]++
		s.charged += max(0, p.Cost)
	}
}

func (r Reply) send(w http.ResponseWriter, req *http.Request, to Request) {
	body := r.body(to)
	w.Header().Set("Content-Type", "application/json")
	streamed := to.Stream && !r.Whole && r.Body == "" && r.Status == 0
	if streamed {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for k, v := range r.Header {
		w.Header().Set(k, v)
	}
	part := min(len(body), r.CutAfter+r.StallAfter)
	if part > 0 && !streamed {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	}
	w.WriteHeader(cmp.Or(r.Status, http.StatusOK))
	switch {
	case part > 0:
		_, _ = io.WriteString(w, body[:part])
		_ = http.NewResponseController(w).Flush()
		if r.Stall {
			<-req.Context().Done()
			return
		}
		reset(w)
	case r.EndAfter > 0:
		_, _ = io.WriteString(w, body[:min(len(body), r.EndAfter)])
	case r.Pause > 0 || r.Think > 0 || r.Nap > 0:
		r.slowly(w, req, body)
	default:
		_, _ = io.WriteString(w, body)
	}
}

func (r Reply) slowly(w http.ResponseWriter, req *http.Request, body string) {
	for i, event := range strings.SplitAfter(body, "\n\n") {
		pause := r.Pause
		switch i { // the first is a comment
		case 2:
			pause += r.Think
		case 4:
			pause += r.Nap
		}
		if !wait(req, pause) {
			return
		}
		_, _ = io.WriteString(w, event)
		_ = http.NewResponseController(w).Flush()
	}
}

func (s *Server) note(w http.ResponseWriter, req *http.Request) (Request, bool) {
	b, err := io.ReadAll(req.Body)
	var sent struct {
		Model    string    `json:"model"`
		Stream   bool      `json:"stream"`
		Messages []message `json:"messages"`
		Input    []message `json:"input"`
	}
	api := strings.TrimPrefix(req.URL.Path, "/v1/")
	known := slices.Contains([]string{"chat/completions", "responses", "messages"}, api)
	if err != nil || json.Unmarshal(b, &sent) != nil || req.Method != http.MethodPost || !known {
		http.Error(w, `{"error":{"message":"no chat completion was asked for"}}`, http.StatusNotFound)
		return Request{}, false
	}
	r := Request{Model: sent.Model, Stream: sent.Stream, Header: req.Header.Clone(), Body: b, API: api}
	for _, m := range append(sent.Messages, sent.Input...) {
		r.Prompt += m.text()
	}
	if _, _ = fmt.Sscanf(req.Header.Get("Authorization"), "Bearer %s", &r.Key); r.Key == "" {
		r.Key = req.Header.Get("x-api-key")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying++
	s.most = max(s.most, s.flying)
	s.tries[r.Prompt]++
	s.count++
	r.N, r.Tries = s.count, s.tries[r.Prompt]
	if !s.Forget {
		s.requests = append(s.requests, r)
	}
	return r, true
}

// A message is one of a conversation, its content a text or blocks with text.
type message struct {
	Content json.RawMessage `json:"content"`
}

func (m message) text() string {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &blocks) != nil {
		return string(m.Content)
	}
	for _, b := range blocks {
		text += b.Text
	}
	return text
}

// reset closes the connection so that the client sees a reset, not an end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func (r Reply) body(req Request) string {
	if r.Body != "" {
		return r.Body
	}
	if r.Content == "" && len(r.Calls) == 0 {
		r.Content = Verdict("bad")
	}
	if r.Finish == "" && len(r.Calls) > 0 {
		r.Finish = "tool_calls"
	}
	r.Finish, r.Model = cmp.Or(r.Finish, "stop"), cmp.Or(r.Model, req.Model)
	written := len(r.Content)
	for _, c := range r.Calls {
		written += len(c.Name) + len(c.Arguments)
	}
	usage := map[string]any{"prompt_tokens": len(req.Prompt) / 4, "completion_tokens": written / 4, "total_tokens": (len(req.Prompt) + written) / 4}
	if r.Cost >= 0 {
		usage["cost"] = r.Cost
	}
	if r.Uncounted {
		usage = nil
	}
	switch req.API {
	case "responses":
		return r.responses(req, usage)
	case "messages":
		return r.messages(req, usage)
	}
	head := map[string]any{"id": fmt.Sprint("gen-", req.N), "created": 1, "model": r.Model}
	if req.Stream && !r.Whole {
		return r.stream(req, head, usage)
	}
	head["object"], head["usage"] = "chat.completion", usage
	message := map[string]any{"role": "assistant", "content": r.Content}
	if len(r.Calls) > 0 {
		var calls []any
		for i, c := range r.Calls {
			calls = append(calls, c.tool(req, i))
		}
		message["tool_calls"] = calls
	}
	head["choices"] = []any{map[string]any{"index": 0, "finish_reason": r.Finish, "message": message}}
	b, _ := json.Marshal(head)
	return string(b)
}

// stream gives the answer as events: the content in pieces, the calls (the arguments
// in two), the finish reason, the usage, and the mark of the end, with comments
// between as OpenRouter sends them.
func (r Reply) stream(req Request, head, usage map[string]any) string {
	var s strings.Builder
	head["object"] = "chat.completion.chunk"
	event := func(delta map[string]any, finish any) {
		head["choices"] = []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
		b, _ := json.Marshal(head)
		fmt.Fprintf(&s, "data: %s\n\n", b)
	}
	s.WriteString(": PROCESSING\n\n")
	event(map[string]any{"role": "assistant", "content": ""}, nil)
	for piece := range slices.Chunk([]rune(r.Content), cmp.Or(r.Piece, 16)) {
		event(map[string]any{"content": string(piece)}, nil)
	}
	for i, c := range r.Calls {
		rest := c.Arguments[len(c.Arguments)/2:]
		c.Arguments = c.Arguments[:len(c.Arguments)/2]
		event(map[string]any{"tool_calls": []any{c.tool(req, i)}}, nil)
		event(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": rest}}}}, nil)
	}
	event(map[string]any{}, r.Finish)
	if usage != nil {
		head["choices"], head["usage"] = []any{}, usage
		b, _ := json.Marshal(head)
		fmt.Fprintf(&s, "data: %s\n\n", b)
	}
	s.WriteString("data: [DONE]\n\n")
	return s.String()
}
