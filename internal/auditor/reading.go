package auditor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
)

// readingsDir is the folder of the recordings of reviewers. No auditor has its name.
const readingsDir = "bench"

// ReviewRecording are the replies of a recorded reviewer to requests with one prompt:
// <reader>/<prompt>.jsonl has a [RecordedReply] a line, and <prompt>.provenance.json next to it
// describes them.
type ReviewRecording struct {
	Reader string `json:"reader"`
	Prompt string `json:"prompt"` // of fixtures/prompts
	Model  string `json:"model"`  // who replied
	Date   string `json:"date"`   // YYYY-MM-DD, of the last reply
	Asked  string `json:"asked"`  // how it was asked
	Had    string `json:"had"`    // what it had beside the request
	SHA256 string `json:"sha256"` // of the replies' file, which is never edited

	Readings []RecordedReply `json:"-"`
}

// A RecordedReply is the reply to one request.
type RecordedReply struct {
	About   string `json:"about"`   // audit.Case.ID
	Request string `json:"request"` // RequestHash of the task: the text itself can be made again
	Reply   string `json:"reply"`   // as it came, malformed or wrong
}

// A RecordedReviewer is a reviewer that replays what it replied when it was recorded.
type RecordedReviewer struct {
	name    string
	read    []*ReviewRecording
	replies map[string]string // by request
}

// Readers reads the recorded reviewers below dir (bench/<reader>/<prompt>.jsonl), by
// name. Replies without provenance, or others than it speaks of, are an error.
func RecordedReviewers(fsys fs.FS, dir string) ([]*RecordedReviewer, error) {
	files, err := fs.Glob(fsys, path.Join(dir, readingsDir, "*", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var readers []*RecordedReviewer
	var errs []error
	for _, file := range files { // sorted, so that those of a reader stand together
		rs, err := readReadings(fsys, file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if n := len(readers); n == 0 || readers[n-1].name != rs.Reader {
			readers = append(readers, &RecordedReviewer{name: rs.Reader, replies: map[string]string{}})
		}
		r := readers[len(readers)-1]
		r.read = append(r.read, rs)
		for _, one := range rs.Readings {
			r.replies[one.Request] = one.Reply
		}
	}
	return readers, errors.Join(errs...)
}

// readReadings reads the replies of one reviewer to one prompt.
func readReadings(fsys fs.FS, file string) (*ReviewRecording, error) {
	lines, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	rs := &ReviewRecording{}
	about := strings.TrimSuffix(file, ".jsonl") + provenance
	b, err := fs.ReadFile(fsys, about)
	if err != nil {
		return nil, fmt.Errorf(
			"%s: nothing says where these replies come from: %w: expected that file, as assay readings keep writes it", file, err)
	}
	if err := decodeWhole(b, rs); err != nil {
		return nil, fmt.Errorf("%s: %w: expected what assay readings keep writes", about, err)
	}
	if rs.Reader != path.Base(path.Dir(file)) || rs.Prompt+".jsonl" != path.Base(file) {
		return nil, fmt.Errorf(
			"%s: it speaks of %s with the prompt %s: expected the names of its folder and file",
			about, rs.Reader, rs.Prompt)
	}
	if err := rs.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", about, err)
	}
	if sum := sha256Of(lines); sum != rs.SHA256 {
		return nil, fmt.Errorf(
			"%s: its SHA-256 is %.12s, and was %.12s when it was recorded: a recording is never edited, keep the replies again with assay readings keep", file, sum, rs.SHA256)
	}
	n, at := 0, map[string]int{}
	for line := range bytes.Lines(lines) {
		n++
		var one RecordedReply
		if err := decodeWhole(line, &one); err != nil {
			return nil, fmt.Errorf("%s:%d: %w: expected about, request and reply", file, n, err)
		}
		if at[one.Request] > 0 {
			return nil, fmt.Errorf("%s:%d: line %d has a reply to the same request: expected one",
				file, n, at[one.Request])
		}
		at[one.Request] = n
		rs.Readings = append(rs.Readings, one)
	}
	return rs, nil
}

// decodeWhole reads one object of fields that are known, and nothing behind it.
func decodeWhole(b []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something stands behind the object")
	}
	return nil
}

// check checks that the description is complete.
func (rs *ReviewRecording) check() error {
	for _, f := range []struct{ name, value string }{{"model", rs.Model}, {"date", rs.Date},
		{"asked", rs.Asked}, {"had", rs.Had}} {
		if strings.TrimSpace(f.value) == "" {
			return fmt.Errorf(
				"%s is missing: a recording says who replied, when, how it was asked, and what it had beside the request", f.name)
		}
	}
	return nil
}

// Write stores the replies below dir on disk, in the order of what they are about.
// None are an error.
func (rs *ReviewRecording) Write(dir string) error {
	if err := rs.check(); err != nil {
		return err
	}
	if len(rs.Readings) == 0 {
		return fmt.Errorf(
			"%s with %s: no reading is left: have the requests read again, or remove the recording",
			rs.Reader, rs.Prompt)
	}
	slices.SortFunc(rs.Readings, func(a, b RecordedReply) int { return cmp.Compare(a.About, b.About) })
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	enc.SetEscapeHTML(false)
	for _, one := range rs.Readings {
		if err := enc.Encode(one); err != nil {
			return err
		}
	}
	rs.SHA256 = sha256Of(lines.Bytes())
	return store(filepath.Join(dir, readingsDir, rs.Reader), rs.Prompt+".jsonl",
		rs.Prompt+provenance, lines.Bytes(), rs)
}

// Name is the recorded reviewer's.
func (r *RecordedReviewer) Name() string { return r.name }

// Read returns the replies to a prompt; nil if there are none.
func (r *RecordedReviewer) Read(prompt string) *ReviewRecording {
	for _, rs := range r.read {
		if rs.Prompt == prompt {
			return rs
		}
	}
	return nil
}

// Has reports whether it was shown, with a prompt, the case of this ID.
func (r *RecordedReviewer) Has(prompt, about string) bool {
	rs := r.Read(prompt)
	return rs != nil &&
		slices.ContainsFunc(rs.Readings, func(one RecordedReply) bool { return one.About == about })
}

// Review returns the reply to the same request.
func (r *RecordedReviewer) Review(_ context.Context, task audit.ReviewTask) (audit.Review, error) {
	reply, ok := r.replies[RequestHash(task)]
	if !ok {
		return audit.Review{Status: audit.Errored,
			Detail: "a recorded reviewer, and it was never shown this request"}, nil
	}
	return ReadReply(reply), nil
}
