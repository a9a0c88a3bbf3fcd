package auditor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/findings"
)

// A Recording is the origin of a recorded report. Its file is <project>.provenance.json next to
// the report.
type Recording struct {
	Auditor string `json:"auditor"`
	Project string `json:"project"`
	Commit  string `json:"commit"` // the pin of the project
	Export  string `json:"export"` // hash of what the sealed export blanks and renames
	// hash of the answer key as it stood when the tool ran
	Key     string `json:"key"`
	Version string `json:"version"`           // as the tool says
	Command string `json:"command"`           // as in auditors.md
	Model   string `json:"model,omitempty"`   // as served, for an agent
	Prompt  string `json:"prompt,omitempty"`  // PromptHash of what it was told
	Exposed string `json:"exposed,omitempty"` // what it was not kept from while it ran
	// static: hash of its rules; a stale recording fails
	Rules    string  `json:"rules,omitempty"`
	Date     string  `json:"date"`              // YYYY-MM-DD
	Format   string  `json:"format"`            // sarif, json or text
	File     string  `json:"file"`              // the report's name, beside this one
	Report   string  `json:"report,omitempty"`  // SHA-256 of the report; older ones have none
	Exit     int     `json:"exit"`              // exit status
	Seconds  float64 `json:"seconds"`           // wall time
	Trial    int     `json:"trial,omitempty"`   // from 1, for auditors that were run several times
	Findings int     `json:"findings"`          // as read when it was recorded
	Control  string  `json:"control,omitempty"` // for a control: what it is
	Sealed   bool    `json:"sealed"`            // whether the tool saw the sealed export
	Notes    string  `json:"notes,omitempty"`   // what a reader must know
	// where others have published it; empty for what was recorded here
	Source  string `json:"source,omitempty"`
	Licence string `json:"licence,omitempty"` // of what was published
	dir     string // folder within the file system that it was read from

	published *published // nil for what was recorded here
}

// provenance is the ending of the files that describe recordings.
const provenance = ".provenance.json"

// Recordings lists every recording below dir (<auditor>/<project>.*), and every trial of
// published/<auditor>.tsv, by project and auditor. A report without its provenance is an
// error.
func Recordings(fsys fs.FS, dir string) ([]*Recording, error) {
	files, err := fs.Glob(fsys, path.Join(dir, "*", "*"))
	if err != nil {
		return nil, err
	}
	// [RecordedReviewers]
	files = slices.DeleteFunc(files,
		func(f string) bool { return path.Base(path.Dir(f)) == readingsDir })
	var recs []*Recording
	var errs []error
	described := map[string]bool{}
	for _, f := range files {
		if path.Base(path.Dir(f)) == publishedDir {
			trials, err := readPublished(fsys, f)
			recs, errs = append(recs, trials...), append(errs, err)
			described[f] = true
			continue
		}
		if !strings.HasSuffix(f, provenance) {
			continue
		}
		r, err := readProvenance(fsys, f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		described[path.Join(r.dir, r.File)] = true
		recs = append(recs, r)
	}
	for _, f := range files {
		if !strings.HasSuffix(f, provenance) && !described[f] {
			errs = append(errs,
				fmt.Errorf("%s: no %s file names this report: expected one beside it, as assay capture writes it", f, provenance))
		}
	}
	slices.SortFunc(recs, func(a, b *Recording) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Auditor, b.Auditor),
			cmp.Compare(a.Trial, b.Trial))
	})
	return recs, errors.Join(errs...)
}

// readProvenance reads the description of a recording.
func readProvenance(fsys fs.FS, file string) (*Recording, error) {
	b, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	r := &Recording{dir: path.Dir(file)}
	if err := decodeWhole(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w: expected what assay capture writes", file, err)
	}
	switch {
	case r.Auditor != path.Base(r.dir):
		return nil, fmt.Errorf("%s: the auditor is %q: expected the folder's name", file, r.Auditor)
	case r.Project == "" || r.Commit == "" || r.Version == "" || r.Date == "":
		return nil, fmt.Errorf(
			"%s: project, commit, version or date is missing: a recording says where it comes from",
			file)
	case !fs.ValidPath(r.File) || strings.Contains(r.File, "/"):
		return nil, fmt.Errorf("%s: the report is %q: expected a file beside it", file, r.File)
	}
	return r, nil
}

// Path is the report's path within the file system it was read from.
func (r *Recording) Path() string { return path.Join(r.dir, r.File) }

// Write stores the recording and its report below dir on disk.
func (r *Recording) Write(dir string, report []byte) error {
	stem := r.Project
	if r.Trial > 0 {
		stem = fmt.Sprintf("%s.%02d", r.Project, r.Trial)
	}
	r.File = stem + map[string]string{findings.SARIF: ".sarif", findings.JSON: ".json",
		findings.Text: ".txt"}[r.Format]
	if r.File == stem {
		return fmt.Errorf("the format is %q: expected sarif, json or text", r.Format)
	}
	r.Report = sha256Of(report)
	return store(filepath.Join(dir, r.Auditor), r.File, stem+provenance, report, r)
}

// store writes a recording and its description.
func store(folder, name, aboutName string, recorded []byte, about any) error {
	said, err := json.MarshalIndent(about, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, name), recorded, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, aboutName), append(said, '\n'), 0o644)
}

// sha256Of returns the SHA-256 hash in hex.
func sha256Of(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// A replay is an auditor that returns what was recorded. It tests keys and scorer; live runs
// test auditors.
type replay struct {
	rec   *Recording
	fsys  fs.FS
	rules map[string][]audit.CWE
}

// Replay returns the auditor that replays a recording; rules is the rule map of
// its section in auditors.md, for tools that report no CWEs.
func Replay(rec *Recording, fsys fs.FS, rules map[string][]audit.CWE) audit.Auditor {
	return &replay{rec, fsys, rules}
}

// Name is the recorded auditor's.
func (r *replay) Name() string { return r.rec.Auditor }

// Audit reads the recording. A report that cannot be read, or breaks off, makes
// the run INVALID.
func (r *replay) Audit(_ context.Context, _ audit.AuditTask) (audit.AuditRun, error) {
	run, err := r.rec.run()
	if err != nil || r.rec.published != nil {
		return run, err
	}
	b, err := fs.ReadFile(r.fsys, r.rec.Path())
	if err != nil {
		return audit.AuditRun{}, err
	}
	if sum := sha256Of(b); r.rec.Report != "" && r.rec.Report != sum {
		return audit.AuditRun{},
			fmt.Errorf("%s: its SHA-256 is %.12s, and was %.12s when it was recorded: a recording is never edited, make it again with assay capture", r.rec.Path(), sum, r.rec.Report)
	}
	run.Raw = b
	run.Report, run.Invalid = ReadReport(r.rec.Path(), b, r.rec.Format, r.rules)
	return run, nil
}

// ReadReport reads an auditor's report and says, where it proves nothing, why:
// it is empty, breaks off, or is of no known format. A whole report without
// findings proves something.
func ReadReport(name string, report []byte, format string,
	rules map[string][]audit.CWE) (rep audit.Report, invalid string) {
	return readReport(name, report, format, rules, 0)
}

// readReport reads at most so many findings; 0 means the usual limit.
func readReport(name string, report []byte, format string,
	rules map[string][]audit.CWE, most int) (rep audit.Report, invalid string) {
	if len(bytes.TrimSpace(report)) == 0 {
		return rep, name +
			":1: the report is empty: expected an audit report, which says so where it has no findings"
	}
	rep, err := findings.Read(name, bytes.NewReader(report), findings.ReadOptions{Format: format,
		RuleMap: rules, MaxFindings: most})
	switch {
	case err != nil && refuses(string(report[:min(len(report), 400)])):
		return rep, fmt.Sprintf("%s: it declines: %s: expected an audit report", name,
			firstLine(string(report)))
	case err != nil:
		return rep, err.Error()
	case rep.Failed != "":
		return rep, name + ":1: the tool says that its own run failed: " + rep.Failed
	}
	return rep, ""
}
