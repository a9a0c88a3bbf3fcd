package auditor

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/audit"
)

// wordsControl is the reviewer "control-words": it reads words and no code. It
// shows what a judgement by words alone is worth; a model that does not beat it
// has shown nothing.
type wordsControl struct{}

// Control returns the control of this name, nil if there is none.
func Control(name string) audit.Reviewer {
	for _, c := range reviewControls {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// Deterministic reports whether the reviewer of this name is one of our own, which
// cost nothing and answer the same question always the same.
func Deterministic(reviewer string) bool {
	return reviewer == "patterns" ||
		Control(reviewer) != nil
}

// Name is "control-words".
func (wordsControl) Name() string { return "control-words" }

// Review calls a fragment bad if a requirement of the SPEC is about a matter, the code touches
// this matter, and the code has none of the words that occur in correct code.
func (wordsControl) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	if err := ctx.Err(); err != nil {
		return audit.Review{Status: audit.Errored, Detail: err.Error()}, nil
	}
	rev := audit.Review{Status: audit.Answered, Verdict: audit.Good, Confidence: 0.5,
		Explanation: "no word is missing"}
	lacking := lacking(strings.ToLower(withoutComments(task.Code)))
	var why []string
	for _, m := range mattersOf(task.Spec) {
		i := slices.IndexFunc(m.demands, func(d int) bool { return lacking[d] })
		if i < 0 {
			continue
		}
		rev.Verdict, rev.Violates = audit.Bad, append(rev.Violates, m.number)
		why = append(why,
			fmt.Sprintf("requirement %d speaks of %s, and none of its words stands in the code",
				m.number, demands[m.demands[i]].matter))
	}
	if len(why) > 0 {
		rev.Explanation = strings.Join(why, "; ")
	}
	rev.Raw = rev.Explanation
	return rev, nil
}

// A matter is a numbered requirement with the demands that it speaks of.
type matter struct {
	number  int
	demands []int // indices into the table
}

// specs caches the matters of each SPEC, since the cases of an application share one.
var specs sync.Map

// mattersOf returns the matters of a SPEC's requirements.
func mattersOf(spec string) []matter {
	if known, ok := specs.Load(spec); ok {
		return known.([]matter)
	}
	var ms []matter
	for _, req := range requirement.FindAllStringSubmatch(spec, -1) {
		m := matter{}
		fmt.Sscan(req[1], &m.number)
		for i, d := range demands {
			if d.requirement.MatchString(req[2]) {
				m.demands = append(m.demands, i)
			}
		}
		ms = append(ms, m)
	}
	specs.Store(spec, ms)
	return ms
}

// lacking returns for each demand whether the code, in lower case, touches its matter without
// any of its words.
func lacking(code string) []bool {
	ls := make([]bool, len(demands))
	for i, d := range demands {
		ls[i] = d.touches(code) && !d.words(code)
	}
	return ls
}

// requirement is an item of a numbered list with its indented further lines.
var requirement = regexp.MustCompile(`(?m)^ {0,3}(\d{1,3})[.)]\s+(.+(?:\n[ \t]+\S.*)*)`)

var comments = regexp.MustCompile(`(?m)(?:--|//|#).*$|(?s:/\*.*?\*/)`)

// withoutComments returns the code without its comments.
func withoutComments(code string) string { return comments.ReplaceAllString(code, "") }

// A demand says which words code that touches a matter is expected to hold.
type demand struct {
	matter         string
	requirement    *regexp.Regexp
	touches, words func(code string) bool
}

// demands were written from general knowledge, before and without any case.
var demands = []demand{
	words("tenants", `tenant|organi[sz]ation|another (company|customer|clinic|branch)`,
		`select|find|query|get`, `tenant|org|company|clinic|branch|agency|account`),
	words("ownership", `\bown\b|their own|belongs? to`, `select|update|delete|find|query`,
		`owner|user_?id|created_by|member|customer_?id`),
	words("roles", `\brole|manager|administrator|permission|may only`,
		`update|insert|delete|create|set`, `role|permission|manager|admin|can_|allowed|grant`),
	words("concurrent changes", `concurren|at the same time|twice|simultaneous|race`,
		`update|insert|balance|stock|count`,
		`for update|lock|serializable|transaction|atomic|on conflict|mutex`),
	words("deletion", `deleted|archived|soft`, `select|update|find`,
		`deleted|archived|removed|active`),
	words("states", `\bstate|status|pending|approved|cancell?ed`, `update|set `, `status|state`),
	words("limits", `at most|maximum|limit|exceed`, `select|insert|amount|quantity|total`,
		`limit|least|max|<=|<|>`),
	words("injection", `bound|parameteri[sz]|concatenat|interpolat`,
		`execute|query|format\(|\x7c\x7c`, `\$\d|\?|%s|quote_ident|quote_literal|%[il]|using|:\w+`),
	words("paths", `path|director|file name`, `open|read|join|file`,
		`clean|resolve|realpath|basename|abs|within|root`),
	words("addresses", `url|webhook|internal (host|address)`, `http|fetch|request|dial`,
		`host|private|loopback|resolve|allow`),
	words("secrets", `password|token|secret`, `password|token|secret|select \*`,
		`hash|compare|hmac|digest|omit|redact`),
	words("logging", `audit|log`, `update|insert|delete|log`, `log|audit|event|history`),
	words("time zones", `time ?zone|local (time|day)|midnight`, `date|time|now`,
		`time ?zone|zone|utc|tz|location`),
	words("rounding", `round|cent|minor unit`, `amount|price|total|sum`,
		`round|cent|numeric|floor|ceil|trunc`),
}

// words returns a demand.
func words(matter, requirement, touches, words string) demand {
	return demand{matter, regexp.MustCompile(`(?i)` + requirement), anyOf(touches), anyOf(words)}
}

// anyOf is an expression's MatchString. Most of its alternatives are plain words, which
// strings.Contains finds twenty times as fast.
func anyOf(expression string) func(string) bool {
	var literals, others []string
	for _, a := range strings.Split(expression, "|") {
		if a == regexp.QuoteMeta(a) {
			literals = append(literals, a)
		} else {
			others = append(others, a)
		}
	}
	other := regexp.MustCompile(strings.Join(others, "|"))
	return func(s string) bool {
		return slices.ContainsFunc(literals,
			func(l string) bool { return strings.Contains(s, l) }) ||
			len(others) > 0 && other.MatchString(s)
	}
}

// A constantControl is a reviewer that answers the same to every case.
type constantControl struct {
	name    string
	verdict audit.Label
}

// reviewControls are the controls that judge cases.
var reviewControls = []audit.Reviewer{
	wordsControl{},
	constantControl{"control-nothing", audit.Good},
	constantControl{"control-everything", audit.Bad},
}

// Name returns "control-nothing" or "control-everything".
func (c constantControl) Name() string { return c.name }

// Review returns the control's verdict.
func (c constantControl) Review(ctx context.Context, _ audit.ReviewTask) (audit.Review, error) {
	if err := ctx.Err(); err != nil {
		return audit.Review{Status: audit.Errored, Detail: err.Error()}, nil
	}
	const why = "the control says so of everything"
	return audit.Review{Status: audit.Answered, Verdict: c.verdict, Explanation: why, Raw: why}, nil
}
