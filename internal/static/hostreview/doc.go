// Package hostreview holds a fragment of host code (Go, JavaScript, TypeScript,
// Python, Java, PHP) against the words of a SPEC: which helper a requirement asks
// for and when, which role an act needs, whose things may be touched, what the SQL
// that the code sends lets through, what leaves in a response.
//
// A long requirement speaks of several things: a demand is read from one of its
// sentences, and held only against code that the sentence is about. What is demanded of
// rows (tenant, marks of deletion, the length of lists) is given to sqlreview in plain
// words, one demand at a time. Where requirements are long throughout, such readings say
// nothing about a fragment (testdata/review/README.md): there only shapes, slips that the
// code shows by its own form, and proofs on its form are heard.
//
// A requirement is about the fragment only when the fragment does what it speaks
// of: it changes something, reads one thing by its identifier, lists rows, names
// the act in the function's name or in the state that it sets. What cannot be told
// is not reported: silence is the answer for what this package does not understand.
package hostreview

import (
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

// A Breach is one requirement that the fragment does not meet.
type Breach struct {
	Requirement int
	Kind        string // the way of telling: "gates", "tenant", ...
	Why         string
	CWEs        []audit.CWE
	Confidence  float64 // 0.5 to 1
}

// Breaches gives the requirements of spec, the SPEC's Prompt section, that the
// fragment f does not meet, at most one for each way of telling. The error is for
// tables of this package that cannot be read.
func Breaches(spec string, f *lang.File) ([]Breach, error) {
	t, err := loadDemands()
	if err != nil {
		return nil, err
	}
	b := readBrief(spec)
	v := newView(b, f)
	var out []Breach
	for _, r := range b.reqs {
		for _, w := range ways(t) {
			if w.read && b.long {
				continue
			}
			if x := w.tell(v, r); x != nil {
				x.Requirement, x.Kind = r.Number, w.kind
				out = append(out, *x)
				break
			}
		}
	}
	if !b.long {
		out = append(out, v.statements()...)
	}
	return append(out, v.shaped(out)...), nil
}

// A way holds a fragment against one requirement and tells what it lacks, nil for
// nothing.
type way struct {
	kind string
	read bool // from the words of the requirement, and not from the form of the code
	tell func(*view, Requirement) *Breach
}

// longWords: a requirement of more words than this, on average, speaks of several
// things with exceptions to each. What was read from such words came on good fragments
// as often as on bad ones, so that only what the code shows by its form is told of.
const longWords = 35

// countWords reports whether the requirements are of that kind.
func (b *brief) countWords() bool {
	n := 0
	for _, r := range b.reqs {
		n += len(strings.Fields(r.Text))
	}
	return n > longWords*len(b.reqs)
}

// ways are tried in order; the first that tells of a requirement is heard.
func ways(t *demandTable) []way {
	return []way{
		{"gates", true, gates}, {"roles", true, roles}, {"owners", true, owners}, {"subjects", true, subjects}, {"uses", true, uses},
		{"secrets", true, secrets}, {"computed", true, computed}, {"positive", true, positive}, {"expired", true, expired},
		{"unlocked", false, unlocked}, {"stale", false, stale}, {"stateful", true, stateful}, {"journal", true, journal}, {"pasted", false, pasted},
		{"outbound", false, outbound}, {"together", false, together}, {"fences", false, fences}, {"random", false, randomness}, {"links", false, links}, {"stars", false, stars},
		{"told", false, told}, {"timing", false, timing}, {"markup", true, markup}, {"raw markup", false, rawMarkup}, {"words", true, t.words},
	}
}
