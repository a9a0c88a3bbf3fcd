// Package sqlreview judges a piece of PostgreSQL against the text of a SPEC: its
// schema and its numbered security requirements. It knows no application: what a
// requirement demands is read from its words.
//
// The way of a review: [Review] reads the SPEC (spec.go, schema.go, classify.go),
// finds the SQL in the code (host.go), parses it (lex.go, parse*.go), works out
// which rows each part reads, writes and gives out and which facts hold for them
// (analyse.go, assume.go, dml.go, routine.go, facts.go), and asks for each
// requirement whether those facts meet it (rules_*.go).
//
// Facts are sound for what they cover: an OR gives only what all its branches give,
// a LEFT JOIN's ON says nothing about its left side, NOT EXISTS nothing about
// anything, and a window's input is not filtered by what stands outside.
package sqlreview

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"assay/audit"
)

// maxCode is the length, in bytes, up to which code is read; what is beyond is
// ignored and said.
const maxCode = 1 << 20

// A violation is one requirement that the code does not meet.
type violation struct {
	req  int
	kind kindOf // of the demand that is not met
	cwe  []audit.CWE
	conf float64 // how sure the rule is that this is one, 0 to 1
	pos  int
	why  string
	form string // what why says, without the names
	args []any  // the names
}

type reviewer struct {
	s     *spec
	a     *analysis
	code  string
	found []violation
	notes []string // what could not be decided
	shows map[*inst]bool
	kind  kindOf // that is being judged
	seen  map[string]bool
}

// Review judges code against spec, the SPEC's Prompt section in Markdown. code is
// PostgreSQL, or host code that holds it in strings. The review's Status is
// Answered unless there is no code at all (Errored); Confidence is 0 to 1, and at
// most 0.5 where the answer is no more than a guess. Review never panics and its
// time is bounded for any input.
func Review(spec, code string) (rev audit.Review) {
	if strings.TrimSpace(code) == "" {
		return audit.Review{Status: audit.Errored, Detail: "no code to review: expected a statement, a function or a fragment"}
	}
	defer func() {
		if p := recover(); p != nil {
			rev = audit.Review{Status: audit.Answered, Verdict: audit.Bad, Confidence: 0.01,
				Explanation: fmt.Sprintf("The reviewer failed on this code (%v); this verdict is a guess.", p)}
		}
	}()
	r, broken := inspect(specOf(spec), code)
	return r.answer(broken)
}

// inspect judges code and gives the reviewer with what it found, and how many places
// of the code were not understood.
func inspect(s *spec, code string) (r *reviewer, broken int) {
	r = &reviewer{s: s, seen: map[string]bool{}}
	if len(code) > maxCode {
		r.notes = append(r.notes, fmt.Sprintf("only the first %d bytes of %d were read", maxCode, len(code)))
		code = code[:maxCode]
	}
	r.code = code
	sql := extract(code)
	stmts, lost := parse(sql)
	r.a = analyse(r.s.sch, sql, stmts)
	if len(lost) > 0 {
		l, c := newPlaces(code).at(lost[0])
		r.notes = append(r.notes, fmt.Sprintf("not understood at %d:%d", l, c))
	}
	r.judge()
	if r.a.spent {
		r.notes = append(r.notes, "the code is larger than the reviewer's bound of work: parts of it were not decided")
	}
	return r, len(lost)
}

// add notes a violation of requirement req (0: of none that is numbered) once.
func (r *reviewer) add(req int, conf float64, pos int, cwe []audit.CWE, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	key := fmt.Sprint(req, why)
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	r.found = append(r.found, violation{req: req, kind: r.kind, conf: conf, pos: pos, cwe: cwe, why: why, form: format, args: args})
}

func (r *reviewer) answer(broken int) audit.Review {
	rev := audit.Review{Status: audit.Answered, Verdict: audit.Good}
	sort.SliceStable(r.found, func(i, j int) bool { return r.found[i].conf > r.found[j].conf })
	pl := newPlaces(r.code)
	var b strings.Builder
	reqs, cwes := map[int]bool{}, map[audit.CWE]bool{}
	for _, v := range r.found {
		if v.conf < 0.5 {
			l, c := pl.at(v.pos)
			r.notes = append(r.notes, fmt.Sprintf("requirement %d may be violated at %d:%d: %s", v.req, l, c, v.why))
			continue
		}
		rev.Verdict = audit.Bad
		rev.Confidence = max(rev.Confidence, v.conf)
		l, c := pl.at(v.pos)
		if v.req > 0 {
			fmt.Fprintf(&b, "Requirement %d is violated at %d:%d: %s.\n", v.req, l, c, v.why)
			if !reqs[v.req] {
				reqs[v.req] = true
				rev.Violates = append(rev.Violates, v.req)
			}
		} else {
			fmt.Fprintf(&b, "At %d:%d: %s.\n", l, c, v.why)
		}
		for _, w := range v.cwe {
			if !cwes[w] {
				cwes[w] = true
				rev.CWEs = append(rev.CWEs, w)
			}
		}
	}
	sort.Ints(rev.Violates)
	if rev.Verdict == audit.Good {
		rev.Confidence = r.goodConfidence(broken)
		fmt.Fprintf(&b, "No requirement was found violated (%d read).\n", len(r.s.reqs))
	}
	for i, n := range r.notes {
		if i == 5 {
			break
		}
		fmt.Fprintf(&b, "Undecided: %s.\n", n)
	}
	rev.Explanation = strings.TrimSpace(b.String())
	return rev
}

// goodConfidence: the less was read and understood, the less a silence says.
func (r *reviewer) goodConfidence(broken int) float64 {
	c := 0.8
	if len(r.s.reqs) == 0 || len(r.s.sch.order) == 0 {
		c = 0.3
	}
	if len(r.a.insts) == 0 || r.a.opaque {
		c = min(c, 0.35)
	}
	if broken > 0 {
		c = min(c, 0.4)
	}
	for _, v := range r.found {
		c = min(c, 1-v.conf)
	}
	if len(r.notes) > 0 {
		c = min(c, 0.5)
	}
	return c
}

// judges has a rule for each kind of demand, in the order in which they are tried.
var judges = []struct {
	kind kindOf
	rule func(*reviewer, *requirement)
}{
	{kTenant, (*reviewer).tenancy}, {kSoft, (*reviewer).softDelete}, {kSecret, (*reviewer).secrets}, {kLimit, (*reviewer).limits},
	{kState, (*reviewer).states}, {kPerm, (*reviewer).permissions}, {kSelf, (*reviewer).selfDecisions}, {kBound, (*reviewer).thresholds},
	{kOnce, (*reviewer).once}, {kTime, (*reviewer).times}, {kAudit, (*reviewer).audits}, {kVersion, (*reviewer).versions},
	{kGroup, (*reviewer).groupSizes}, {kPattern, (*reviewer).patterns}, {kOrder, (*reviewer).orders}, {kAuthor, (*reviewer).authors},
}

func (r *reviewer) judge() {
	r.kind = kInjection
	r.injection()
	r.grantsInForce()
	r.days()
	r.races()
	for _, q := range r.s.reqs {
		for _, j := range judges {
			if q.kinds[j.kind] {
				r.kind = j.kind
				j.rule(r, q)
			}
		}
	}
	r.shapes()
	r.settleRemarks()
}

// specs keeps the SPECs that were read last: a run reviews many cases against few of
// them, and reading one costs more than a review. A spec is not changed once read.
var specs struct {
	sync.Mutex
	m map[string]*spec
}

func specOf(text string) *spec {
	specs.Lock()
	s := specs.m[text]
	specs.Unlock()
	if s != nil {
		return s
	}
	s = readSpec(text)
	specs.Lock()
	if specs.m == nil || len(specs.m) > 32 {
		specs.m = map[string]*spec{}
	}
	specs.m[text] = s
	specs.Unlock()
	return s
}
