package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"assay/audit"
)

// baselinePath is where the baseline of an auditor on a project stands, below
// fixtures/baselines.
func baselinePath(dir, auditor, project string) string {
	return path.Join(dir, clean(auditor), clean(project)+".json")
}

// Baseline reads the baseline of an auditor on a project; nil where there is
// none.
func Baseline(fsys fs.FS, dir, auditor, project string) (*Record, error) {
	r, err := Read(fsys, baselinePath(dir, auditor, project))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return r, err
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
	name := filepath.FromSlash(baselinePath(dir, r.Auditor, r.Project))
	old, err := Baseline(os.DirFS(dir), ".", r.Auditor, r.Project)
	if err != nil {
		return err
	}
	if old != nil && meanRecall(r) < meanRecall(old)-1e-9 {
		if reason == "" {
			return fmt.Errorf("%s on %s: %w: %.1f %% after %.1f %%", r.Auditor, r.Project, ErrLower, 100*meanRecall(r), 100*meanRecall(old))
		}
		r.Notes = append(r.Notes, "baseline lowered: "+reason)
	}
	b, err := json.MarshalIndent(slim(r), "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, append(b, '\n'), 0o644)
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

// meanRecall gives the mean recall of the trials that count; 0 without any.
func meanRecall(r *Record) float64 {
	sum, n := 0.0, 0
	for _, t := range r.Trials {
		if t.Result != nil && t.Result.Metrics.Recall.Defined {
			sum += t.Result.Metrics.Recall.V
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// Since names the baseline that the record is compared with, and notes what of
// the auditor changed since: that is what the comparison measures.
func (r *Record) Since(baseline *Record) {
	r.Baseline = baseline.Date.Format(time.DateOnly)
	for _, part := range []struct{ name, is, was string }{
		{"prompt", r.Prompt, baseline.Prompt},
		{"model", r.Model, baseline.Model},
		{"command", r.Command, baseline.Command},
		{"version", r.Version, baseline.Version},
	} {
		if part.is != part.was {
			r.Notes = append(r.Notes, fmt.Sprintf("the auditor's %s changed since the baseline: %s, and was %s", part.name, orNone(brief(part.is)), orNone(brief(part.was))))
		}
	}
}

// brief shortens a hash.
func brief(s string) string {
	if len(s) == 64 && !strings.ContainsAny(s, " /") {
		return s[:12]
	}
	return s
}
