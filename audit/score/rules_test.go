package score_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

func decoy(id, file string, start, end int, cwes ...audit.CWE) audit.Decoy {
	return audit.Decoy{ID: id, Dimension: dims[cwes[0]], CWEs: cwes, File: file,
		Lines: audit.Range{Start: start, End: end}}
}

// In a manifest the line above is another component.
func TestManifestsMatchByLineOrName(t *testing.T) {
	files := []string{"go.mod", "web/package.json", "yarn.lock", "core/pom.xml",
		"requirements-dev.txt", "Dockerfile.agent", "conf/app.yml", "a.properties", "x.ini",
		"y.toml", ".env", "z.env"}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			p := project(known("K", file, 19, 19, 1395))
			p.Vulnerabilities[0].Title = "go-sqlite3 2.0.3, a retracted number"
			p.Tree[file] = audit.TreeFile{Path: file, Lines: 300}
			near := finding("F", file, 20, 20, 1395)
			require.Equal(t, score.Partial, mustScore(t, p, near).Findings[0].Disposition,
				"one line off says nothing")
			on := finding("F", file, 17, 19, 1395)
			require.Equal(t, "K; CWE-1395; by lines, lines overlap",
				mustScore(t, p, on).Findings[0].Match.String())
			named := finding("F", file, 240, 240, 1395)
			named.Description = "mattn/Go-SQLite3: old"
			r := mustScore(t, p, named)
			require.Equal(t, score.Matched, r.Findings[0].Disposition)
			require.Equal(t, "K; CWE-1395; by name, 221 lines off", r.Findings[0].Match.String())
			named.Description = "go-sqlite34"
			require.Equal(t, score.Partial, mustScore(t, p, named).Findings[0].Disposition,
				"whole words")
		})
	}
	p := project(known("K", "a.java", 19, 19, 89))
	require.Equal(t, score.Matched,
		mustScore(t, p, finding("F", "a.java", 20, 20, 89)).Findings[0].Disposition,
		"code keeps its 10 lines")
}

// Which of two findings takes an entry of a manifest does not hang on which of them
// names its components first.
func TestComponentsHaveNoOrder(t *testing.T) {
	p := project(known("K", "go.mod", 19, 19, 1395), known("L", "go.mod", 90, 90, 79))
	p.Vulnerabilities[0].Title, p.Vulnerabilities[1].Title = "Lib 1.0", "other 2.3"
	p.Vulnerabilities[0].Severity = audit.High
	p.Tree["go.mod"] = audit.TreeFile{Path: "go.mod", Lines: 300}
	one, both := finding("F", "go.mod", 40, 40, 1395), finding("G", "go.mod", 40, 40, 1395)
	one.Title, one.Severity = "lib is old", audit.Low
	both.Title, both.Severity = "lib is old, and other is", audit.High
	there, back := mustScore(t, p, one, both), mustScore(t, p, both, one)
	require.Equal(t, there.Findings[0].Disposition, back.Findings[1].Disposition)
	require.Equal(t, there.Metrics.SeverityAccuracy, back.Metrics.SeverityAccuracy)
}

func TestANearerDecoyTakesTheFinding(t *testing.T) {
	p := project(known("K", "a.java", 100, 102, 89))
	p.Decoys = []audit.Decoy{decoy("D", "a.java", 108, 110, 89)}
	for at, want := range map[int]score.Disposition{
		102: score.Matched, 104: score.Matched, // 2 lines off, and 4 from the decoy
		105: score.Matched,  // as near to both
		106: score.DecoyHit, // 4 and 2
		109: score.DecoyHit,
	} {
		require.Equal(t, want,
			mustScore(t, p, finding("F", "a.java", at, at, 89)).Findings[0].Disposition,
			"line %d", at)
	}
	// Two findings, the entry's and the decoy's: neither is a duplicate.
	r := mustScore(t, p, finding("F", "a.java", 101, 101, 89), finding("G", "a.java", 109, 109, 89))
	require.Equal(t, []score.Disposition{score.Matched, score.DecoyHit}, dispositions(r))
	require.Equal(t, score.Span{Low: score.Of(0.5), High: score.Of(0.5)}, r.Metrics.Precision)
	require.Equal(t, []score.Rate{{CWE: 89, TP: 1, FP: 1, TPR: score.Of(1), FPR: score.Of(1),
		Difference: score.Of(0)}}, r.Rates.CWEs)
}

func TestNumbersThatAge(t *testing.T) {
	p := project(known("K", "a.java", 10, 10, 532), known("L", "b.java", 10, 10, 1104),
		known("M", "c.java", 10, 10, 328), known("N", "d.java", 10, 10, 22))
	for _, c := range []struct {
		f    audit.Finding
		want string
	}{
		{finding("deprecated", "a.java", 10, 10, 534),
			"K; CWE-534, stands for CWE-532; by lines, lines overlap"},
		{finding("empty category", "b.java", 12, 12, 1035),
			"L; CWE-1035, stands for CWE-1104; by lines, 2 lines off"},
		{finding("category", "c.java", 10, 10, 310),
			"M; CWE-310, stands for CWE-328; by lines, lines overlap"},
		{finding("a half too", "c.java", 300, 300, 310),
			"M; CWE-310, stands for CWE-328; by file, 290 lines off"},
		{finding("its own number first", "c.java", 10, 10, 310, 328),
			"M; CWE-328; by lines, lines overlap"},
	} {
		r := mustScore(t, p, c.f)
		require.Equal(t, c.want, r.Findings[0].Match.String(), c.f.ID)
		require.Positive(t, r.Metrics.Credit, c.f.ID)
	}
	wide := mustScore(t, p, finding("wide", "d.java", 10, 10, 264))
	require.Equal(t, score.Unmatched, wide.Findings[0].Disposition,
		"CWE-264 has 32 members, CWE-22 among them: it says nothing")
	require.Equal(t, score.WrongLocation, mustScore(t, p, finding("elsewhere", "e", 1, 1, 310),
		finding("x", "src/Deep.java", 9, 9, 310)).Findings[1].Disposition)
}

func TestFilesOfTheExportAreThere(t *testing.T) {
	p := project(known("K", "a.java", 10, 10, 1104))
	p.Others = map[string]bool{"assets/jquery.min.js": true}
	r := mustScore(t, p, finding("F", "./assets/jquery.min.js", 9000, 9000, 1104),
		finding("G", "assets/other.js", 1, 1, 1104))
	require.Equal(t, []score.Disposition{score.WrongLocation, score.MissingPath}, dispositions(r))
	require.Equal(t, "assets/jquery.min.js", r.Findings[0].Path)
}

// A flaw has two ends: what shows the other one is the same, up to three times.
func TestFindingsUnderAlsoAreDuplicates(t *testing.T) {
	p := project(known("K", "a.java", 10, 10, 89))
	p.Vulnerabilities[0].OtherFiles = []string{"b.java"}
	fs := []audit.Finding{finding("F", "a.java", 10, 10, 89)}
	for i := range 5 {
		fs = append(fs, finding(fmt.Sprint("also", i), "b.java", 100*i+1, 100*i+1, 89))
	}
	r := mustScore(t, p, fs...)
	require.Equal(t, 5, r.Dispositions[score.Duplicate])
	require.Equal(t, 3, r.Metrics.Counted, "three of five are free")
	require.Equal(t, "K; CWE-89; by also", r.Findings[1].Match.String())
	require.Equal(t, score.Partial, mustScore(t, p, fs[1]).Findings[0].Disposition,
		"alone it earns a half")
}

// The high end believes as much beside the key as there is credit on it.
func TestPrecisionIsOpen(t *testing.T) {
	p := project(known("K", "a.java", 10, 10, 89), known("L", "a.java", 300, 300, 89))
	p.Decoys = []audit.Decoy{decoy("D", "c.java", 10, 10, 89)}
	report := []audit.Finding{
		finding("hit", "a.java", 10, 10, 89), finding("half", "a.java", 200, 200, 89),
		finding("misplaced", "b.java", 10, 10, 89), finding("off-key", "b.java", 10, 10, 918),
		finding("off-key", "b.java", 100, 100, 918),
		finding("decoy", "c.java", 10, 10, 89), finding("missing", "x.java", 10, 10, 89),
		finding("past", "a.java", 999, 999, 89),
	}
	m := mustScore(t, p, report...).Metrics
	require.Equal(t, score.Span{Low: score.Of(1.5 / 8), High: score.Of(3.0 / 8)}, m.Precision)

	p.Planted = true
	m = mustScore(t, p, report...).Metrics
	require.Equal(t, score.Span{Low: score.Of(1.0 / 8), High: score.Of(1.0 / 8)}, m.Precision,
		"a whole key leaves nothing open, and half of nothing")
	require.Equal(t, m.Precision, m.Precision95)
	p.Reviews = []audit.FindingReview{ruled(&report[3], audit.RuledTrue),
		ruled(&report[4], audit.RuledArguable)}
	m = mustScore(t, p, report...).Metrics
	require.Equal(t, score.Span{Low: score.Of(1.0 / 7), High: score.Of(1.0 / 7)}, m.Precision,
		"what was ruled true does not count")
}

func TestRulings(t *testing.T) {
	p := project(known("K", "a.java", 10, 10, 89))
	hit, open := finding("hit", "a.java", 10, 10, 89), finding("open", "b.java", 100, 104, 918)
	for _, c := range []struct {
		ruling    audit.Ruling
		low, high float64
		review    string
	}{
		{audit.RuledTrue, 1, 1, "true"},
		{audit.RuledFalse, 0.5, 0.5, "false"},
		{audit.RuledArguable, 0.5, 1, "arguable"},
		{audit.RuledSame, 1, 1, "same K"},
		{"", 0.5, 1, ""},
	} {
		p.Reviews = nil
		if c.ruling != "" {
			p.Reviews = []audit.FindingReview{ruled(&open, c.ruling)}
		}
		if c.ruling == audit.RuledSame {
			p.Reviews[0].Entry = "K"
		}
		r := mustScore(t, p, hit, open)
		require.Equal(t, score.Span{Low: score.Of(c.low), High: score.Of(c.high)},
			r.Metrics.Precision, c.ruling)
		require.Equal(t, c.review, r.Findings[1].Review)
		require.Equal(t, score.Of(1), r.Metrics.Recall, "recall hangs on no review")
		require.Equal(t, "", r.Findings[0].Review)
		require.Equal(t, len(p.Reviews), r.Reviews)
	}
	p.Reviews = []audit.FindingReview{ruled(&open, audit.RuledArguable)}
	require.Equal(t, score.Span{Low: score.Of(0), High: score.Of(0)},
		mustScore(t, p, open).Metrics.Precision, "nothing but what is arguable")
	// A row serves whoever reports the same: near, or a step off in the dimension.
	p.Reviews = []audit.FindingReview{ruled(&open, audit.RuledTrue)}
	for _, c := range []struct {
		f    audit.Finding
		want string
	}{
		{finding("near", "b.java", 114, 114, 918), "true"},
		{finding("far", "b.java", 115, 115, 918), ""},
		{finding("another file", "c.java", 100, 104, 918), ""},
		{finding("another CWE", "b.java", 100, 104, 502), ""},
	} {
		require.Equal(t, c.want, mustScore(t, p, c.f).Findings[0].Review, c.f.ID)
		require.Equal(t, c.want != "",
			score.Ruled(p, dims, &score.Scored{Finding: c.f, Path: c.f.File}), c.f.ID)
	}
	p.Reviews[0].CWEs = []audit.CWE{89}
	require.Equal(t, "true",
		mustScore(t, p, finding("child", "b.java", 100, 100, 564)).Findings[0].Review)
}

// A thousand variations of one finding that was ruled true are one true finding.
func TestOneRulingRulesOneFinding(t *testing.T) {
	p := project(known("K", "a.java", 10, 10, 89))
	one := finding("one", "b.java", 100, 100, 918)
	for ruling, want := range map[audit.Ruling]score.Reviewed{
		audit.RuledTrue:     {True: 1, Same: 3, False: 996},
		audit.RuledArguable: {Arguable: 1, Same: 3, False: 996},
		audit.RuledSame:     {Same: 4, False: 996},
		audit.RuledFalse:    {False: 1000},
	} {
		p.Reviews = []audit.FindingReview{ruled(&one, ruling)}
		p.Reviews[0].Entry = map[bool]string{true: "K"}[ruling == audit.RuledSame]
		var fs []audit.Finding
		for i := range 1000 {
			fs = append(fs, finding(fmt.Sprint(i), "b.java", 95+i%11, 96+i%11, 918))
		}
		require.Equal(t, want, mustScore(t, p, fs...).Metrics.Unmatched, ruling)
	}
}

// Two rows three lines apart rule two findings, whichever stands first.
func TestRowsAreSharedOutExactly(t *testing.T) {
	p := project(known("K", "a.java", 10, 10, 89))
	a, b := finding("a", "b.java", 100, 100, 918), finding("b", "b.java", 103, 103, 918)
	p.Reviews = []audit.FindingReview{ruled(&a, audit.RuledTrue), ruled(&b, audit.RuledFalse)}
	for _, fs := range [][]audit.Finding{{a, b}, {b, a}} {
		for _, f := range mustScore(t, p, fs...).Findings {
			require.Equal(t, map[string]string{"a": "true", "b": "false"}[f.Finding.ID], f.Review)
		}
	}
}

// A duplicate too many is false, unless a row says that it is the same flaw.
func TestARulingFreesADuplicate(t *testing.T) {
	p := project(known("K", "a.java", 100, 100, 89))
	var fs []audit.Finding
	for i := range 6 {
		fs = append(fs, finding("F", "a.java", 100+i, 100+i, 89))
	}
	require.Equal(t, 3, mustScore(t, p, fs...).Metrics.Counted)
	p.Reviews = []audit.FindingReview{ruled(&fs[5], audit.RuledSame)}
	p.Reviews[0].Entry = "K"
	r := mustScore(t, p, fs...)
	require.Equal(t, 1, r.Metrics.Counted)
	require.Equal(t, "same K", r.Findings[5].Review)
}
