package planted

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Tell writes a proof for a reader: what failed, draw by draw, then the numbers.
func (p *Proof) Tell(w io.Writer) {
	failed := p.Failed()
	for i, o := range failed {
		if i == 0 || failed[i-1].Draw != o.Draw {
			fmt.Fprintf(w, "--- %s (bad: %s)\n", o.Draw, listed(o.Bad))
			if o.Folder != "" {
				fmt.Fprintf(w, "    %s\n", o.Folder)
			}
		}
		fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(o.String(), "\n", "\n  "))
	}
	right := len(p.Outcomes) - len(failed)
	fmt.Fprintf(w, "%s: %d draws, %d of %d outcomes as expected, in %s\n", p.Project, p.Draws, right, len(p.Outcomes), p.Took.Round(time.Second))
	type count struct {
		n, bad int
		took   time.Duration
	}
	counts, order := map[string]*count{}, []string{}
	for _, o := range p.Outcomes {
		c := counts[o.Step]
		if c == nil {
			c = &count{}
			counts[o.Step], order = c, append(order, o.Step)
		}
		c.n++
		c.took += o.Took
		if !o.OK() {
			c.bad++
		}
	}
	for _, name := range order {
		c := counts[name]
		fmt.Fprintf(w, "  %-10s %5d runs, %d failed, %s each\n", name, c.n, c.bad, (c.took / time.Duration(c.n)).Round(time.Millisecond))
	}
}

// String tells one outcome.
func (o Outcome) String() string {
	name := o.Step
	if o.Site != "" {
		name += " " + o.Site
	}
	switch {
	case o.Error != "":
		return name + ": " + o.Error
	case o.OK():
		return name + ": as expected"
	case o.Want:
		return fmt.Sprintf("%s: the site is bad and the exploit does not succeed: expected success (%s)", name, o.Detail)
	}
	return fmt.Sprintf("%s: the site is good and the exploit succeeds: expected none (%s)", name, o.Detail)
}

func listed(ids []string) string {
	switch {
	case len(ids) == 0:
		return "none"
	case len(ids) > 12:
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:12], " "), len(ids)-12)
	}
	return strings.Join(ids, " ")
}

// Tell writes what a project holds: its size, sites by dimension and kind.
func (p *Project) Tell(w io.Writer) {
	lines := 0
	groups, ids := 0, map[string]int{}
	byDimension, byKind, cwes, cross := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for _, s := range p.sources {
		for _, n := range s.nodes {
			if n.group != nil {
				groups++
			}
		}
	}
	for _, f := range p.with(nil).Render().Files {
		lines += countLines(f.Content)
	}
	for _, s := range p.Sites {
		byDimension[string(s.Dimension)]++
		byKind[s.Kind]++
		ids[s.ID]++
		for _, w := range s.CWEs {
			cwes[w.String()]++
		}
		if s.Reach == "cross" {
			cross++
		}
	}
	fmt.Fprintf(w, "%s: %d files, %d lines, %d sites (%d cross), %d CWEs, %d order groups, %d names, %d files that may be renamed\n",
		p.Name, len(p.sources), lines, len(p.Sites), cross, len(cwes), groups, len(p.names), len(p.files))
	for _, m := range []map[string]int{byDimension, byKind} {
		var parts []string
		for _, k := range sortedKeys(m) {
			parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
		}
		fmt.Fprintf(w, "  %s\n", strings.Join(parts, ", "))
	}
}

// Advice gives what a project lacks of what one of full size has: 60 sites, all
// ten dimensions with two sites, 20 CWEs, half of the sites across functions, ten
// groups, eight names, five files.
func (p *Project) Advice() []string {
	var out []string
	need := func(what string, got, want int) {
		if got < want {
			out = append(out, fmt.Sprintf("%s: %d %s, expected at least %d", p.Pos.File, got, what, want))
		}
	}
	byDimension, cwes, cross, groups, deep := map[string]int{}, map[string]bool{}, 0, 0, 0
	for _, s := range p.Sites {
		byDimension[string(s.Dimension)]++
		for _, w := range s.CWEs {
			cwes[w.String()] = true
		}
		if s.Reach == "cross" {
			cross++
		}
		if slices.Contains([]string{"logic", "authorization", "state", "race", "time"}, s.Kind) {
			deep++
		}
	}
	for _, s := range p.sources {
		for _, n := range s.nodes {
			if n.group != nil {
				groups++
			}
		}
	}
	two := 0
	for _, n := range byDimension {
		if n >= 2 {
			two++
		}
	}
	need("sites", len(p.Sites), 60)
	need("dimensions with two sites", two, 10)
	need("CWEs", len(cwes), 20)
	need("sites across functions or files", cross, (len(p.Sites)+1)/2)
	need("sites of logic, authorization, state, race or time", deep, (len(p.Sites)+1)/2)
	need("order groups", groups, 10)
	need("names with alternatives", len(p.names), 8)
	need("files with alternatives", len(p.files), 5)
	return out
}

// Tell writes a leak with its strongest shortcuts.
func (l Leak) Tell(w io.Writer) {
	fmt.Fprintf(w, "%d sites, %d shortcuts tried: p = %.4f for the strongest (a leak below 0.01)\n", l.Sites, len(l.Each), l.P)
	for _, s := range l.Each[:min(len(l.Each), 12)] {
		fmt.Fprintf(w, "  %-48s %5.1f %% right, %4.1f deviations", s.Name, 100*s.Balanced, s.Z)
		if s.More+s.Fewer > 0 {
			fmt.Fprintf(w, "; bad has more in %d sites, less in %d", s.More, s.Fewer)
		}
		fmt.Fprintln(w)
	}
}
