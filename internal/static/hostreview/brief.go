package hostreview

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"assay/internal/static/sqlreview"
)

// A Requirement is one numbered demand of a SPEC.
type Requirement struct {
	Number int
	Text   string
}

// A helper is a function that the SPEC describes.
type helper struct {
	name string
	args string
	doc  string
	gate bool // it answers or refuses: what is asked for is allowed or not
	load bool // it brings one thing by its identifier, whoever asks
}

// A brief is what a SPEC says of host code.
type brief struct {
	asked   *sync.Map // memo of asks, shared by the fragments of a SPEC
	long    bool      // memo of countWords
	spec    string
	reqs    []Requirement
	helpers map[string]*helper
	roles   map[string]bool
	nouns   map[string]bool // roots of tables, columns and types: the things, not the acts
	tables  map[string][]string
	tenant  string
	known   map[string]bool // memo of states
	inPath  string          // memo of view.pathTenant
	before  string          // memo of prose
	apart   int             // memo of tenancy, -1 until it is asked
}

var (
	headRE  = regexp.MustCompile(`(?mi)^#{1,6}\s+.*\b(security )?(requirements|rules)\b.*$`)
	itemRE  = regexp.MustCompile(`^\s{0,3}(\d+)[.)]\s+(.*)$`)
	funcRE  = regexp.MustCompile("(?m)^[ \\t]*(?:[-*+][ \\t]+)?`?(?:export |async |public |static |private )*(?:def |func |function )?(?:\\([^)\\n]*\\)[ \\t]*)?(?:[a-z]\\w*\\.)*([A-Za-z_]\\w*)\\(([^)\\n]*)\\)([^\\n]*)$")
	spanRE  = regexp.MustCompile("`([^`\n]+)`")
	gateRE  = regexp.MustCompile(`(?i)\bbool(ean)?\b|\btrue\b|(throws|raises)[^.;]*(unless|if|when|forbidden|denied|unauthori)|refuses|forbidden|\bdenies|aborts|rejects|403|401|unless|whether|verifies|ensures|validates`)
	callRE  = regexp.MustCompile("`(?:[a-z]\\w*\\.)*([A-Za-z_]\\w*)\\(([^)`\n]*)\\)`([^`\n]*(?:`[^`(\n]*`[^`\n]*)*)")
	bringRE = regexp.MustCompile(`(?i)no checks|by (its |primary )?(key|id)\b|does not (check|look)|without (any )?check|returns (a|the|an) |->\s*\*?[A-Z]|Promise<`)
	roleRE  = regexp.MustCompile(`(?i)\broles?\b|requireRole|has_role|grade|\blevel\b`)
	wordRE  = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)
	litRE   = regexp.MustCompile("[`'\"]([a-z][a-z0-9_-]{2,30})[`'\"]")
	typeRE  = regexp.MustCompile(`(?m)^\s*(?:class|type|interface|record|struct)\s+([A-Z]\w+)`)
)

// ReadRequirements reads the numbered list under the heading that speaks of
// requirements; lines that continue an item belong to it.
func ReadRequirements(spec string) []Requirement {
	locs := headRE.FindAllStringIndex(spec, -1)
	if len(locs) == 0 {
		return nil
	}
	var out []Requirement
	for _, l := range strings.Split(spec[locs[len(locs)-1][1]:], "\n") {
		l = strings.TrimRight(l, "\r")
		if strings.HasPrefix(l, "#") {
			break
		}
		if m := itemRE.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(m[1])
			out = append(out, Requirement{n, m[2]})
			continue
		}
		if len(out) > 0 && strings.TrimSpace(l) != "" {
			out[len(out)-1].Text += " " + strings.TrimSpace(l)
		}
	}
	return out
}

var plainName = regexp.MustCompile(`^\w+$`)

// plainNames leaves out tables and columns whose names are no plain words: names become
// parts of expressions here.
func plainNames(tables map[string][]string) map[string][]string {
	out := map[string][]string{}
	for t, cols := range tables {
		if !plainName.MatchString(t) {
			continue
		}
		for _, c := range cols {
			if plainName.MatchString(c) {
				out[t] = append(out[t], c)
			}
		}
	}
	return out
}

// briefs keeps the last SPEC that was read: fragments come in rows.
var briefs struct {
	sync.Mutex
	last *brief
}

// readBrief gives what a SPEC says. The maps of a brief are not changed afterwards; what
// it remembers beside them is each fragment's own.
func readBrief(spec string) *brief {
	briefs.Lock()
	defer briefs.Unlock()
	if briefs.last == nil || briefs.last.spec != spec {
		briefs.last = newBrief(spec)
		briefs.last.tenancy()
		briefs.last.long = briefs.last.countWords()
	}
	b := *briefs.last
	return &b
}

// An asking is whether a requirement's words match an expression.
type asking struct {
	re  *regexp.Regexp
	req int
}

// asks says whether a requirement's words match an expression, which it remembers for
// the other fragments of the SPEC.
func (b *brief) asks(re *regexp.Regexp, r Requirement) bool {
	if b.asked == nil {
		return re.MatchString(r.Text)
	}
	key := asking{re, r.Number}
	if yes, ok := b.asked.Load(key); ok {
		return yes.(bool)
	}
	yes := re.MatchString(r.Text)
	b.asked.Store(key, yes)
	return yes
}

func newBrief(spec string) *brief {
	b := &brief{asked: &sync.Map{}, spec: spec, reqs: ReadRequirements(spec), apart: -1, helpers: map[string]*helper{}, roles: map[string]bool{}, nouns: map[string]bool{},
		tables: plainNames(sqlreview.Names(spec)), tenant: sqlreview.TenantColumn(spec)}
	if !plainName.MatchString(b.tenant) {
		b.tenant = ""
	}
	if most := b.commonKey(); b.tenant == "" || most != "" && most != b.tenant && 2*b.having(b.tenant) <= b.having(most) {
		if b.tenant = most; most == "" {
			b.tenant = b.sharedColumn()
		}
	}
	prose := b.prose()
	for _, m := range funcRE.FindAllStringSubmatch(prose, -1) {
		if b.tables[m[1]] != nil {
			continue
		}
		b.help(m[1], m[2], m[3])
	}
	for _, m := range callRE.FindAllStringSubmatch(prose, -1) {
		if b.tables[m[1]] == nil && (b.helpers[m[1]] == nil || strings.Contains(b.helpers[m[1]].doc, "`"+m[1])) {
			b.help(m[1], m[2], m[3])
		}
	}
	for _, line := range expr(`\n|[.;]\s`).Split(spec, -1) {
		if !roleRE.MatchString(line) {
			continue
		}
		for _, m := range litRE.FindAllStringSubmatch(line, -1) {
			if b.helpers[m[1]] == nil && !b.column(m[1]) {
				b.roles[m[1]] = true
			}
		}
	}
	for t, cols := range b.tables {
		b.noun(t)
		for _, c := range cols {
			if !doneCol.MatchString(c) { // booked_by: an act left it there
				b.noun(c)
			}
		}
	}
	for _, m := range typeRE.FindAllStringSubmatch(prose, -1) {
		b.noun(m[1])
	}
	return b
}

var (
	doneCol  = regexp.MustCompile(`(ed|en)_(by|at|on)$`)
	nextCall = regexp.MustCompile("`(?:[a-z]\\w*\\.)*[A-Za-z_]\\w*\\(")
	// plumbing takes a request apart, answers it, or writes traces: it neither allows
	// anything nor brings a row.
	plumbing = regexp.MustCompile(`(?i)json|body|form$|args?$|query|param|parse|decode|idfrom|pathid|answer|respond|reply|fail|error|abort|\blog|audit|journal|record$|trail|^tx$|transaction|now$|today|hash|random|token$|norm|render`)
)

var gateName = regexp.MustCompile(`(?i)^(can|may|is|has|require|ensure|check|assert|must|authori[sz]e|verify|allow)`)

// help notes a function that the SPEC describes.
func (b *brief) help(name, args, doc string) {
	if at := nextCall.FindStringIndex(doc); at != nil {
		doc = doc[:at[0]] // what follows is said of another
	}
	h := &helper{name: name, args: args, doc: doc}
	if plumbing.MatchString(name) && !gateName.MatchString(name) {
		b.helpers[name] = h
		return
	}
	byID := expr(`(?i)id\b`).MatchString(args)
	h.load = loadRE.MatchString(name) && !outwardRE.MatchString(name) || byID && bringRE.MatchString(doc) && !gateName.MatchString(name) && !changeName.MatchString(name)
	h.gate = gateName.MatchString(name) || gateRE.MatchString(doc) && !h.load && !responseRE.MatchString(name) && !changeName.MatchString(name)
	b.helpers[name] = h
}

func (b *brief) column(name string) bool {
	for t, cols := range b.tables {
		if t == name {
			return true
		}
		for _, c := range cols {
			if c == name {
				return true
			}
		}
	}
	return false
}

func (b *brief) noun(name string) {
	for _, w := range roots(name) {
		b.nouns[w] = true
	}
}

// roots gives the roots of the words of a text or identifier.
func roots(s string) []string {
	var out []string
	for _, w := range wordRE.FindAllString(strings.ReplaceAll(s, "_", " "), -1) {
		for _, p := range humps(w) {
			if r := root(p); len(r) > 1 {
				out = append(out, r)
			}
		}
	}
	return out
}

// humps takes fooBarID apart.
func humps(w string) []string {
	var out []string
	from := 0
	up := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	for i := 1; i < len(w); i++ {
		if up(w[i]) && (!up(w[i-1]) || i+1 < len(w) && !up(w[i+1]) && w[i+1] != 's') {
			out = append(out, w[from:i])
			from = i
		}
	}
	return append(out, w[from:])
}

// root takes endings off, roughly: publishing, published and publishes meet.
func root(w string) string {
	w = strings.ToLower(w)
	for _, e := range []string{"ations", "ation", "ingly", "ings", "ing", "ied", "ies", "ers", "er", "als", "al", "ed", "es", "s", "e", "y"} {
		if strings.HasSuffix(w, e) && len(w)-len(e) >= 3 {
			w = strings.TrimSuffix(w, e)
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] && strings.IndexByte("tpnrdml", w[n-1]) >= 0 {
		w = w[:n-1]
	}
	return w
}

// meet: two roots are of one word.
func meet(a, b string) bool {
	if a == b {
		return true
	}
	n := min(len(a), len(b))
	return n >= 5 && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a)) && max(len(a), len(b))-n <= 2
}

var clauseRE = regexp.MustCompile(`[.;:]\s+|,\s+(?:and|but|or)\s+|,\s+(?:only|changed|confirming|deleting|the)\b`)

// clauses takes a requirement apart.
func (r Requirement) clauses() []string {
	var out []string
	from := 0
	for _, m := range clauseRE.FindAllStringIndex(r.Text, -1) {
		out = append(out, r.Text[from:m[0]])
		from = m[0] + 1
	}
	return append(out, r.Text[from:])
}

// acts gives the roots of a clause that say what is done: not the things, the roles
// or the words that every requirement has.
func (b *brief) acts(clause string) []string {
	var out []string
	for _, w := range roots(spanRE.ReplaceAllString(clause, " ")) {
		if len(w) < 3 || b.nouns[w] || common[w] || b.isRole(w) {
			continue
		}
		out = append(out, w)
	}
	return out
}

func (b *brief) isRole(w string) bool {
	for r := range b.roles {
		if meet(w, root(r)) {
			return true
		}
	}
	return false
}

var common = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`a an the and or not no only may must can could shall should will would be been being is are was were has have had
		do does did of to in on at by for from with without within into onto over under as if when while unless until before after than then that this these those
		it its their his her own owner user users request requests client clients caller person people someone somebody staff member members role roles permission permissions
		need needs require requires required requirement allow allowed allows access every each all any some other others another same one two once never always also
		who whom whose which what where how value values data row rows record records statement statements query queries code text input output result results
		response return returned returns given use used uses using via per set gets get put make made take taken go goes moves change changed changes modify modified
		write written writes read reads show shown see seen view list lists listed help helper function call called check checked checks server database table tables column
		session authenticated signed logged account identity type form field fields least most more less such so there reserved means still`) {
		m[root(w)] = true
	}
	return m
}()
