package static

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/audit"
)

// Open gives the findings that are no notes.
func (r Result) Open() []audit.Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f audit.Finding) bool { return f.Suppressed != "" })
}

// WriteText writes what was found for people: a line a finding, with the way that the
// data takes below it, then what was left out and the counts. Notes are written when
// notes says so. What comes from the scanned files passes through clean, which
// escapes what a terminal would obey.
func (r Result) WriteText(w io.Writer, notes bool, clean func(string) string) error {
	var b strings.Builder
	open := r.Open()
	list := open
	if notes {
		list = r.Findings
	}
	for _, f := range list {
		kind := f.Severity.String()
		if f.Suppressed != "" {
			kind = "note"
		}
		fmt.Fprintf(&b, "%s:%s: %s: %s (%s, %v)\n", clean(f.File), f.Lines, kind, clean(f.Title), f.RuleID, f.CWEs)
		for _, s := range f.Trace {
			fmt.Fprintf(&b, "    %s:%s: %s\n", clean(s.File), s.Lines, clean(s.Note))
		}
	}
	for _, x := range r.Warnings {
		fmt.Fprintf(&b, "%s\n", clean(x))
	}
	if r.Tests > 0 {
		fmt.Fprintf(&b, "%d files of test code: not analysed\n", r.Tests)
	}
	fmt.Fprintf(&b, "%d findings and %d notes in %d files, %d of them code\n", len(open), len(r.Findings)-len(open), r.Files, r.Parsed)
	_, err := io.WriteString(w, b.String())
	return err
}
