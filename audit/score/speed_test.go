//go:build unix

package score_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// bigAudit makes a key of known entries and findings over files, 25 CWEs. Two in
// five findings lie near an entry with one of its CWEs, the others anywhere.
func bigAudit(knowns, findings, files, linesPerFile int) (*audit.Project, []audit.Finding) {
	rng := rand.New(rand.NewPCG(7, 7))
	cwes := []audit.CWE{89, 79, 78, 22, 502, 918, 639, 798, 327, 328, 330, 200, 532, 287, 306, 352, 862, 16, 614, 434, 94, 77, 23, 259, 564}
	p := &audit.Project{Name: "big", Tree: audit.Tree{}}
	names := make([]string, files)
	for i := range names {
		names[i] = fmt.Sprintf("src/main/java/org/example/module%03d/Service%03d.java", i%40, i)
		p.Tree[names[i]] = audit.TreeFile{Path: names[i], Lines: linesPerFile}
	}
	for i := range knowns {
		start := 1 + rng.IntN(linesPerFile-10)
		k := known(fmt.Sprintf("K%05d", i), names[rng.IntN(files)], start, start+rng.IntN(8), cwes[rng.IntN(len(cwes))], cwes[rng.IntN(len(cwes))])
		if rng.IntN(2) == 0 {
			k.Functions = []string{fmt.Sprintf("method%d", start/20)}
		}
		k.Also = []string{names[rng.IntN(files)]}
		p.Known = append(p.Known, k)
	}
	fs := make([]audit.Finding, findings)
	for i := range fs {
		f := finding(fmt.Sprintf("F%d", i), names[rng.IntN(files)], 0, 0, cwes[rng.IntN(len(cwes))])
		start := 1 + rng.IntN(linesPerFile-10)
		if rng.IntN(5) < 2 {
			k := p.Known[rng.IntN(knowns)]
			f.File, f.CWEs = k.File, k.CWEs[:1]
			start = max(1, k.Lines.Start-6+rng.IntN(13))
		}
		f.Lines = audit.Range{Start: start, End: start + rng.IntN(5)}
		if rng.IntN(2) == 0 {
			f.Function = fmt.Sprintf("Service.method%d(String)", start/20)
		}
		fs[i] = f
	}
	return p, fs
}

// The time from values in memory to dispositions and metrics, both scores, without the
// chance level. Sparse: 5,000 entries and 20,000 findings over 500 files; dense:
// the same in five files of 4,000 lines.
func BenchmarkScore(b *testing.B) {
	dims := realDimensions(b)
	for _, c := range []struct {
		name         string
		files, lines int
	}{{"sparse", 500, 400}, {"dense", 5, 4000}, {"one-file", 1, 4000}} {
		p, fs := bigAudit(5000, 20000, c.files, c.lines)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				if _, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims, Rounds: -1}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpuTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// cpuTime is what this process has used so far: on a busy machine the only time
// that means something.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A report of usual size with its chance levels: 60 entries, 100 findings.
func BenchmarkScoreWithChance(b *testing.B) {
	p, fs := bigAudit(60, 100, 300, 200)
	dims := realDimensions(b)
	for b.Loop() {
		if _, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims}); err != nil {
			b.Fatal(err)
		}
	}
}
