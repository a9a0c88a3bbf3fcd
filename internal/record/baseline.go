package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// BaselinePath is where the baseline of an auditor on a project stands, below
// fixtures/baselines.
func BaselinePath(dir, auditor, project string) string {
	return path.Join(dir, clean(auditor), clean(project)+".json")
}

// Baseline reads the baseline of an auditor on a project; nil where there is
// none. A file that holds the record of another auditor or project is an error.
func Baseline(fsys fs.FS, dir, auditor, project string) (*Record, error) {
	name := BaselinePath(dir, auditor, project)
	r, err := Read(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case r.Auditor != auditor || r.Project != project:
		return nil, fmt.Errorf("%s:1: the baseline is of %s on %s: expected %s on %s; remove the file, or, where both names give it, rename one of the two", name, r.Auditor, r.Project, auditor, project)
	}
	return r, nil
}

// Comparable says why a run on the project as it is now could not be compared with
// the baseline r, which stands below dir: another key, or another judge. It costs
// nothing to know that before anything is asked.
func (r *Record) Comparable(dir string, p *audit.Project) error {
	name := BaselinePath(dir, r.Auditor, r.Project)
	switch {
	case r.Score != score.Version:
		return fmt.Errorf("%s:1: the baseline was judged by score version %s, and this is %s: score it again (assay compare --rescore), or write it anew with assay baseline", name, r.Score, score.Version)
	case r.Key != p.KeyHash:
		return fmt.Errorf("%s:1: the baseline was made with the key %.12s, and %s holds %.12s: score it again (assay compare --rescore), or write it anew with assay baseline", name, r.Key, p.Pos.File, p.KeyHash)
	}
	return nil
}

// ErrLower says that a baseline would move down.
var ErrLower = errors.New("the new baseline would be lower than the old one (give the reason with --lower)")

// WriteBaseline makes the record the baseline of its auditor on its project. It
// keeps every trial with all that scoring needs, and nothing else of what the
// auditor wrote. A baseline that would move down is refused with ErrLower unless
// reason says why; the reason is kept.
func WriteBaseline(dir string, r *Record, reason string) error {
	if r.Judgement.Verdict == audit.Invalid || len(r.Trials) == 0 {
		return fmt.Errorf("%s on %s: a run that proves nothing is no baseline", r.Auditor, r.Project)
	}
	old, err := Baseline(audit.PlainFiles(os.DirFS(dir)), ".", r.Auditor, r.Project)
	if err != nil {
		return err
	}
	if lower := lowered(r, old); lower != "" {
		if reason == "" {
			return fmt.Errorf("%s on %s: %w: %s", r.Auditor, r.Project, ErrLower, lower)
		}
		r.Notes = append(r.Notes, "baseline lowered: "+lower+": "+reason)
	}
	return writeLines(BaselinePath(dir, r.Auditor, r.Project), slim(r), 5)
}

// slim leaves of each finding what matching reads.
func slim(r *Record) *Record {
	out := *r
	out.Trials = nil
	for _, t := range r.Trials {
		if t.Result != nil {
			res := *t.Result
			res.Findings = nil
			for _, f := range t.Result.Findings {
				f.Finding.Title, f.Finding.Description, f.Finding.Trace, f.Finding.Others = "", "", nil, nil
				res.Findings = append(res.Findings, f)
			}
			t.Result = &res
		}
		out.Trials = append(out.Trials, t)
	}
	return &out
}

// lowered names each figure of the gate (the lower bound of a span) whose mean
// over the trials would move down; none without an old baseline.
func lowered(r, old *Record) string {
	if old == nil {
		return ""
	}
	var down []string
	is, was := means(r), means(old)
	for _, figure := range []struct {
		name    string
		is, was score.Value
	}{
		{"recall", is.Recall, was.Recall}, {"precision", is.Precision.Low, was.Precision.Low}, {"F1", is.F1.Low, was.F1.Low},
	} {
		if figure.is.V < figure.was.V-1e-9 {
			down = append(down, fmt.Sprintf("%s %.1f %% after %.1f %%", figure.name, 100*figure.is.V, 100*figure.was.V))
		}
	}
	return strings.Join(down, ", ")
}

// means gives the figures of a record as the means over its trials; none is defined of
// one whose trials all prove nothing.
func means(r *Record) *score.Metrics {
	return cmp.Or(score.Means(r.Counting()), &score.Metrics{})
}

// Since names the baseline that the record is compared with, and notes what of
// the auditor changed since: that is what the comparison measures.
func (r *Record) Since(baseline *Record) {
	r.Baseline = baseline.Date.Format(time.DateOnly)
	since := "changed since the baseline"
	if r.Beside == baseline {
		since = "is another than beside it"
		r.Notes = append(r.Notes, fmt.Sprintf("beside it ran %s, trial by trial, and is what it is held against: %s", baseline.Auditor, baseline.consumed()))
	}
	for _, part := range []struct{ name, is, was string }{
		{"prompt", r.Prompt, baseline.Prompt},
		{"model", r.Model, baseline.Model},
		{"command", r.Command, baseline.Command},
		{"version", r.Version, baseline.Version},
	} {
		if part.is != part.was {
			r.Notes = append(r.Notes, fmt.Sprintf("the auditor's %s %s: %s, and was %s", part.name, since, shown(part.is), shown(part.was)))
		}
	}
}

// shown shortens a hash, and nothing else.
func shown(s string) string {
	if len(s) == 64 && !strings.ContainsAny(s, " /") {
		return s[:12]
	}
	return cmp.Or(s, notStated)
}

// writeLines stores a baseline under a name with slashes.
func writeLines(name string, v any, depth int) error {
	text, err := lines(v, depth)
	if err != nil {
		return err
	}
	name = filepath.FromSlash(name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return replace(name, text)
}

// lines gives v as JSON in which what is nested deeper than depth stands on
// one line. A baseline is read as a diff: one finding, or one answer, is one line
// of it.
func lines(v any, depth int) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, err
	}
	next := regexp.MustCompile(fmt.Sprintf(`,\n {%d,}`, depth+1))
	ends := regexp.MustCompile(fmt.Sprintf(`([\[{])\n {%d,}|\n {%d,}([\]}])`, depth+1, depth))
	return append(ends.ReplaceAll(next.ReplaceAll(text, []byte(", ")), []byte("$1$2")), '\n'), nil
}
