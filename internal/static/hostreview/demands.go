package hostreview

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"assay/audit"
	"assay/internal/static/rules"
)

type demand struct {
	ID      string `yaml:"id"`
	CWE     []int  `yaml:"cwe"`
	When    string `yaml:"when"`
	Applies string `yaml:"applies"`
	Needs   string `yaml:"needs"`
	Bans    string `yaml:"bans"`   // read without the contents of literals
	Names   string `yaml:"names"`  // expression on the names of the fragment's functions
	Writes  bool   `yaml:"writes"` // about code that changes something
	Act     bool   `yaml:"act"`    // about code whose name or state is of the clause's act
	NoSQL   bool   `yaml:"nosql"`  // about code without SQL: statements are judged as such
	Things  bool   `yaml:"things"` // about code that speaks of the clause's things

	when, applies, needs, bans, names *regexp.Regexp
}

type demandTable struct {
	Topics  map[string]string `yaml:"topics"`
	Demands []demand          `yaml:"demands"`

	topics map[string]*regexp.Regexp
}

var loadDemands = sync.OnceValues(func() (*demandTable, error) {
	var t demandTable
	if err := rules.Data("data-demands.yaml", &t); err != nil {
		return nil, err
	}
	t.topics = map[string]*regexp.Regexp{}
	for k, v := range t.Topics {
		re, err := regexp.Compile(v)
		if err != nil {
			return nil, err
		}
		t.topics[k] = re
	}
	for i := range t.Demands {
		d := &t.Demands[i]
		for _, p := range []struct {
			to   **regexp.Regexp
			from string
		}{{&d.when, d.When}, {&d.applies, d.Applies}, {&d.needs, d.Needs}, {&d.bans, d.Bans}, {&d.names, d.Names}} {
			if p.from == "" {
				continue
			}
			re, err := regexp.Compile(p.from)
			if err != nil {
				return nil, err
			}
			*p.to = re
		}
	}
	return &t, nil
})

// words holds a requirement against the demands of the table: code that does what a
// demand is about and lacks what it needs, or has what it forbids.
func (t *demandTable) words(v *view, r Requirement) *Breach {
	for i := range t.Demands {
		d := &t.Demands[i]
		for _, clause := range r.parts() {
			if !d.when.MatchString(clause) || d.applies != nil && !d.applies.MatchString(v.text) || d.names != nil && !d.names.MatchString(strings.Join(v.names, " ")) {
				continue
			}
			if v.unrelated(d, r) || d.ID == "self-approve" && !v.says(first(v.b.acts(clause))) {
				continue
			}
			if d.NoSQL && len(v.sql) > 0 || d.Writes && v.change() == nil || d.Act && !v.says(v.b.acts(clause)) || d.Things && !v.speaksOf(clause) {
				continue
			}
			why := ""
			switch {
			case d.needs != nil && !d.needs.MatchString(v.text):
				why = "nothing in the code does what it demands (" + d.ID + ")"
			case d.bans != nil && d.bans.MatchString(v.bare):
				why = "the code does what it forbids: " + clip(d.bans.FindString(v.bare))
			default:
				continue
			}
			b := &Breach{Why: "requirement " + strconv.Itoa(r.Number) + ": " + why, Confidence: 0.6}
			for _, c := range d.CWE {
				b.CWEs = append(b.CWEs, audit.CWE(c))
			}
			return b
		}
	}
	return nil
}

// parts gives what a demand is read from: a short requirement as a whole, then its
// clauses; of a long one only the sentences, since words of different ones make no demand.
func (r Requirement) parts() []string {
	if all := sentencesOf(r.Text); len(all) > 2 {
		return all
	}
	return append([]string{r.Text}, r.clauses()...)
}

// first gives what a clause speaks of first: its verb, before those of its side
// clauses.
func first(acts []string) []string { return acts[:min(1, len(acts))] }

// speaksOf: a thing that the clause names, and few other requirements do, stands in
// the code.
func (v *view) speaksOf(clause string) bool {
	for _, w := range roots(spanRE.ReplaceAllString(clause, " ")) {
		if len(w) < 3 || common[w] || people[w] || v.b.frequent(w) {
			continue
		}
		for _, id := range wordRE.FindAllString(v.bare, -1) {
			for _, x := range humps(id) {
				if meet(w, root(x)) {
					return true
				}
			}
		}
	}
	return false
}

// frequent: more than a third of the requirements have the word.
func (b *brief) frequent(w string) bool {
	n := 0
	for _, r := range b.reqs {
		for _, x := range roots(r.Text) {
			if meet(w, x) {
				n++
				break
			}
		}
	}
	return n*3 > len(b.reqs) && len(b.reqs) > 3
}

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

// Violated gives the requirements that a finding of a topic breaks: those whose words
// are of the topic, at most two.
func Violated(reqs []Requirement, topic string) ([]int, error) {
	t, err := loadDemands()
	if err != nil {
		return nil, err
	}
	return t.violated(reqs, topic), nil
}

// violated gives the requirements that a finding of a topic breaks: those whose
// words are of the topic, at most two.
func (t *demandTable) violated(reqs []Requirement, topic string) []int {
	re := t.topics[topic]
	if re == nil {
		return nil
	}
	var out []int
	for _, r := range reqs {
		if re.MatchString(r.Text) && len(out) < 2 {
			out = append(out, r.Number)
		}
	}
	return out
}

var (
	blockComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	docString    = regexp.MustCompile(`(:\s*\n\s*)("""[^"]*"""|'''[^']*''')`)
	slashComment = regexp.MustCompile(`(?m)(^|[\s;{}(),])//[^\n]*`)
	hashComment  = regexp.MustCompile(`(?m)(^|\s)#[^\n\[{]*$`)
)

// WithoutComments drops comments: what code says about itself proves nothing.
func WithoutComments(file, code string) string {
	code = docString.ReplaceAllString(blockComment.ReplaceAllString(code, " "), "$1")
	if !strings.HasSuffix(file, ".py") {
		code = slashComment.ReplaceAllString(code, "$1")
	}
	if strings.HasSuffix(file, ".py") || strings.HasSuffix(file, ".php") {
		code = hashComment.ReplaceAllString(code, "$1")
	}
	return code
}

// people are words for who acts: that they stand in the code says nothing.
var people = map[string]bool{"operator": true, "operat": true, "agent": true, "clinician": true, "employe": true, "custom": true, "manag": true, "supervis": true, "account": true}
