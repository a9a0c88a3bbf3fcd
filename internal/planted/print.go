package planted

import (
	"fmt"
	"io"
	"strings"
)

// Print writes what failed, draw by draw, and the number of outcomes as expected.
func (p *Proof) Print(w io.Writer) {
	failed := p.Failed()
	for i, o := range failed {
		if i == 0 || failed[i-1].Draw != o.Draw {
			fmt.Fprintf(w, "--- %s (bad: %s)\n", o.Draw, listed(o.Bad))
		}
		fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(o.String(), "\n", "\n  "))
	}
	right := len(p.Outcomes) - len(failed)
	fmt.Fprintf(w, "%s: %d draws, %d of %d outcomes as expected\n", p.Project, p.Draws, right,
		len(p.Outcomes))
}

// String returns the outcome as one line.
func (o StepResult) String() string {
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
		return fmt.Sprintf(
			"%s: the site is bad and the exploit does not succeed: expected success (%s)",
			name, o.Detail)
	}
	return fmt.Sprintf("%s: the site is good and the exploit succeeds: expected none (%s)",
		name, o.Detail)
}

// listed returns the first twelve IDs and the number of further ones.
func listed(ids []string) string {
	switch {
	case len(ids) == 0:
		return "none"
	case len(ids) > 12:
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:12], " "), len(ids)-12)
	}
	return strings.Join(ids, " ")
}
