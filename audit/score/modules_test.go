package score

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// demoModule has a bad site and two good ones in one function, and one elsewhere.
func demoModule(seed uint64, bad ...string) *audit.Module {
	m := &audit.Module{Project: "shop", Seed: seed, Name: "orders", Files: []audit.Block{{Path: "src/orders.go"}, {Path: "src/pay.go"}, {Path: "lib/pay.go"}},
		Reviews: []audit.FindingReview{
			{CWEs: []audit.CWE{400}, File: "src/orders.go", Functions: []string{"list"}, Ruling: audit.RuledArguable},
			{CWEs: []audit.CWE{209}, File: "src/orders.go", Functions: []string{"list"}, Ruling: audit.RuledFalse}},
		Sites: []audit.Site{
			{ID: "A-1", Rules: []int{1}, CWEs: []audit.CWE{639}, File: "src/orders.go", Functions: []string{"refund"}, Lines: audit.Range{Start: 20, End: 22}},
			{ID: "A-2", Rules: []int{2}, CWEs: []audit.CWE{362}, File: "src/orders.go", Functions: []string{"refund"}, Lines: audit.Range{Start: 26, End: 26}},
			{ID: "A-3", Rules: []int{1}, CWEs: []audit.CWE{863}, File: "src/orders.go", Functions: []string{"Orders.close"}, Lines: audit.Range{Start: 90, End: 99}},
			{ID: "A-4", CWEs: []audit.CWE{916}, File: "src/pay.go", Functions: []string{"hash"}, Lines: audit.Range{Start: 5, End: 6}},
		}}
	for i := range m.Sites {
		for _, id := range bad {
			m.Sites[i].Bad = m.Sites[i].Bad || m.Sites[i].ID == id
		}
	}
	return m
}

// Of violations that are equally near the one that fits fewer sites comes first: the
// answer's order has no say.
func TestTheOrderOfAnAnswerHasNoSay(t *testing.T) {
	m := demoModule(1, "A-1", "A-2")
	m.Sites[1].Lines = m.Sites[0].Lines
	either := audit.Violation{File: "src/orders.go", Lines: m.Sites[0].Lines, Rule: 1, CWEs: []audit.CWE{362}}
	one := audit.Violation{File: "src/orders.go", Lines: m.Sites[0].Lines, Rule: 1}
	require.Equal(t, audit.OutcomeCorrect, ModuleOutcome(m, []audit.Violation{one, either}))
	require.Equal(t, audit.OutcomeCorrect, ModuleOutcome(m, []audit.Violation{either, one}))
}

func TestWhichSiteAViolationNames(t *testing.T) {
	lines := func(a, b int) audit.Range { return audit.Range{Start: a, End: b} }
	m := demoModule(1)
	for _, tt := range []struct {
		name string
		v    audit.Violation
		want string // the site; "" for elsewhere, "-" for excused
	}{
		{"rule and line", audit.Violation{File: "src/orders.go", Lines: lines(21, 21), Rule: 1}, "A-1"},
		{"the nearer of two that fit", audit.Violation{File: "src/orders.go", Lines: lines(24, 24), Rule: 2}, "A-2"},
		{"the rule decides, not the line", audit.Violation{File: "src/orders.go", Lines: lines(26, 26), Rule: 1}, "A-1"},
		{"a weakness one step away", audit.Violation{File: "src/orders.go", Lines: lines(91, 91), CWEs: []audit.CWE{285}}, "A-3"},
		{"function without lines", audit.Violation{File: "src/orders.go", Function: "(*Orders).close", Rule: 1}, "A-3"},
		{"function, lines far off", audit.Violation{File: "src/orders.go", Function: "close", Lines: lines(300, 300), Rule: 1}, "A-3"},
		{"ten lines away", audit.Violation{File: "src/orders.go", Lines: lines(80, 80), Rule: 1}, "A-3"},
		{"eleven lines away", audit.Violation{File: "src/orders.go", Lines: lines(79, 79), Rule: 1}, ""},
		{"the end of a path that is one file's", audit.Violation{File: "./orders.go", Lines: lines(21, 21), Rule: 1}, "A-1"},
		{"an absolute path", audit.Violation{File: "/app/src/pay.go", Lines: lines(5, 5), CWEs: []audit.CWE{916}}, "A-4"},
		{"the end of two files' paths", audit.Violation{File: "pay.go", Lines: lines(5, 5), CWEs: []audit.CWE{916}}, ""},
		{"another rule at the place", audit.Violation{File: "src/orders.go", Lines: lines(21, 21), Rule: 7}, ""},
		{"the fourth weakness does not count", audit.Violation{File: "src/pay.go", Lines: lines(5, 5), CWEs: []audit.CWE{79, 89, 22, 916}}, ""},
		{"neither rule nor weakness", audit.Violation{File: "src/pay.go", Lines: lines(5, 5)}, ""},
		{"another file", audit.Violation{File: "src/other.go", Lines: lines(5, 5), Rule: 1}, ""},
		{"ruled arguable", audit.Violation{File: "src/orders.go", Function: "list", CWEs: []audit.CWE{400}}, "-"},
		{"ruled false", audit.Violation{File: "src/orders.go", Function: "list", CWEs: []audit.CWE{209}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ScoreModule(m, []audit.Violation{tt.v})
			got := ""
			for i, by := range s.Sites {
				if len(by) > 0 {
					got = m.Sites[i].ID
				}
			}
			if len(s.Excused) > 0 {
				got = "-"
			}
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.want == "", len(s.Elsewhere) == 1)
		})
	}
}

// Two violations name two sites where both could be the nearer one's; what is said
// again is counted once, at a site as elsewhere.
func TestViolationsShareSites(t *testing.T) {
	m := demoModule(1)
	near := audit.Violation{File: "src/orders.go", Lines: audit.Range{Start: 24, End: 24}, CWEs: []audit.CWE{362, 639}}
	far := audit.Violation{File: "src/none.go", Rule: 4, Why: "a"}
	again := far
	again.Why = "b"
	s := ScoreModule(m, []audit.Violation{near, near, near, far, again})
	require.Equal(t, 3, len(s.Sites[0])+len(s.Sites[1]))
	require.NotEmpty(t, s.Sites[0])
	require.NotEmpty(t, s.Sites[1])
	require.Equal(t, []int{3}, s.Elsewhere)
}

func TestModuleFigures(t *testing.T) {
	named := func(file string, line, rule int) audit.Violation {
		return audit.Violation{File: file, Lines: audit.Range{Start: line, End: line}, Rule: rule}
	}
	one, two := demoModule(1, "A-1", "A-2"), demoModule(2, "A-3")
	answers := []ModuleAnswer{
		// Finds A-1 and misses A-2; names nothing else.
		{Module: one, Outcome: audit.OutcomeWrong, Violations: []audit.Violation{named("src/orders.go", 20, 1)}},
		// Finds A-3, and names A-1, which is right here, and two places elsewhere.
		{Module: two, Outcome: audit.OutcomeWrong, Violations: []audit.Violation{named("src/orders.go", 95, 1), named("src/orders.go", 21, 1), named("src/orders.go", 500, 1), named("x.go", 1, 0)}},
		// The same module once more, all right.
		{Module: two, Trial: 1, Outcome: audit.OutcomeCorrect, Violations: []audit.Violation{named("src/orders.go", 95, 1)}},
		{Module: one, Trial: 1, Outcome: audit.OutcomeMalformed},
	}
	for _, a := range answers[:3] {
		require.Equal(t, a.Outcome, ModuleOutcome(a.Module, a.Violations))
	}
	f, err := ModulesOf(answers)
	require.NoError(t, err)
	// Judged: 4 sites of the first answer, 4 and 2 elsewhere of the second, the same of
	// the third, where the two are right. Wrong: A-2; A-1 and two elsewhere.
	require.Equal(t, 16, f.Accuracy.Answers)
	require.InDelta(t, 25, f.Errors.Value.V, 1e-9)
	require.InDelta(t, 100.0/16, f.Missed.Value.V, 1e-9)
	require.InDelta(t, 300.0/16, f.False.Value.V, 1e-9)
	require.Equal(t, 3, f.Reviews)
	require.InDelta(t, 1.0/3, f.Right.Value.V, 1e-9)
	require.Equal(t, 2, f.Off)
	require.InDelta(t, 2*3.0/(2*3+1+3), f.F1.V, 1e-9)
	// A-1 is bad in the first draw and good in the second, and both were not right; A-2
	// was missed; A-3 is told apart in the first trial.
	require.Equal(t, 3, f.Pairs.Answers)
	require.InDelta(t, 1.0/3, f.Pairs.Value.V, 1e-9)
	require.InDelta(t, 1, f.RightReason.Value.V, 1e-9)
	require.Equal(t, 4, f.Outcomes[audit.OutcomeMalformed])
}

// What one side names elsewhere and the other does not is an error of the one, over
// the same cases.
func TestSidesShareCases(t *testing.T) {
	m := demoModule(1, "A-1")
	right := audit.Violation{File: "src/orders.go", Lines: audit.Range{Start: 20, End: 20}, Rule: 1}
	noisy := []audit.Violation{right, {File: "a.go", Rule: 1}, {File: "b.go", Rule: 1}}
	sides := SiteAnswers([]ModuleAnswer{{Module: m, Outcome: audit.OutcomeWrong, Violations: noisy}}, []ModuleAnswer{{Module: m, Outcome: audit.OutcomeCorrect, Violations: noisy[:1]}})
	now, err := BenchOf(sides[0])
	require.NoError(t, err)
	base, err := BenchOf(sides[1])
	require.NoError(t, err)
	require.Equal(t, []int{6, 6}, []int{now.Cases, base.Cases})
	require.Equal(t, []int{2, 0}, []int{now.Outcomes[audit.OutcomeWrong], base.Outcomes[audit.OutcomeWrong]})
}

// Thirty modules settle at one trial that errors tripled, and that a collapse is one.
func TestGateOfModules(t *testing.T) {
	shop := func(missed func(module, site int) bool) (as []ModuleAnswer) {
		for i := range 15 {
			for seed := uint64(1); seed <= 2; seed++ {
				m := &audit.Module{Project: "shop", Seed: seed, Name: fmt.Sprint("m", i), Files: []audit.Block{{Path: "a.go"}}}
				a := ModuleAnswer{Module: m, Outcome: audit.OutcomeWrong}
				for j := range 24 {
					s := audit.Site{ID: fmt.Sprintf("S-%d-%d", i, j), Bad: j%5 == int(seed), CWEs: []audit.CWE{89}, File: "a.go", Lines: audit.Range{Start: 100 * (j + 1), End: 100 * (j + 1)}}
					m.Sites = append(m.Sites, s)
					if s.Bad != missed(i, j) {
						a.Violations = append(a.Violations, audit.Violation{File: s.File, Lines: s.Lines, CWEs: s.CWEs})
					}
				}
				as = append(as, a)
			}
		}
		return as
	}
	base := shop(func(i, j int) bool { return j == 7 && i%2 == 0 }) // 16 of 720
	for _, tt := range []struct {
		name   string
		missed func(i, j int) bool
		want   audit.Verdict
	}{
		{"the same", func(i, j int) bool { return j == 7 && i%2 == 0 }, audit.Pass},
		{"other sites", func(i, j int) bool { return j == 8 && i%2 == 0 }, audit.Pass},
		{"doubled", func(i, j int) bool { return j == 7 }, audit.Warn},
		{"six times as many", func(i, j int) bool { return j == 7 || j == 9 || j == 12 }, audit.Fail},
		{"everything", func(i, j int) bool { return true }, audit.Fail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sides := SiteAnswers(shop(tt.missed), base)
			j, err := JudgeBench(sides[0], sides[1], audit.BenchGoals{}, Rules{})
			require.NoError(t, err)
			require.Equal(t, tt.want, j.Verdict, j.Reasons)
		})
	}
}
