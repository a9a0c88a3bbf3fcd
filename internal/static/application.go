package static

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"assay/audit"
	"assay/internal/static/flow"
	"assay/internal/static/rules"
)

type application struct {
	set      *rules.Set
	project  *flow.Project
	sources  []*source
	findings []audit.Finding
	workers  int
}

func (a *application) add(f audit.Finding) { a.findings = append(a.findings, f) }

func (a *application) checks() error {
	a.checkThrottle()
	a.checkEntities()
	a.checkSecrets()
	a.checkTexts()
	return a.checkComponents()
}

// each runs a check of single files over all of them, several at once; findings stay
// in the order of files.
func (a *application) each(check func(*application, *source)) {
	found := make([][]audit.Finding, len(a.sources))
	inParallel(context.Background(), a.workers, len(a.sources), func(i int) {
		one := *a
		one.findings = nil
		check(&one, a.sources[i])
		found[i] = one.findings
	})
	a.findings = append(a.findings, slices.Concat(found...)...)
}

// inParallel calls do for each number below n, some at once, until ctx ends.
func inParallel(ctx context.Context, workers, n int, do func(i int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range max(1, workers) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// finish orders, removes what two rules say of the same place, and numbers.
func (a *application) finish() []audit.Finding {
	fs := a.findings
	slices.SortStableFunc(fs, func(x, y audit.Finding) int {
		return cmp.Or(strings.Compare(x.File, y.File), x.Lines.Start-y.Lines.Start, cmp.Compare(y.Confidence, x.Confidence), strings.Compare(x.RuleID, y.RuleID))
	})
	type place struct {
		file string
		line int
		cwe  audit.CWE
	}
	seen, once := map[place]bool{}, map[string]bool{}
	out := fs[:0:0]
	for _, f := range fs {
		p := place{f.File, f.Lines.Start, f.CWEs[0]}
		if seen[p] {
			continue
		}
		seen[p] = true
		if k := a.once(&f); k != "" {
			if once[k] {
				continue
			}
			once[k] = true
		}
		f.ID = fmt.Sprintf("S-%03d", len(out)+1)
		out = append(out, f)
	}
	return out
}

// once is the key under which a finding is told once, "" for each place.
func (a *application) once(f *audit.Finding) string {
	switch a.set.ByID[f.RuleID].Per {
	case "file":
		return f.RuleID + "\x00" + f.File
	case "function":
		return f.RuleID + "\x00" + f.File + "\x00" + f.Function
	}
	return ""
}

func fromHit(h *flow.Hit) audit.Finding {
	lines := audit.Range{Start: int(h.Node.Start), End: int(h.Node.End)}
	if lines.End-lines.Start >= maxSpan {
		lines.End = lines.Start
	}
	f := finding(h.Rule, h.Unit.File.Path, lines)
	if h.Func != nil {
		f.Function = h.Func.Name
	}
	f.Confidence = h.Confidence
	if h.Weak && f.Severity > audit.Low {
		f.Severity-- // a parameter that nobody in the project was seen to fill
	}
	f.Trace = h.Trace
	if len(f.Trace) > 1 {
		first := f.Trace[0]
		f.Description = fmt.Sprintf("%s %s From %s:%s (%s).", f.Title+".", h.Rule.Why, first.File, first.Lines, first.Note)
	}
	return f
}

// noted is why a note is no finding: it is told, and counts for nothing.
const noted = "note: seldom right on ordinary code, told for those who look for it"

// maxSpan bounds the lines that a finding names: the first of a longer statement.
const maxSpan = 12

func finding(r *rules.Rule, file string, lines audit.Range) audit.Finding {
	f := audit.Finding{RuleID: r.ID, CWEs: r.CWEs, Severity: r.Sev, Dimension: r.Dim, File: file, Lines: lines, Title: r.Title,
		Description: r.Title + ". " + strings.TrimSpace(r.Why), Confidence: r.Confidence}
	if r.Note {
		f.Suppressed = noted
	}
	return f
}

func line(n int) audit.Range { return audit.Range{Start: n, End: n} }
