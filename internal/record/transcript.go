package record

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/events"
)

// maxStream is how much of each stream a transcript keeps, in bytes.
const maxStream = 8 << 20

// A Transcript is what one run of an auditor really wrote. It stands beside the
// record, in a folder of the run's name below <record>.transcript: run.json, the
// report as plain text, the streams compressed.
type Transcript struct {
	// "trial-01", for an earlier run of the same trial "trial-01-try-1"
	Name  string `json:"name"`
	Trial int    `json:"trial"`
	Last  bool   `json:"last"` // of its trial: the one that is scored
	// that the auditor saw: its report may name it
	Dir        string          `json:"dir"`
	Format     string          `json:"format,omitempty"` // of the report, as it was read
	Invalid    string          `json:"invalid,omitempty"`
	EndedEarly string          `json:"ended_early,omitempty"`
	Whole      bool            `json:"whole,omitempty"` // audit.AuditRun.Whole
	Exit       int             `json:"exit"`
	Started    time.Time       `json:"started,omitzero"`
	Seconds    float64         `json:"seconds"`
	Model      string          `json:"model,omitempty"`
	Usage      audit.Usage     `json:"usage"`
	Network    []audit.Traffic `json:"network,omitempty"` // with whom it spoke, or tried to
	// what was written, empty streams left out
	Kept []Stream `json:"kept"`
}

// A Stream is one thing that a run wrote.
type Stream struct {
	Name string `json:"name"` // report, stdout, stderr or events
	File string `json:"file"`
	Size int    `json:"size"`             // bytes that were written
	Cut  int    `json:"cut,omitempty"`    // of them left out, where the text says so
	Hash string `json:"sha256,omitempty"` // of the text as it is kept; older ones have none

	text []byte
}

// NewTranscript gives the transcript of a run of a trial, counted from 0, that saw
// dir. try is the number of an earlier run of the trial, 0 for the last. mask takes
// secrets out of what is kept.
func NewTranscript(trial, try int, dir string, r *audit.AuditRun,
	mask func([]byte) []byte) Transcript {
	t := Transcript{Name: fmt.Sprintf("trial-%02d", trial+1), Trial: trial + 1, Last: try == 0,
		Dir: dir, Format: r.Report.Format, Invalid: string(mask([]byte(r.Invalid))),
		EndedEarly: r.EndedEarly, Whole: r.Whole,
		Exit: r.ExitCode, Started: r.Started, Seconds: r.Duration.Seconds(), Model: r.Model,
		Usage: r.Usage, Network: r.Network}
	ending := "txt"
	if t.Format == "sarif" || t.Format == "json" {
		ending = t.Format
	}
	if try > 0 {
		t.Name += fmt.Sprintf("-try-%d", try)
	}
	for _, s := range []Stream{
		{Name: "report", File: "report." + ending, text: r.Raw},
		{Name: "stdout", File: "stdout.gz", text: r.Stdout},
		{Name: "stderr", File: "stderr.gz", text: r.Stderr},
		{Name: "events", File: "events.jsonl.gz", text: r.Events},
	} {
		if len(s.text) == 0 {
			continue
		}
		s.Size, s.text = len(s.text), mask(s.text)
		if s.Name != "report" { // that is read again, and has its auditor's own limit
			whole := len(s.text)
			if s.text = audit.Clip(s.text, maxStream); len(s.text) < whole {
				s.Cut = whole - len(s.text)
			}
		}
		s.Hash = hashOf(s.text)
		t.Kept = append(t.Kept, s)
	}
	return t
}

func hashOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// TranscriptDir gives the folder of the transcripts of a record, by the name of its
// text or JSON.
func TranscriptDir(name string) string {
	return strings.TrimSuffix(name, filepath.Ext(name)) + ".transcript"
}

// WriteTranscripts writes what the runs of a record wrote beside the record of this name,
// readable by its owner alone. The folder is there whole or not at all.
func WriteTranscripts(name string, ts []Transcript) error {
	if len(ts) == 0 {
		return nil
	}
	dir := TranscriptDir(name)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(filepath.Dir(dir), temporaryName)
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	for i := range ts {
		if err := ts[i].write(filepath.Join(temporary, ts[i].Name)); err != nil {
			return err
		}
	}
	// of a process that was killed, whose record is not there
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(temporary, dir)
}

func (t *Transcript) write(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	facts, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	errs := []error{os.WriteFile(filepath.Join(dir, "run.json"), append(facts, '\n'), 0o600)}
	for _, s := range t.Kept {
		text := s.text
		if filepath.Ext(s.File) == ".gz" {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write(text)
			errs = append(errs, err, z.Close())
			text = b.Bytes()
		}
		errs = append(errs, os.WriteFile(filepath.Join(dir, s.File), text, 0o600))
	}
	return errors.Join(errs...)
}

// ReadTranscripts reads the transcripts of the record of this name, in the order in
// which the runs were made. A record without any is an error that wraps
// fs.ErrNotExist.
func ReadTranscripts(name string) ([]Transcript, error) {
	root, err := os.OpenRoot(TranscriptDir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: nothing that its auditor wrote was kept: %w", name, err)
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := fs.Glob(root.FS(), "*/run.json")
	if err != nil {
		return nil, err
	}
	var ts []Transcript
	for _, file := range files {
		var t Transcript
		b, err := root.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(b, &t)
		}
		for i := range t.Kept {
			if err == nil {
				err = t.Kept[i].read(root, t.Name)
			}
			if s := &t.Kept[i]; err == nil && s.Hash != "" && s.Hash != hashOf(s.text) {
				err = fmt.Errorf("its %s is not what the run wrote", s.Name)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w: expected a transcript as a run writes it",
				filepath.Join(root.Name(), file), err)
		}
		ts = append(ts, t)
	}
	slices.SortStableFunc(ts, func(a, b Transcript) int { return a.Started.Compare(b.Started) })
	return ts, nil
}

func (s *Stream) read(root *os.Root, dir string) error {
	b, err := root.ReadFile(filepath.Join(dir, s.File))
	if err != nil || filepath.Ext(s.File) != ".gz" {
		s.text = b
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	s.text, err = io.ReadAll(io.LimitReader(z, 2*maxStream))
	return err
}

// Uncut gives what the run wrote to the stream of this name, nil where that is
// nothing, or a part of it is left out.
func (t *Transcript) Uncut(name string) []byte {
	if s := t.stream(name); s.Cut == 0 {
		return s.text
	}
	return nil
}

// Text gives what the run wrote to the stream of this name, nil where that is
// nothing.
func (t *Transcript) Text(name string) []byte { return t.stream(name).text }

func (t *Transcript) stream(name string) (none Stream) {
	for _, s := range t.Kept {
		if s.Name == name {
			return s
		}
	}
	return none
}

// Turns gives the turns of the run by its event stream, as [events.Turns] reads it; nil
// where nothing was kept. Stream.Cut tells of a stream that is not whole.
func (t *Transcript) Turns() []events.Turn {
	return events.Turns(t.Text("events"), t.Started,
		t.Started.Add(time.Duration(t.Seconds*float64(time.Second))))
}

// ToolErrors gives the calls of the run's tools that failed, a line each.
func (t *Transcript) ToolErrors() []string {
	var errs []string
	for i, turn := range t.Turns() {
		for _, c := range turn.Calls {
			if c.Failed != "" {
				errs = append(errs, fmt.Sprintf("turn %d: %s %s: %s", i+1, c.Tool,
					audit.OneLine(c.What, 200), audit.OneLine(c.Failed, 200)))
			}
		}
	}
	return errs
}
