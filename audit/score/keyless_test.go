package score_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/seal"
)

// The reports below are made without a key, from what every auditor sees: the tree,
// its paths and its manifests. Each is scored on every project of this repository.

// windows gives a finding a window of so many lines in every file, for each list of
// CWEs.
func windows(p *audit.Project, lines int, cwes ...[]audit.CWE) []audit.Finding {
	var fs []audit.Finding
	for _, file := range paths(p) {
		for at := 1; at <= p.Tree[file].Lines; at += lines {
			for _, cs := range cwes {
				fs = append(fs, finding("W", file, at, min(at+lines-1, p.Tree[file].Lines), cs...))
			}
		}
	}
	return fs
}

func eachAlone(cwes []audit.CWE) (out [][]audit.CWE) {
	for _, c := range cwes {
		out = append(out, []audit.CWE{c})
	}
	return out
}

// isManifest names what lists the components of a project.
func isManifest(file string) bool {
	base := path.Base(file)
	return strings.Contains(
		"go.mod go.sum package.json pom.xml composer.json composer.lock Pipfile", base) ||
		strings.HasPrefix(base, "requirements") || strings.HasPrefix(base, "Dockerfile") ||
		strings.Contains(base, "compose")
}

// guessedByPath is what words in a path make one think of.
var guessedByPath = []struct {
	word string
	cwe  audit.CWE
}{
	{"sql", 89}, {"dao", 89}, {"repository", 89}, {"mapper", 89}, {"xss", 79}, {".jsp", 79},
	{".html", 79}, {"template", 79}, {"view", 79},
	{"exec", 78}, {"cmd", 78}, {"command", 78}, {"ping", 78}, {"upload", 434}, {"file", 22},
	{"path", 22}, {"traversal", 22},
	{"redirect", 601}, {"ssrf", 918}, {"url", 918}, {"xxe", 611}, {"xml", 611}, {"deserial", 502},
	{"pickle", 502}, {"session", 384},
	{"cookie", 614}, {"jwt", 347}, {"token", 347}, {"login", 307}, {"auth", 287}, {"password", 640},
	{"reset", 640}, {"register", 521},
	{"user", 639}, {"order", 639}, {"admin", 862}, {"controller", 862}, {"service", 862},
	{"csrf", 352}, {"form", 352}, {"crypt", 327},
	{"hash", 328}, {"config", 798}, {"settings", 798}, {"properties", 798}, {".yml", 798},
	{".env", 798}, {"docker", 250}, {"log", 532},
	{"error", 209}, {"exception", 209}, {"package.json", 1395}, {"pom.xml", 1395}, {"go.mod", 1395},
	{"requirements", 1395},
}

// exported gives a path as the sealed export names it.
func exported(p *audit.Project, file string) string {
	return strings.ToLower(seal.Names(p.Renames).Hide(file))
}

func guesses(p *audit.Project, place func(file string) audit.Range, all bool) []audit.Finding {
	var fs []audit.Finding
	for _, file := range paths(p) {
		shown := exported(p, file)
		for _, g := range guessedByPath {
			if strings.Contains(shown, g.word) {
				at := place(file)
				fs = append(fs, finding("G", file, at.Start, at.End, g.cwe))
				if !all {
					break
				}
			}
		}
	}
	return fs
}

// keyless are the attacks. Recall and high are the most that each reaches over all
// projects, rounded up to a point: figures of today, to be lowered and not raised by
// a change of the score.
var keyless = []struct {
	name         string
	recall, high float64
	make         func(p *audit.Project) []audit.Finding
}{
	{"25 CWEs on every file in windows of 50 lines", 0.74, 0.03,
		func(p *audit.Project) []audit.Finding {
			return windows(p, 50, eachAlone(commonCWEs)...)
		}},
	{"three broad CWEs on every file in windows of 50 lines", 0.34, 0.26,
		func(p *audit.Project) []audit.Finding {
			return windows(p, 50, []audit.CWE{74, 284, 668})
		}},
	{"three categories on every file in windows of 50 lines", 0.36, 0.25,
		func(p *audit.Project) []audit.Finding {
			return windows(p, 50, []audit.CWE{16, 255, 1355})
		}},
	{"three wide categories on every file in windows of 50 lines", 0, 0,
		func(p *audit.Project) []audit.Finding {
			return windows(p, 50, []audit.CWE{264, 1347, 1345})
		}},
	{"CWE-1395 on every line of every manifest", 0.21, 0.15,
		func(p *audit.Project) []audit.Finding {
			var fs []audit.Finding
			for _, file := range paths(p) {
				for at := 1; isManifest(file) && at <= p.Tree[file].Lines; at++ {
					fs = append(fs, finding("M", file, at, at, 1395))
				}
			}
			return fs
		}},
	{"a CWE guessed from each path", 0.14, 0.22, func(p *audit.Project) []audit.Finding {
		return guesses(p, func(string) audit.Range { return audit.Range{} }, false)
	}},
	{"all CWEs guessed from each path, at the top", 0.26, 0.33,
		func(p *audit.Project) []audit.Finding {
			return guesses(p,
				func(file string) audit.Range {
					return audit.Range{Start: 1,
						End: min(50, max(1, p.Tree[file].Lines))}
				}, true)
		}},
	{"80 random findings", 0.02, 0.06,
		func(p *audit.Project) []audit.Finding { return randomFindings(filled(p), 80, 7) }},
	{"1,000 random findings", 0.17, 0.06,
		func(p *audit.Project) []audit.Finding { return randomFindings(filled(p), 1000, 7) }},
	{"20,000 random findings", 0.53, 0.01,
		func(p *audit.Project) []audit.Finding { return randomFindings(filled(p), 20000, 7) }},
	{"one finding over a whole file", 0.02, 0.51, func(p *audit.Project) []audit.Finding {
		longest := ""
		for _, file := range paths(p) {
			if longest == "" || p.Tree[file].Lines > p.Tree[longest].Lines {
				longest = file
			}
		}
		return []audit.Finding{finding("F", longest, 1, p.Tree[longest].Lines, 89, 79, 798)}
	}},
	{"one finding over each whole file", 0.22, 0.38, func(p *audit.Project) []audit.Finding {
		var fs []audit.Finding
		for _, file := range paths(p) {
			fs = append(fs, finding("F", file, 1, p.Tree[file].Lines, 89, 79, 798))
		}
		return fs
	}},
	{"three CWEs in windows of 50 lines on files that serve requests, by their names", 0.40, 0.69,
		func(p *audit.Project) []audit.Finding {
			return windows(named(p, "server", "service", "manage", "controller", "route", "action",
				"view", "handler"), 50, []audit.CWE{79, 89, 862})
		}},
	{"the same on the files where it pays most", 0.41, 0.76,
		func(p *audit.Project) []audit.Finding {
			return windows(named(p, "server", "manage", "trans"), 50, []audit.CWE{79, 89, 862})
		}},
	{"1,000 variations of one finding", 0.05, 0.01, func(p *audit.Project) []audit.Finding {
		rng := rand.New(rand.NewPCG(8, 9))
		one := score.AsFindings(p)[0] // the one thing that it knows
		var fs []audit.Finding
		for i := range 1000 {
			f := one
			at := 1 + rng.IntN(max(1, p.Tree[one.File].Lines))
			f.ID, f.Lines, f.Function = fmt.Sprint("V", i), audit.Range{Start: at,
				End: at + rng.IntN(3)}, ""
			f.Severity = audit.Severity(rng.IntN(5))
			fs = append(fs, f)
		}
		return fs
	}},
}

// named leaves only code of servers whose path, as the export has it, holds one of
// the words.
func named(p *audit.Project, words ...string) *audit.Project {
	q := *p
	q.Tree = audit.Tree{}
	for name, f := range p.Tree {
		code, shown := slices.Contains([]string{".java", ".py", ".ts", ".php", ".go"},
			path.Ext(name)), exported(p, name)
		if code && slices.ContainsFunc(words,
			func(w string) bool { return strings.Contains(shown, w) }) {
			q.Tree[name] = f
		}
	}
	return &q
}

// filled leaves out empty files: nobody points at a line of one.
func filled(p *audit.Project) *audit.Project {
	q := *p
	q.Tree = audit.Tree{}
	for name, f := range p.Tree {
		if f.Lines > 0 {
			q.Tree[name] = f
		}
	}
	return &q
}

// No report made without the key comes near: with a baseline of its own and without
// one it fails. Its recall, or the high end of its precision, stays below half of the
// goal, or what it finds is found at drawn places too.
func TestNoReportWithoutTheKeyComesNear(t *testing.T) {
	fsys := os.DirFS("../..")
	names, err := fixture.Projects(fsys, "fixtures/projects")
	require.NoError(t, err)
	g, err := fixture.ReadGoals(fsys, "fixtures/goals.md")
	require.NoError(t, err)
	dims := realDimensions(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := fixture.ReadProject(fsys, "fixtures/projects/"+name+".md")
			require.NoError(t, err)
			goals, err := score.GoalsFor(p, g)
			require.NoError(t, err)
			for _, a := range keyless {
				fs := a.make(p)
				r, err := score.Score(score.Input{Project: p, Findings: fs,
					Dimensions: dims, Rounds: -1})
				require.NoError(t, err)
				m := r.Metrics
				t.Logf("%6d findings: recall %5.1f %%, precision at most %5.1f %%: %s", len(fs),
					100*m.Recall.V, 100*m.Precision.High.V, a.name)
				// then its chance level decides
				if m.Recall.V >= goals.Recall/2 && m.Precision.High.V >= goals.Precision/2 {
					r, err = score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims})
					require.NoError(t, err)
				}
				now := []score.AuditTrial{{Result: r}, {Result: r}, {Result: r}}
				for _, baseline := range [][]score.AuditTrial{nil, now} {
					for _, rules := range []score.Rules{{}, {Deterministic: true}} {
						j, err := score.Judge(score.Subject{Goals: goals, Now: now,
							Baseline: baseline}, rules)
						require.NoError(t, err)
						want := []audit.Verdict{audit.Fail}
						if baseline != nil { // as poor as it was
							want = append(want, audit.Warn)
						}
						require.Contains(t, want, j.Verdict,
							"%s, %d trials of a baseline: recall %v, precision %v", a.name,
							len(baseline), m.Recall, m.Precision)
					}
				}
				if len(p.Vulnerabilities) >= 100 { // on a small key luck weighs more: the verdict alone holds
					require.LessOrEqual(t, m.Recall.V, a.recall, a.name)
					require.LessOrEqual(t, m.Precision.High.V, a.high, a.name)
				}
			}
		})
	}
}
