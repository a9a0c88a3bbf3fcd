package fixes

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"assay/audit"
)

// Show writes the diff of a fix with what the derivation made of each part of it, and the
// places of its entry; f is nil where the commit is no entry.
func Show(w io.Writer, f *Fix, d *Derivation) {
	if f == nil {
		fmt.Fprintf(w, "%s is no entry of the table\n", short(d.Commit))
	} else {
		fmt.Fprintf(w, "%s %s %s %v %s\n", f.ID, short(f.Commit), f.Date, f.CWEs, f.Title)
		fmt.Fprintf(w, "checked by: %s", f.CheckedBy)
		if f.Introduced != "" {
			fmt.Fprintf(w, "; introduced by %s", short(f.Introduced))
		}
		if f.Twin != "" {
			fmt.Fprintf(w, "; twin: %s", f.Twin)
		}
		fmt.Fprintln(w)
		for _, tree := range trees {
			for _, p := range f.Places[tree] {
				fmt.Fprintf(w, "  %-7s %s\n", tree, p)
			}
		}
	}
	fmt.Fprintf(w, "derived from %s, the likeliest place first:\n", short(d.Parent))
	for i, p := range d.Places {
		fmt.Fprintf(w, "  %d. %s\n", i+1, p)
	}
	if why := d.Nothing(); why != "" {
		fmt.Fprintf(w, "  none: %s\n", why)
	}
	for _, h := range d.Hunks {
		verdict := "place"
		if h.Dropped != "" {
			verdict = "dropped: " + h.Dropped
		} else if h.Demoted != "" {
			verdict = "demoted: " + h.Demoted
		}
		fmt.Fprintf(w, "\n%s  %s\n", audit.Place{File: h.File, Function: h.Function,
			Lines: h.lines()}, verdict)
		for _, line := range h.Removed {
			fmt.Fprintln(w, "-"+printable(line))
		}
		for _, line := range h.Added {
			fmt.Fprintln(w, "+"+printable(line))
		}
	}
	if len(d.Skipped) > 0 {
		fmt.Fprintln(w, "\nwithout a place:")
	}
	for _, file := range slices.Sorted(maps.Keys(d.Skipped)) {
		fmt.Fprintf(w, "  %s (%s)\n", file, d.Skipped[file])
	}
}

// printable keeps the indentation of a foreign line and nothing that a terminal obeys.
func printable(line string) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	text := strings.TrimLeft(line, " ")
	return line[:len(line)-len(text)] + audit.OneLine(text, 0)
}
