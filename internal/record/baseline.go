package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/stat"
)

// BaselinePath returns the file of the baseline of an auditor on a project; dir is
// fixtures/baselines.
func BaselinePath(dir, auditor, project string) string {
	return path.Join(dir, clean(auditor), clean(project)+".json")
}

// Baseline reads the baseline of an auditor on a project; nil if there is none. A file with the
// record of another auditor or project is an error.
func Baseline(fsys fs.FS, dir, auditor, project string) (*Record, error) {
	name := BaselinePath(dir, auditor, project)
	r, err := Read(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case r.Auditor != auditor || r.Project != project:
		return nil, fmt.Errorf(
			"%s:1: the baseline is of %s on %s: expected %s on %s; remove the file, or, where both names give it, rename one of the two", name, r.Auditor, r.Project, auditor, project)
	}
	return r, nil
}

// Comparable returns an error if a run on the project cannot be compared with the baseline r,
// which is below dir: its key or its version of the score differs. It is called before a run
// costs anything.
func (r *Record) Comparable(dir string, p *audit.Project) error {
	name := BaselinePath(dir, r.Auditor, r.Project)
	switch {
	case r.Score != score.Version:
		return fmt.Errorf(
			"%s:1: the baseline was judged by score version %s, and this is %s: score its record again (assay score RECORD), or run again, and make the new record the baseline (assay baseline RECORD)", name, r.Score, score.Version)
	case r.Key != p.KeyHash:
		return fmt.Errorf(
			"%s:1: the baseline was made with the key %.12s, and %s holds %.12s: score its record again (assay score RECORD), or run again, and make the new record the baseline (assay baseline RECORD)", name, r.Key, p.Pos.File, p.KeyHash)
	}
	return nil
}

// maxBaseline is the number of trials that a baseline keeps, the oldest.
const maxBaseline = stat.MaxBaseline

// An Accepted is a run whose trials a baseline holds.
type Accepted struct {
	Run    string    `json:"run,omitempty"`
	Date   time.Time `json:"date"`
	Trials int       `json:"trials"`
}

// An Anchor is what the first baseline was. It stays when a baseline moves to another
// hash, so that small steps down add up where everybody sees them.
type Anchor struct {
	Date   time.Time   `json:"date"`
	Key    string      `json:"key"`
	Score  string      `json:"score"`
	Recall score.Value `json:"recall"` // mean over its trials
}

// ErrOther says that a baseline would move to another auditor under the same name.
var ErrOther = errors.New(
	"the baseline is of another version of this auditor: --accept moves it to this one")

// WriteBaseline adds the valid trials of a record to the baseline of its auditor on its
// project, and returns the baseline. All of them count, of the oldest runs first, up to
// twelve; trials that are there already are not added again. A record of an auditor with
// another prompt or model moves the baseline if accept is set, and is ErrOther otherwise. A
// baseline by another key or judge cannot be compared with any more, and is replaced.
// A trial keeps all that scoring needs, and nothing else of what the auditor wrote.
func WriteBaseline(dir string, r *Record, accept bool) (*Record, error) {
	b := slim(r)
	trials := slices.DeleteFunc(b.Trials, func(t RecordedTrial) bool { return t.Invalid != "" })
	if len(trials) == 0 {
		return nil, fmt.Errorf("%s on %s: no trial counts: expected a record with a valid trial",
			r.Auditor, r.Project)
	}
	old, err := Baseline(audit.PlainFiles(os.DirFS(dir)), ".", r.Auditor, r.Project)
	if err != nil {
		return nil, err
	}
	b.Trials, b.Accepted, b.Baseline = nil, nil, ""
	switch {
	case old == nil || r.Replay || old.Replay || old.Key != r.Key || old.Score != r.Score:
	case same(old, r):
		if b = old; b.Accepted == nil {
			b.Accepted = []Accepted{{b.Run, b.Date, len(b.Trials)}}
		}
		trials = slices.DeleteFunc(trials,
			func(t RecordedTrial) bool { return slices.ContainsFunc(b.Trials, t.equal) })
	case !accept:
		return nil, fmt.Errorf("%s on %s: %w (%s)", r.Auditor, r.Project, ErrOther,
			strings.Join(r.Changed(old), ", "))
	default:
		if b.Anchor = old.Anchor; b.Anchor == nil {
			b.Anchor = &Anchor{old.Date, old.Key, old.Score, old.Figures().Recall}
		}
	}
	trials = trials[:min(len(trials), max(0, maxBaseline-len(b.Trials)))]
	if n := len(trials); n > 0 {
		b.Trials, b.Accepted = append(b.Trials, trials...), append(b.Accepted,
			Accepted{r.Run, r.Date, n})
	}
	return b, writeLines(BaselinePath(dir, b.Auditor, b.Project), b, 5)
}

// same reports whether two records are of one version of an auditor: of equal parts, or
// where a record has none, of one prompt and model, or of one version and command.
func same(a, b *Record) bool {
	if len(a.Parts) > 0 && len(b.Parts) > 0 {
		return maps.Equal(a.Parts, b.Parts)
	}
	if a.Prompt+b.Prompt+a.Model+b.Model == "" {
		return a.Version == b.Version && a.Command == b.Command
	}
	return a.Prompt == b.Prompt && a.Model == b.Model
}

// equal reports whether two trials have the same contents.
func (t RecordedTrial) equal(o RecordedTrial) bool {
	a, _ := json.Marshal(t)
	b, _ := json.Marshal(o)
	return string(a) == string(b)
}

// Drop returns how many percentage points a baseline's recall lies below its anchor's;
// false where it has none, or one of another key or judge.
func (r *Record) Drop() (points float64, ok bool) {
	m := r.Figures()
	if r.Anchor == nil || m == nil || r.Anchor.Key != r.Key || r.Anchor.Score != r.Score ||
		!r.Anchor.Recall.Defined || !m.Recall.Defined {
		return 0, false
	}
	return 100 * (r.Anchor.Recall.V - m.Recall.V), true
}

// slim leaves of each finding what matching reads.
func slim(r *Record) *Record {
	out := *r
	out.Trials, out.Run, out.Whole = nil, "", nil
	for _, t := range r.Trials {
		if t.Result != nil {
			res := *t.Result
			res.Findings = nil
			for _, f := range t.Result.Findings {
				f.Finding.Title, f.Finding.Description, f.Finding.Trace, f.Finding.Others = "", "",
					nil, nil
				res.Findings = append(res.Findings, f)
			}
			t.Result = &res
		}
		out.Trials = append(out.Trials, t)
	}
	return &out
}

// Since names the baseline that the record is compared with, and notes which parts of the
// auditor changed since: that is what the comparison measures.
func (r *Record) Since(baseline *Record) {
	r.Baseline = baseline.Date.Format(time.DateOnly)
	r.Was = r.Goals.Asserted(ScoreTrials(baseline.Trials))
	since := "changed since the baseline"
	if r.Beside == baseline {
		since = "different beside it"
		r.Notes = append(r.Notes,
			fmt.Sprintf("%s ran beside it, trial by trial, and is what it is compared with: %s",
				baseline.Auditor, baseline.consumed()))
	}
	if changed := r.Changed(baseline); len(changed) > 0 {
		r.Notes = append(r.Notes, since+": "+strings.Join(changed, ", "))
	}
	if points, ok := baseline.Drop(); ok && points >= 1 {
		r.Notes = append(r.Notes,
			fmt.Sprintf("the baseline itself lies %.1f points of recall below the first one, of %s",
				points, baseline.Anchor.Date.Format(time.DateOnly)))
	}
}

// Changed returns the names of the parts of the auditor that differ from another record:
// files, model, command and so on. Of records without parts it compares what they have.
func (r *Record) Changed(other *Record) (names []string) {
	was, is := other.Parts, r.Parts
	if len(was) == 0 || len(is) == 0 {
		was, is = other.coarse(), r.coarse()
		if len(other.Parts) == 0 && len(r.Parts) > 0 {
			names = append(names, "its files may have changed (the baseline has no hashes of them)")
		}
	}
	for name, value := range is {
		if was[name] != value {
			names = append(names, name)
		}
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			names = append(names, name+" (removed)")
		}
	}
	slices.Sort(names)
	return names
}

// coarse returns the parts that every record has.
func (r *Record) coarse() map[string]string {
	return map[string]string{"prompt": r.Prompt, "model": r.Model, "command": r.Command,
		"version": r.Version}
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

// lines returns v as JSON with everything below depth on one line, so that a diff of a baseline
// shows one finding, or one answer, a line.
func lines(v any, depth int) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, err
	}
	next := regexp.MustCompile(fmt.Sprintf(`,\n {%d,}`, depth+1))
	ends := regexp.MustCompile(fmt.Sprintf(`([\[{])\n {%d,}|\n {%d,}([\]}])`, depth+1, depth))
	return append(ends.ReplaceAll(next.ReplaceAll(text, []byte(", ")), []byte("$1$2")), '\n'), nil
}
