package planted

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Tell writes a proof for a reader: what failed, draw by draw, then the numbers.
func (p *Proof) Tell(w io.Writer) {
	failed := p.Failed()
	for i, o := range failed {
		if i == 0 || failed[i-1].Draw != o.Draw {
			fmt.Fprintf(w, "--- %s (bad: %s)\n", o.Draw, listed(o.Bad))
		}
		fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(o.String(), "\n", "\n  "))
	}
	right := len(p.Outcomes) - len(failed)
	fmt.Fprintf(w, "%s: %d draws, %d of %d outcomes as expected, in %s\n", p.Project, p.Draws, right, len(p.Outcomes), p.Took.Round(time.Second))
	type count struct {
		n, bad          int
		took, most, cpu time.Duration
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
		c.cpu += o.CPU
		c.most = max(c.most, o.Took)
		if !o.OK() {
			c.bad++
		}
	}
	for _, name := range order {
		c := counts[name]
		fmt.Fprintf(w, "  %-10s %5d runs, %d failed, %s each, %s at most, %s of processors each\n", name, c.n, c.bad,
			(c.took / time.Duration(c.n)).Round(time.Millisecond), c.most.Round(time.Millisecond),
			(c.cpu / time.Duration(c.n)).Round(time.Millisecond))
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
