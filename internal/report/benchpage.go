package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/stat"
)

// A seatLine is one reviewer with its figures.
type seatLine struct {
	*SeatResults
	Bench *score.Bench
	Flips []score.Flip
	Cost  string // USD for a thousand answers
	usd   float64
	Pace  string // seconds an answer
}

// A Count gives the trials of one outcome.
func (l seatLine) Count(o string) int { return l.Bench.Outcomes[audit.Outcome(o)] }

func seatLines(r *Results) ([]seatLine, error) {
	ls := make([]seatLine, len(r.Seats))
	err := each(len(ls), func(i int) error {
		s := r.Seats[i]
		b, err := score.BenchOf(s.Score(""))
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		l := seatLine{SeatResults: s, Bench: b, Flips: s.Flips(), Cost: "no price", Pace: "not measured"}
		if s.Answers > 0 && s.Usage.USD > 0 {
			l.usd = 1000 * s.Usage.USD / float64(s.Answers)
			l.Cost = fmt.Sprintf("%.2f USD", l.usd)
			if !s.Usage.Priced {
				l.Cost = "at least " + l.Cost
			}
		}
		if s.Answers > 0 && s.Latency > 0 {
			l.Pace = fmt.Sprintf("%.1f s", s.Latency.Seconds()/float64(s.Answers))
		}
		ls[i] = l
		return nil
	})
	return ls, err
}

// each calls do for 0 to n-1, as many at once as there are processors.
func each(n int, do func(int) error) error {
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// A benchPage shows reviewers over the cases.
type benchPage struct {
	Seats    []seatLine
	Forest   *chart
	Cost     *chart
	Apps     []appLine
	Families []familyLine
	Pairs    []pairLine
	PairNote string
	Cut      string
	Results  *Results
}

type appLine struct {
	App   string
	Cells []*score.Bench
}

type familyLine struct {
	Family, App string
	Page        string
	Cells       []shareCell
}

// A shareCell is how often a seat was right.
type shareCell struct {
	Right, Answered, Silent int
}

// Share is Right / Answered.
func (c shareCell) Share() score.Value { return score.Ratio(float64(c.Right), float64(c.Answered)) }

func (c *shareCell) add(ts []*Trial) {
	for _, t := range ts {
		switch t.Outcome {
		case audit.OutcomeCorrect:
			c.Right++
			c.Answered++
		case audit.OutcomeWrong:
			c.Answered++
		default:
			c.Silent++
		}
	}
}

type pairLine struct {
	A, B     string
	Standing string
	Text     string
}

// pairsMost is up to how many reviewers each is compared with each; of more, each
// with the one that comes first.
const pairsMost = 5

// cellsMost keeps a matrix below MaxPage.
const cellsMost = 9000

func newBenchPage(r *Results, ls []seatLine) (*benchPage, error) {
	p := &benchPage{Seats: ls, Results: r}
	var ms []measured
	var ss []spent
	for _, l := range ls {
		m := measured{l.String(), l.Bench.BalancedAccuracy}
		ms = append(ms, m)
		ss = append(ss, spent{m, l.usd})
	}
	p.Forest = barChart("Balanced accuracy with 95 % intervals", ms)
	p.Cost = costChart("Balanced accuracy against cost", ss)
	if err := p.apps(); err != nil {
		return nil, err
	}
	p.families()
	p.pairs()
	return p, nil
}

func (p *benchPage) apps() error {
	names := map[string]bool{}
	for _, l := range p.Seats {
		for _, c := range l.Cases {
			names[c.Case.App] = true
		}
	}
	for _, app := range slices.Sorted(maps.Keys(names)) {
		line := appLine{App: app, Cells: make([]*score.Bench, len(p.Seats))}
		err := each(len(p.Seats), func(i int) error {
			if len(names) == 1 {
				line.Cells[i] = p.Seats[i].Bench
				return nil
			}
			as := p.Seats[i].Score(app)
			if len(as) == 0 {
				return nil
			}
			var err error
			line.Cells[i], err = score.BenchOf(as)
			return err
		})
		if err != nil {
			return err
		}
		p.Apps = append(p.Apps, line)
	}
	return nil
}

func (p *benchPage) families() {
	lines := map[string]*familyLine{}
	for i, l := range p.Seats {
		for _, id := range sortedKeys(l.Cases) {
			c := l.Cases[id]
			f := lines[c.Case.Family()]
			if f == nil {
				f = &familyLine{Family: c.Case.Family(), App: c.Case.App, Page: casePage(c.Case), Cells: make([]shareCell, len(p.Seats))}
				lines[f.Family] = f
			}
			f.Cells[i].add(c.Trials)
		}
	}
	for _, k := range sortedKeys(lines) {
		p.Families = append(p.Families, *lines[k])
	}
	// The hardest first: that is where to look.
	slices.SortStableFunc(p.Families, func(a, b familyLine) int { return cmp.Compare(least(a.Cells), least(b.Cells)) })
	if most := max(1, cellsMost/max(1, len(p.Seats))); len(p.Families) > most {
		p.Cut = fmt.Sprintf("The %d families with the lowest share of right answers are shown, of %d.", most, len(p.Families))
		p.Families = p.Families[:most]
	}
}

// least orders families: the share of right answers over all seats.
func least(cs []shareCell) float64 {
	var all shareCell
	for _, c := range cs {
		all.Right += c.Right
		all.Answered += c.Answered
	}
	if v := all.Share(); v.Defined {
		return v.V
	}
	return math.Inf(1)
}

func (p *benchPage) pairs() {
	n := len(p.Seats)
	order := slices.Clone(p.Seats)
	slices.SortStableFunc(order, func(a, b seatLine) int {
		return cmp.Compare(b.Bench.BalancedAccuracy.Value.V, a.Bench.BalancedAccuracy.Value.V)
	})
	var at [][2]int
	for i := range order {
		for k := i + 1; k < n && (i == 0 || n <= pairsMost); k++ {
			at = append(at, [2]int{i, k})
		}
	}
	p.Pairs = make([]pairLine, len(at))
	each(len(at), func(i int) error {
		a, b := order[at[i][0]], order[at[i][1]]
		d, _, _, err := compareSeats(a.SeatResults, b.SeatResults)
		line := pairLine{A: a.String(), B: b.String(), Standing: string(stat.Open)}
		if err != nil {
			line.Text = "not compared with B: " + err.Error()
		} else {
			line.Standing, line.Text = string(d.Comparison.Standing), Standing(d.Comparison)
		}
		p.Pairs[i] = line
		return nil
	})
	if n > pairsMost {
		p.PairNote = "Each is compared with the one that comes first. That one was picked for its result: part of its lead is luck. assay compare sets any two against each other."
	}
}

// A caseLine is one case in the list of cases.
type caseLine struct {
	Case  *audit.Case
	Page  string
	Cells []shareCell
	All   shareCell
}

// Standing is for the filter: whether all, some or none of the seats are right.
func (c caseLine) Standing() string {
	switch {
	case c.All.Answered == 0:
		return "no answer"
	case c.All.Right == c.All.Answered:
		return "all right"
	case c.All.Right == 0:
		return "all wrong"
	}
	return "mixed"
}

type casesPage struct {
	Seats  []seatLine
	Cases  []caseLine
	Apps   []string
	Others []pageLink
	Total  int
}

// casePage is in a folder of its application: "a-b/c" and "a/b-c" are two cases.
func casePage(c *audit.Case) string {
	return "cases/" + strings.TrimSuffix(pageName(cmp.Or(c.App, "no application")), ".html") + "/" + pageName(c.ID()[len(c.App)+1:])
}

// cases gives every case that anybody answered, by ID.
func cases(ls []seatLine) []caseLine {
	lines := map[string]*caseLine{}
	for i, l := range ls {
		for id, c := range l.Cases {
			k := lines[id]
			if k == nil {
				k = &caseLine{Case: c.Case, Page: casePage(c.Case), Cells: make([]shareCell, len(ls))}
				lines[id] = k
			}
			k.Cells[i].add(c.Trials)
			k.All.add(c.Trials)
		}
	}
	var out []caseLine
	for _, id := range sortedKeys(lines) {
		out = append(out, *lines[id])
	}
	return out
}

// writeCases writes the list of cases, paged, and a page for each.
func (s *site) writeCases(ls []seatLine) error {
	all := cases(ls)
	apps := map[string]bool{}
	for _, c := range all {
		apps[c.Case.App] = true
	}
	size := max(50, cellsMost/max(1, len(ls)))
	name := func(i int) string {
		if i == 0 {
			return "cases.html"
		}
		return fmt.Sprintf("cases-%d.html", i+1)
	}
	for at, n := 0, 0; at < len(all); at, n = at+size, n+1 {
		p := casesPage{Seats: ls, Cases: all[at:min(at+size, len(all))], Apps: slices.Sorted(maps.Keys(apps)), Total: len(all)}
		for i := 0; i*size < len(all) && len(all) > size; i++ {
			p.Others = append(p.Others, pageLink{fmt.Sprintf("%s to %s", all[i*size].Case.ID(), all[min((i+1)*size, len(all))-1].Case.ID()), name(i), i == n})
		}
		if err := s.render(name(n), "cases.html", "Cases", "Cases", p); err != nil {
			return err
		}
	}
	requirements := map[string]*audit.Spec{}
	for _, a := range s.in.Apps {
		requirements[a.App] = a.Spec
	}
	for i, c := range all {
		p := s.onePage(ls, c, requirements[c.Case.App])
		if i > 0 {
			p.Before = &all[i-1]
		}
		if i+1 < len(all) {
			p.After = &all[i+1]
		}
		if err := s.render(c.Page, "case.html", "Cases", c.Case.ID(), p); err != nil {
			return err
		}
	}
	return nil
}

// A onePage shows one case with every seat's answers.
type onePage struct {
	caseLine
	Code          template.HTML
	Violated      []audit.Requirement
	Answers       []answerCard
	Before, After *caseLine
}

type answerCard struct {
	Seat  string
	Cell  shareCell
	Told  []Telling
	Twins []TwinVerdict
}

func (s *site) onePage(ls []seatLine, c caseLine, spec *audit.Spec) *onePage {
	p := &onePage{caseLine: c, Code: highlight(c.Case)}
	if spec != nil {
		for _, r := range spec.Requirements {
			if slices.Contains(c.Case.Violates, r.Number) {
				p.Violated = append(p.Violated, r)
			}
		}
	}
	room := MaxPage / 3 // for what models wrote: escaping can triple it
	for i, l := range ls {
		r := l.Cases[c.Case.ID()]
		if r == nil {
			continue
		}
		a := answerCard{Seat: l.String(), Cell: c.Cells[i], Twins: r.Twins[:min(20, len(r.Twins))]}
		for _, t := range r.Told {
			if room -= 6 * (len(t.Explanation) + len(t.Detail) + 200); room > 0 {
				a.Told = append(a.Told, t)
			}
		}
		p.Answers = append(p.Answers, a)
	}
	return p
}

var formatter = html.New(html.WithClasses(true), html.WithLineNumbers(true), html.TabWidth(4))

// highlight gives the code with line numbers; plain where its language is not
// known. The formatter escapes it.
func highlight(c *audit.Case) template.HTML {
	if c.Code == "" {
		return ""
	}
	lexer := lexers.Get(c.Language)
	if lexer == nil || c.Language == "" {
		lexer = lexers.Fallback
	}
	var b bytes.Buffer
	it, err := chroma.Coalesce(lexer).Tokenise(nil, c.Code)
	if err == nil {
		err = formatter.Format(&b, styles.Fallback, it)
	}
	if err != nil {
		return template.HTML("<pre>" + template.HTMLEscapeString(c.Code) + "</pre>")
	}
	return template.HTML(b.String())
}
