// Package hostreview holds a fragment of host code (Go, JavaScript, TypeScript,
// Python, Java, PHP) against the words of a SPEC: which helper a requirement asks
// for and when, which role an act needs, whose things may be touched, what the SQL
// that the code sends lets through, what leaves in a response.
//
// A long requirement speaks of several things: a demand is read from one of its
// sentences, and held only against code that the sentence is about. What is demanded of
// rows (tenant, marks of deletion, the length of lists) is given to sqlreview in plain
// words, one demand at a time.
//
// A requirement is about the fragment only when the fragment does what it speaks
// of: it changes something, reads one thing by its identifier, lists rows, names
// the act in the function's name or in the state that it sets. What cannot be told
// is not reported: silence is the answer for what this package does not understand.
package hostreview

import (
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
			if x := w.tell(v, r); x != nil {
				x.Requirement, x.Kind = r.Number, w.kind
				out = append(out, *x)
				break
			}
		}
	}
	return append(out, v.statements()...), nil
}

// A way holds a fragment against one requirement and tells what it lacks, nil for
// nothing.
type way struct {
	kind string
	tell func(*view, Requirement) *Breach
}

// ways are tried in order; the first that tells of a requirement is heard.
func ways(t *demandTable) []way {
	return []way{
		{"gates", gates}, {"roles", roles}, {"owners", owners}, {"subjects", subjects}, {"uses", uses},
		{"secrets", secrets}, {"computed", computed}, {"positive", positive}, {"expired", expired},
		{"unlocked", unlocked}, {"stale", stale}, {"stateful", stateful}, {"journal", journal},
		{"pasted", pasted}, {"moved", moved}, {"hashed", hashed}, {"versioned", versioned}, {"actor", actorCols},
		{"relations", relations}, {"self", notSelf}, {"outbound", outbound}, {"days", days}, {"together", together}, {"bounds", bounds}, {"counted", counted}, {"stars", stars}, {"fences", fences}, {"links", links}, {"random", randomness}, {"fields", fields}, {"wider", wider}, {"order", totalOrder}, {"told", told}, {"log", loggedSecrets}, {"timing", timing}, {"markup", markup}, {"raw markup", rawMarkup}, {"words", t.words},
	}
}
