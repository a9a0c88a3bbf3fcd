package sqlreview

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// A spec is what the SPEC's text says: the schema, the requirements, the
// conventions for parameters.
type spec struct {
	sch       *schema
	prompt    string
	reqs      []*requirement
	tenants   []string        // tenant columns, the likeliest first
	root      string          // the tenants' own table
	actors    map[string]bool // parameters that name who acts
	scopeP    map[string]bool // parameters that name the tenant
	params    map[string]bool // every parameter that the SPEC names
	session   map[string]bool // parameters that the server fills
	grants    []grantTable
	helpers   map[string]helper
	masters   map[string]bool   // roles that may do whatever others may
	actorOf   map[string]string // tables of those whom the parameters of the session name
	defs      []definition
	people    map[string]bool // tables whose rows act: a parameter of the session holds their key
	holes     holeRule
	safeHoles map[string]bool // ${...} that hold what the server chose
}

type holeRule uint8

const (
	holesUnsaid holeRule = iota
	holesPasted
	holesBound
)

// A requirement is one numbered item with what it speaks of.
type requirement struct {
	n      int
	text   string
	low    string
	acts   string // low without the names of tables, which may look like verbs (reading)
	stems  map[string]bool
	plain  map[string]bool // stems of what stands outside of backticks
	spans  []string        // what stands in backticks
	tables map[string]bool // tables that it names
	named  map[string]bool // tables that it names in backticks
	cols   []colRef
	values []string // enum values
	firm   []string // those of them that stand in backticks or quotes
	nums   []int
	conds  []*expr // conditions in backticks
	kinds  map[kindOf]bool

	objects map[string]bool // memo of reviewer.objects
	sents   []*requirement  // its sentences
	parts   []*requirement  // clauses with roles of their own; itself when there is one
}

type colRef struct{ table, col string }

// A kindOf is what a requirement demands.
type kindOf string

const (
	kInjection kindOf = "injection"
	kTenant    kindOf = "tenant"
	kSoft      kindOf = "soft delete"
	kSecret    kindOf = "sensitive columns"
	kLimit     kindOf = "limit"
	kPerm      kindOf = "permission"
	kState     kindOf = "state"
	kTime      kindOf = "time"
	kAudit     kindOf = "audit"
	kVersion   kindOf = "version"
	kGroup     kindOf = "group size"
	kSelf      kindOf = "separation of duties"
	kBound     kindOf = "threshold"
	kOnce      kindOf = "once"
	kGrant     kindOf = "grant in force"
	kDay       kindOf = "day of a zone"
	kPattern   kindOf = "search pattern"
	kOrder     kindOf = "order"
	kAuthor    kindOf = "author"
	kRace      kindOf = "race"
	kShape     kindOf = "shape of the code"
)

var (
	headRE   = regexp.MustCompile(`(?m)^#{1,6}[ \t]+(.*)$`)
	itemRE   = regexp.MustCompile(`^[ \t]{0,3}(\d{1,3})[.)][ \t]+(.*)$`)
	spanRE   = regexp.MustCompile("`([^`\n]+)`")
	numRE    = regexp.MustCompile(`\b\d[\d,_]*\b`)
	paramRE  = regexp.MustCompile(`(?:^|[^:\w]):([a-z_][a-z0-9_]*)|(\$\d+)\b|\$\{([^}]+)\}|current_setting\('([^']+)'|@([a-z_][a-z0-9_]*)|\b(p_[a-z0-9_]+)`)
	quotedRE = regexp.MustCompile(`['"“‘]([A-Za-z_][A-Za-z0-9_ -]*)['"”’]`)
)

// maxSpec and maxItem are the lengths, in bytes, up to which a SPEC and one of its
// requirements are read.
const (
	maxSpec = 1 << 18
	maxItem = 4000
)

// readSpec reads the Prompt section of a SPEC.
func readSpec(text string) *spec {
	text = strings.ToValidUTF8(text[:min(len(text), maxSpec)], "?")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	s := &spec{sch: readSchema(text), prompt: unwrap(text), actors: map[string]bool{}, scopeP: map[string]bool{}, params: map[string]bool{}}
	s.findSession()
	s.findHelpers()
	s.findPeople()
	s.findDefinitions()
	for _, it := range requirementItems(text) {
		s.reqs = append(s.reqs, s.readRequirement(it.n, it.text))
	}
	s.findTenants()
	s.findParams()
	s.shareSession()
	s.findSessionFunctions(text)
	s.findActorTables()
	s.findHoleRule()
	s.findSafeHoles()
	for _, r := range s.reqs {
		s.classify(r)
	}
	s.settle()
	s.findGrants()
	for _, r := range s.reqs {
		r.sents = s.sentencesOf(r)
		r.parts = s.clauses(r)
	}
	s.findMasters()
	s.findAuthority()
	return s
}

type numbered struct {
	n    int
	text string
}

// requirementItems gives the numbered items below the heading that speaks of
// requirements; without one, the longest numbered list.
func requirementItems(text string) []numbered {
	body := ""
	for _, m := range headRE.FindAllStringSubmatchIndex(text, -1) {
		h := strings.ToLower(text[m[2]:m[3]])
		if strings.Contains(h, "requirement") || strings.Contains(h, "security rules") || strings.Contains(h, "security") && body == "" {
			body = text[m[1]:]
		}
	}
	items := listItems(body)
	if len(items) < 3 {
		if loose := listItems(plainNumbers(body)); len(loose) > len(items) {
			return loose
		}
	}
	if len(items) > 0 {
		return items
	}
	return listItems(text)
}

var looseItemRE = regexp.MustCompile(`^[ \t]*(?:[-*+][ \t]+)?(?:#{2,6}[ \t]+)?(\*\*)?(?:(?:R|SR|S|REQ|Req|Requirement|Rule)[ -]?)?(\d{1,3})(?:[.):]|[ \t]*[—–-]|(\*\*))[ \t]*(.*)$`)

// plainNumbers rewrites numbers that are part of bold type or of headings ("**1. Title.**
// text", "### R1: Title") as those of a list, each with the paragraphs that follow it.
func plainNumbers(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		m := looseItemRE.FindStringSubmatch(line)
		switch {
		case m != nil && m[1] != "" && m[3] == "":
			b.WriteString(m[2] + ". **" + m[4] + "\n")
		case m != nil && m[1] != "":
			b.WriteString(m[2] + ". " + strings.TrimLeft(m[4], ":. ") + "\n")
		case m != nil && strings.HasPrefix(strings.TrimSpace(line), "#"):
			b.WriteString(m[2] + ". **" + m[4] + ".** \n")
		case m != nil:
			b.WriteString(m[2] + ". " + m[4] + "\n")
		case strings.TrimSpace(line) != "":
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func listItems(text string) []numbered {
	var best, cur []numbered
	flush := func() {
		if len(cur) > len(best) {
			best = cur
		}
		cur = nil
	}
	blank, fenced := false, false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if m := itemRE.FindStringSubmatch(line); m != nil && !fenced {
			n, _ := strconv.Atoi(m[1])
			if len(cur) > 0 && n <= cur[len(cur)-1].n {
				if n == 1 && cur[len(cur)-1].n != 1 {
					flush()
				} else { // "1." repeated: Markdown counts itself
					n = cur[len(cur)-1].n + 1
				}
			}
			cur = append(cur, numbered{n, m[2]})
			blank = false
			continue
		}
		switch {
		case strings.HasPrefix(line, "#"):
			flush()
		case strings.TrimSpace(line) == "":
			blank = true
		case len(cur) > 0 && (!blank || strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "-")):
			cur[len(cur)-1].text += " " + strings.TrimSpace(line)
		}
	}
	flush()
	return best
}

func (s *spec) readRequirement(n int, text string) *requirement {
	text = strings.ToValidUTF8(text[:min(len(text), maxItem)], "?")
	r := &requirement{n: n, text: text, low: strings.ToLower(text), stems: map[string]bool{}, tables: map[string]bool{}, named: map[string]bool{}, kinds: map[kindOf]bool{}}
	r.acts = s.withoutTables(r.low)
	list := stemsOf(text)
	for _, w := range list {
		r.stems[w] = true
	}
	r.plain = map[string]bool{}
	for _, w := range stemsOf(spanRE.ReplaceAllString(text, " ")) {
		r.plain[w] = true
	}
	for _, m := range spanRE.FindAllStringSubmatch(text, -1) {
		r.spans = append(r.spans, m[1])
		s.readSpan(r, m[1])
	}
	for _, t := range s.sch.order {
		if r.named[t.name] || hasRun(list, t.name) {
			r.tables[t.name] = true
		}
		for _, c := range t.cols {
			if strings.Contains(c.name, "_") && !strings.HasSuffix(c.name, "_id") && hasRun(list, c.name) {
				r.addCol("", c.name)
			}
		}
	}
	for _, m := range numRE.FindAllString(text, -1) {
		if v, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(m)); err == nil {
			r.nums = append(r.nums, v)
		}
	}
	r.values = s.enumValues(text, list)
	for _, v := range r.values {
		for _, q := range [...]string{"`" + v + "`", "'" + v + "'", "\"" + v + "\""} {
			if strings.Contains(text, q) {
				r.firm = append(r.firm, v)
				break
			}
		}
	}
	return r
}

// withoutTables blanks the words that are names of tables or their plurals.
func (s *spec) withoutTables(low string) string {
	return wordRE.ReplaceAllStringFunc(low, func(w string) string {
		if s.sch.tables[w] != nil || s.sch.tables[strings.TrimSuffix(w, "s")] != nil {
			return strings.Repeat("_", len(w)) // offsets stay those of low
		}
		return w
	})
}

func (r *requirement) addCol(table, col string) {
	for _, c := range r.cols {
		if c.col == col && (c.table == table || c.table == "" || table == "") {
			return
		}
	}
	r.cols = append(r.cols, colRef{table, col})
}

// readSpan reads one backticked text: a table, a column, table.column, or a
// condition over columns.
func (s *spec) readSpan(r *requirement, span string) {
	p := newParser(span, 0)
	hasOp := false
	for i, t := range p.toks {
		if t.kind == tOp || t.kind == tIdent && (t.text == "is" || t.text == "in" || t.text == "between") {
			hasOp = true
		}
		if t.kind != tIdent && t.kind != tQuoted {
			continue
		}
		if s.sch.tables[t.text] != nil {
			if i+2 < len(p.toks) && p.toks[i+1].text == "." && s.sch.tables[t.text].column(p.toks[i+2].text) != nil {
				r.addCol(t.text, p.toks[i+2].text)
			}
			r.named[t.text] = true
		}
		if i >= 2 && p.toks[i-1].text == "." && s.sch.tables[p.toks[i-2].text] != nil {
			continue
		}
		for _, tab := range s.sch.order {
			if tab.column(t.text) != nil {
				r.addCol("", t.text)
				break
			}
		}
	}
	if hasOp {
		e := p.expr()
		if p.eof() && len(p.broken) == 0 {
			r.conds = append(r.conds, e)
		}
	}
}

func (s *spec) enumValues(text string, list []string) []string {
	seen := map[string]bool{}
	var out []string
	add := func(v string) {
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	quoted := map[string]bool{}
	for _, m := range spanRE.FindAllStringSubmatch(text, -1) {
		quoted[strings.Trim(m[1], "'\"")] = true
		for _, q := range quotedRE.FindAllStringSubmatch(m[1], -1) {
			quoted[q[1]] = true
		}
	}
	for _, m := range quotedRE.FindAllStringSubmatch(text, -1) {
		quoted[m[1]] = true
	}
	plain := spanRE.ReplaceAllString(text, " ")
	words := stemsOf(plain)
	for _, t := range s.sch.order {
		for _, c := range t.cols {
			for _, v := range c.enum {
				if quoted[v] || len(v) > 3 && (strings.Contains(v, "_") && hasRun(list, v) || hasRun(words, v) && containsWord(strings.ToLower(plain), strings.ReplaceAll(v, "_", " "))) {
					add(v)
				}
			}
		}
	}
	out = s.shortValues(words, out)
	sort.Strings(out)
	return out
}

// shortValues adds the short values (out, new) of a column of which the text names two
// others.
func (s *spec) shortValues(words, out []string) []string {
	for _, t := range s.sch.order {
		for _, c := range t.cols {
			n := 0
			for _, v := range c.enum {
				if contains(out, v) {
					n++
				}
			}
			for _, v := range c.enum {
				if n >= 2 && isStateCol(c) && !contains(out, v) && contains(words, stem(v)) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}
