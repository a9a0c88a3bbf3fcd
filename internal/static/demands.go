package static

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"assay/audit"
	"assay/internal/static/rules"
)

// A requirement is one numbered demand of a SPEC.
type requirement struct {
	number int
	text   string
}

var (
	requirementHead = regexp.MustCompile(`(?mi)^#{1,6}\s+security requirements\s*$`)
	requirementItem = regexp.MustCompile(`^\s{0,3}(\d+)[.)]\s+(.*)$`)
)

// requirements reads the numbered list under "Security Requirements"; text that
// continues an item belongs to it.
func requirements(spec string) []requirement {
	at := requirementHead.FindStringIndex(spec)
	if at == nil {
		return nil
	}
	var out []requirement
	for _, l := range strings.Split(spec[at[1]:], "\n") {
		l = strings.TrimRight(l, "\r")
		if strings.HasPrefix(l, "#") {
			break
		}
		if m := requirementItem.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(m[1])
			out = append(out, requirement{n, m[2]})
			continue
		}
		if len(out) > 0 && strings.TrimSpace(l) != "" {
			out[len(out)-1].text += " " + strings.TrimSpace(l)
		}
	}
	return out
}

type demand struct {
	ID      string `yaml:"id"`
	CWE     []int  `yaml:"cwe"`
	When    string `yaml:"when"`
	Applies string `yaml:"applies"`
	Needs   string `yaml:"needs"`
	Bans    string `yaml:"bans"`

	when, applies, needs, bans *regexp.Regexp
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
		}{{&d.when, d.When}, {&d.applies, d.Applies}, {&d.needs, d.Needs}, {&d.bans, d.Bans}} {
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

// A breach is a requirement that code does not meet, as far as words can tell.
type breach struct {
	number int
	why    string
	cwes   []audit.CWE
}

// breaches holds code without its comments against the requirements.
func (t *demandTable) breaches(reqs []requirement, code string) []breach {
	var out []breach
	for _, r := range reqs {
		for i := range t.Demands {
			d := &t.Demands[i]
			if !d.when.MatchString(r.text) || d.applies != nil && !d.applies.MatchString(code) {
				continue
			}
			why := ""
			switch {
			case d.needs != nil && !d.needs.MatchString(code):
				why = "nothing in the code does what it demands (" + d.ID + ")"
			case d.bans != nil && d.bans.MatchString(code):
				why = "the code does what it forbids: " + clip(d.bans.FindString(code))
			default:
				continue
			}
			b := breach{number: r.number, why: "requirement " + strconv.Itoa(r.number) + ": " + why}
			for _, c := range d.CWE {
				b.cwes = append(b.cwes, audit.CWE(c))
			}
			out = append(out, b)
			break
		}
	}
	return out
}

func clip(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

// violated gives the requirements that a finding of a topic breaks: those whose
// words are of the topic, at most two.
func (t *demandTable) violated(reqs []requirement, topic string) []int {
	re := t.topics[topic]
	if re == nil {
		return nil
	}
	var out []int
	for _, r := range reqs {
		if re.MatchString(r.text) && len(out) < 2 {
			out = append(out, r.number)
		}
	}
	return out
}

var (
	blockComment = regexp.MustCompile(`(?s)/\*.*?\*/|"""[^"]*"""|'''[^']*'''`)
	slashComment = regexp.MustCompile(`(?m)(^|[\s;{}(),])//[^\n]*`)
	hashComment  = regexp.MustCompile(`(?m)(^|\s)#[^\n\[{]*$`)
)

// withoutComments drops comments: what code says about itself proves nothing.
func withoutComments(file, code string) string {
	code = blockComment.ReplaceAllString(code, " ")
	if !strings.HasSuffix(file, ".py") {
		code = slashComment.ReplaceAllString(code, "$1")
	}
	if strings.HasSuffix(file, ".py") || strings.HasSuffix(file, ".php") {
		code = hashComment.ReplaceAllString(code, "$1")
	}
	return code
}
