package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/audit"
)

// A mutating runner makes the mutants of a good; both are.
type mutating interface {
	Mutants(code string) []Mutant
}

// Mutants makes the mutants of code; of several files, of what a change adds to
// them.
func (c *LanguageRunner) Mutants(code string) []Mutant {
	blocks := audit.SplitBlocks("", code)
	files, err := audit.PatchBlocks(blocks)
	if err != nil || blocks == nil {
		return codeMutants(c.lang.program, code) // what does not fit does not run
	}
	var all []Mutant
	for i, f := range files {
		before := slices.IndexFunc(blocks, func(b audit.Block) bool { return b.Path == f.Path })
		for _, m := range codeMutants(c.lang.program, f.Code) {
			if before >= 0 && slices.ContainsFunc(codeMutants(c.lang.program, blocks[before].Code),
				func(o Mutant) bool { return o.Name == m.Name }) {
				continue
			}
			changed := slices.Clone(files)
			changed[i].Code = m.Code
			all = append(all, Mutant{Name: m.Name + " in " + f.Path,
				Code: audit.JoinBlocks(changed)})
		}
	}
	return all
}

// Mutants makes the mutants of SQL.
func (p *Postgres) Mutants(code string) []Mutant { return Mutants(code) }

// only makes Run use the first n orders of the rows, until the function that it
// gives is called.
func (p *Postgres) only(n int) (restore func()) {
	all := p.sides
	p.sides = all[:n]
	return func() { p.sides = all }
}

// A Status is what became of a mutant.
type Status string

// The fates. Equal and differing mutants must be listed with a reason.
const (
	Stillborn Status = "stillborn" // it does not run
	Caught    Status = "caught"    // an oracle forbids what it does
	Narrower  Status = "narrower"  // it does nothing that the good does not do, and less of it
	Equal     Status = "equal"     // no parameter set tells it from the good
	Differs   Status = "differs"   // it does something else, which no requirement forbids
)

// A Judged is a mutant with its status.
type Judged struct {
	Mutant
	Case   *audit.Case
	Status Status
}

// JudgeMutants runs the mutants of a family's goods. The goods must have been
// proven by Check.
func JudgeMutants(ctx context.Context, r Runner, fam *audit.Family) ([]Judged, error) {
	// One order of the rows tells mutants well enough, in half the time.
	if p, ok := r.(*Postgres); ok {
		defer p.only(1)()
	}
	var all []Judged
	for _, c := range fam.Cases {
		if c.Label != audit.Good {
			continue
		}
		sets := attacksFirst(fam.Sets)
		good, err := r.Run(ctx, fam, c.Code, sets)
		if err != nil {
			return nil, err
		}
		for _, m := range r.(mutating).Mutants(c.Code) {
			// Races cost a database each; a lock that is gone shows there alone, and what a
			// rival is there for may.
			m.skipRaces = !m.Races
			status, err := judgeMutant(ctx, r, fam, m, sets, good)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", c.Pos, m.Name, err)
			}
			all = append(all, Judged{m, c, status})
		}
	}
	return all, nil
}

func attacksFirst(sets []audit.ParamSet) []audit.ParamSet {
	sets = slices.Clone(sets)
	slices.SortStableFunc(sets,
		func(a, b audit.ParamSet) int { return strings.Compare(a.Set, b.Set) })
	return sets
}

func judgeMutant(ctx context.Context, r Runner, fam *audit.Family, m Mutant, sets []audit.ParamSet,
	good [][]Effect) (Status, error) {
	status, failed, ran, most, goodMost := Equal, 0, 0, 0, 0
	for i := range sets {
		if sets[i].Race != nil && m.skipRaces && sets[i].Rival == "" {
			continue
		}
		es, err := r.Run(ctx, fam, m.Code, sets[i:i+1])
		if err != nil {
			return Stillborn, nil
		}
		ran++
		for j, e := range es[0] {
			if e.Err != "" {
				failed++
				if sets[i].Set == audit.SetBenign && ran == failed {
					return Stillborn, nil
				}
				break
			}
			if len(e.Violated) > 0 && !m.Limit {
				return Caught, nil
			}
			if len(e.Violated) > 0 {
				status = Caught
			}
			if j >= len(good[i]) || sets[i].Race != nil {
				continue
			}
			most, goodMost = max(most, e.Rows), max(goodMost, good[i][j].Rows)
			status = weigh(status, good[i][j].Result, e.Result)
		}
	}
	switch {
	case failed == ran:
		return Stillborn, nil
	case m.Limit && status == Caught && most <= 2*goodMost:
		return Differs, nil // too few rows to show that the LIMIT matters
	}
	return status, nil
}

// weigh brings the status up to date with one more pair of results.
func weigh(status Status, good, mutant string) Status {
	switch {
	case status == Caught || status == Differs || good == mutant:
		return status
	case subset(mutant, good):
		return Narrower
	}
	return Differs
}

// subset reports whether every row of a is among those of b, columns that a
// lacks left aside.
func subset(a, b string) bool {
	a, aState, _ := strings.Cut(a, "state:\n")
	b, bState, _ := strings.Cut(b, "state:\n")
	if aState != bState {
		return false
	}
	al, bl := strings.Split(a, "\n"), strings.Split(b, "\n")
	if al[0] == bl[0] {
		left := map[string]int{}
		for _, l := range bl {
			left[l]++
		}
		for _, l := range al {
			if left[l]--; left[l] < 0 && l != "" {
				return false
			}
		}
		return true
	}
	ac, bc := cells(al[0]), cells(bl[0])
	var keep []int
	for _, c := range ac {
		i := slices.Index(bc, c)
		if i < 0 {
			return false
		}
		keep = append(keep, i)
	}
	left := map[string]int{}
	for _, l := range bl[1:] {
		all := cells(l)
		if len(all) != len(bc) {
			// the empty line at the end; a text that holds the separator only makes us say
			// "differs"
			continue
		}
		row := make([]string, len(keep))
		for i, k := range keep {
			row[i] = all[k]
		}
		left[strings.Join(row, " | ")]++
	}
	for _, l := range al[1:] {
		if l == "" {
			continue
		}
		k := strings.Join(cells(l), " | ")
		if left[k]--; left[k] < 0 {
			return false
		}
	}
	return true
}

func cells(line string) []string { return strings.Split(strings.TrimSuffix(line, " | "), " | ") }

// CheckMutants asks that every mutant of the goods is caught, or listed under
// "# Mutants" with the reason why it may live, and that nothing else is listed.
func CheckMutants(ctx context.Context, r Runner, fam *audit.Family) ([]audit.Problem, error) {
	judged, err := JudgeMutants(ctx, r, fam)
	if err != nil {
		return nil, err
	}
	var problems []audit.Problem
	listed := slices.Clone(fam.Survivors)
	for _, j := range judged {
		i := slices.IndexFunc(listed, func(s audit.Survivor) bool {
			return s.Case == j.Case.Number && strings.Join(strings.Fields(s.Mutant), " ") == j.Name
		})
		lives := j.Status == Equal || j.Status == Differs
		switch {
		case i >= 0 && (j.Status == Caught || j.Status == Stillborn):
			problems = append(problems, audit.Problem{Pos: listed[i].Pos,
				What: fmt.Sprintf("the mutant %q of %02d is %s: it need not be listed", j.Name,
					j.Case.Number, j.Status)})
		case i < 0 && lives:
			what := "no parameter set tells it from the good"
			if j.Status == Differs {
				what = "it does something else than the good, and no oracle forbids it"
			}
			if j.Limit {
				what = "no set gives more than twice as many rows without the limit"
			}
			problems = append(problems, audit.Problem{Pos: j.Case.Pos, What: fmt.Sprintf(
				"the mutant %q survives: %s. Expected a parameter set or an oracle that catches it, or a row | %02d | %s | why | under # Mutants",
				j.Name, what, j.Case.Number, j.Name)})
		}
		if i >= 0 {
			listed = slices.Delete(listed, i, i+1)
		}
	}
	for _, s := range listed {
		problems = append(problems,
			audit.Problem{Pos: s.Pos, What: fmt.Sprintf("there is no mutant %q of %02d",
				s.Mutant, s.Case)})
	}
	return problems, nil
}
