package findings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// Lengths, in bytes, from which a text that also stands in the source is a quotation
// of it: a whole line, or a part of one that looks like code.
const (
	quotedLine = 20
	quotedPart = 32
)

// cutMark stands in the place of a quotation.
const cutMark = "[source]"

// scrubText writes a text report anew from what is read out of it: what it says
// around its findings goes, and what its texts quote of the source.
func scrubText(in io.ReadSeeker, out io.Writer, opt ScrubOptions) error {
	if opt.Source == nil {
		return errors.New("a text report quotes the source in its own words and cannot be scrubbed without it: expected ScrubOptions.Source, in which quotations are found")
	}
	rep, err := Read("the report", in, Options{Format: Text})
	if err != nil {
		return err
	}
	if rep.CutShort != "" {
		return fmt.Errorf("%w: %s", ErrTruncated, rep.CutShort)
	}
	root := newRootPattern(opt.Root)
	var texts []*string
	for i := range rep.Findings {
		f := &rep.Findings[i]
		f.File = root.remove(f.File)
		texts = append(texts, &f.Title, &f.Description, &f.Suppressed)
		for _, steps := range [][]audit.Step{f.Trace, f.Others} {
			for k := range steps {
				steps[k].File = root.remove(steps[k].File)
				texts = append(texts, &steps[k].Note)
			}
		}
	}
	for _, t := range texts {
		*t = strings.Join(strings.Fields(root.remove(*t)), " ")
	}
	if err := cutQuotations(texts, opt.Source); err != nil {
		return err
	}
	return WriteText(out, TextReport{Root: ".", Tool: rep.Tool, Version: rep.Version, Coverage: rep.Coverage, Findings: rep.Findings})
}

// cutQuotations cuts out of the texts, in which each white space is one space, what
// they quote of the source's files.
func cutQuotations(texts []*string, source fs.FS) error {
	q := quotations{texts: texts, at: map[string][]textPlace{}, quoted: make([][]bool, len(texts))}
	for i, t := range texts {
		q.quoted[i] = make([]bool, len(*t))
		for k := 0; k+quotedLine <= len(*t); k++ {
			w := (*t)[k : k+quotedLine]
			q.at[w] = append(q.at[w], textPlace{i, k})
		}
	}
	err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := fs.ReadFile(source, name)
		for line := range strings.Lines(string(b)) {
			q.line(strings.Join(strings.Fields(line), " "))
		}
		return err
	})
	for i, t := range texts {
		*t = cut(*t, q.quoted[i])
	}
	return err
}

// quotations are the places of texts that a source holds too.
type quotations struct {
	texts  []*string
	at     map[string][]textPlace // by the quotedLine bytes that begin there
	quoted [][]bool               // by text and byte
}

type textPlace struct{ text, offset int }

// address matches a line that is no source of anybody's: a bare web address.
var address = regexp.MustCompile(`^https?://\S+$`)

// line marks what the texts quote of a line.
func (q *quotations) line(line string) {
	if len(line) < quotedLine || address.MatchString(line) {
		return
	}
	for i := 0; i+quotedLine <= len(line); i++ {
		if line[i] == ' ' {
			continue
		}
		for _, at := range q.at[line[i:i+quotedLine]] {
			rest := (*q.texts[at.text])[at.offset:]
			n := quotedLine
			for n < len(rest) && i+n < len(line) && rest[n] == line[i+n] {
				n++
			}
			if n == len(line) || n >= quotedPart && strings.ContainsAny(rest[:n], `(){}[]=;<>"`) {
				for k := range n {
					q.quoted[at.text][at.offset+k] = true
				}
			}
		}
	}
}

// cut gives the text with one mark in the place of each run of quoted bytes.
func cut(text string, quoted []bool) string {
	if !slices.Contains(quoted, true) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if !quoted[i] {
			b.WriteByte(text[i])
		} else if i == 0 || !quoted[i-1] {
			b.WriteString(cutMark)
		}
	}
	return strings.ToValidUTF8(b.String(), "") // a quotation may begin within a character
}
