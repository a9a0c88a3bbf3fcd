package hostreview

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A rowDemand is one thing that a requirement asks of every statement, in words that
// package sqlreview reads without doubt: its long text may speak of five things, and
// what a statement is held to is one of them.
type rowDemand struct {
	req    int
	kind   string // of sqlreview: "tenant", "soft delete", "limit"
	text   string
	column string
	tables []string // that it is about; all when empty
}

// rowDemands reads what the SPEC asks of rows: that they are of the caller's tenant,
// that they are not marked as gone, that lists have an end.
func (b *brief) rowDemands() []rowDemand {
	var out []rowDemand
	if n := b.tenancy(); n > 0 && b.tenant != "" {
		text := "Users reach only rows of their own tenant (`" + b.tenant + "`), directly or through the row that they hang on."
		if eachTableRE.MatchString(b.text(n)) {
			text = "Every row that a statement reads, changes or joins belongs to the caller's own tenant: `" + b.tenant + "` is compared on every table that has it, including joined tables."
		}
		out = append(out, rowDemand{req: n, kind: "tenant", column: b.tenant, text: text})
	}
	for _, c := range b.goneColumns() {
		if n, tables := b.goneRequirement(c); n > 0 {
			out = append(out, rowDemand{req: n, kind: "soft delete", column: c, tables: tables,
				text: "Deleted rows (`" + c + "` is set) are treated as absent: they are never shown, counted or changed."})
		}
	}
	if n, most := b.listEnd(); n > 0 {
		out = append(out, rowDemand{req: n, kind: "limit", text: "A list returns at most " + strconv.Itoa(most) + " rows."})
	}
	return out
}

// eachTableRE: the text wants the tenant compared on each table, not on one of a join.
var eachTableRE = regexp.MustCompile(`(?i)\b(every|each|all) (joined |single )?(table|join|alias|side)s?\b|including (the )?join|joined tables`)

// text gives a requirement's words by its number.
func (b *brief) text(n int) string {
	for _, r := range b.reqs {
		if r.Number == n {
			return r.Text
		}
	}
	return ""
}

// prose is the SPEC without its requirements.
func (b *brief) prose() string {
	if b.before != "" {
		return b.before
	}
	b.before = b.spec
	if at := headRE.FindAllStringIndex(b.spec, -1); len(at) > 0 {
		b.before = b.spec[:at[len(at)-1][0]]
	}
	return b.before
}

// alone is the SPEC with one requirement only.
func (b *brief) alone(text string) string {
	return b.prose() + "\n## Security Requirements\n\n1. " + text + "\n"
}

var goneCol = regexp.MustCompile(`^(is_)?(soft_)?(deleted|archived|removed|erased|voided|discarded|trashed|withdrawn|retracted|struck|purged|buried|hidden|tombstoned?)(_at|_on|_ts|_flag)?$`)

// goneColumns gives the columns that mark rows as gone, in order.
func (b *brief) goneColumns() []string {
	seen := map[string]bool{}
	for _, cols := range b.tables {
		for _, c := range cols {
			if goneCol.MatchString(c) {
				seen[c] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

var (
	asGoneRE = regexp.MustCompile(`(?i)\b(absent|gone|invisible|out of sight|hidden|as if|not exist|disregard\w*|ignored?|exclud\w*|skip\w*|filtered|treated as|shown to nobody|not shown|never (shown|seen|return\w*|appear\w*|count\w*|list\w*|read|served)|not (be )?(shown|seen|returned|appear|counted|listed|read|served|visible|changed|acted)|no longer|nobody|counts for nothing|cannot|can not|can never)\b`)
	listsRE  = regexp.MustCompile(`(?i)\b(lists?|listings?|listed|rows?|results?|entries|entry|items?|records?|page|pages|answers?|hits)\b`)
	mostRE   = regexp.MustCompile(`(?i)\b(?:at most|no more than|not more than|never more than|up to|maximum(?: of)?|limit(?:ed)? (?:to|of)|capped at|more than|exceeds?|bounded (?:by|at)|\b1 (?:to|and|through)) (\d[\d,_]*)\b(?:\s+(\w+))?|\b(\d[\d,_]*) (?:rows|entries|items|records|results) (?:at most|or fewer|per|at once)`)
	unitOfRE = regexp.MustCompile(`(?i)^(second|minute|hour|day|week|month|year|character|letter|digit|byte|bit|kib|mib|kb|mb|percent|cent|euro|attempt|time|tries|failed|wrong)`)
)

// goneRequirement gives the requirement whose words make rows with a column set
// absent, and the tables that its sentence names, where they have the column.
func (b *brief) goneRequirement(col string) (int, []string) {
	words := []string{goneCol.ReplaceAllString(col, "$3")}
	words = append(words, b.termsFor(col)...)
	best, at := 0, 0
	var tables []string
	for _, r := range b.reqs {
		score := 0
		var named []string
		for _, part := range sentencesOf(r.Text) {
			says := strings.Contains(part, "`"+col+"`")
			for _, w := range words {
				says = says || hasWord(part, w)
			}
			if !says || !asGoneRE.MatchString(part) {
				continue
			}
			score++
			if everyRE.MatchString(part) {
				score++
			}
			for _, t := range b.tablesIn(part) {
				if contains(b.tables[t], col) {
					named = append(named, t)
				}
			}
		}
		if score > 0 && strings.Contains(r.Text, "`"+col+"`") {
			score += 2
		}
		for _, w := range words { // a title that says it
			if i := strings.Index(r.Text, "**."); i > 0 || strings.HasPrefix(r.Text, "**") {
				if score > 0 && hasWord(title(r.Text), w) {
					score += 3
				}
			}
		}
		if score > best {
			best, at, tables = score, r.Number, named
		}
	}
	return at, tables
}

// title gives the bold words that a requirement begins with.
func title(text string) string {
	if !strings.HasPrefix(text, "**") {
		return ""
	}
	t, _, _ := strings.Cut(text[2:], "**")
	return t
}

func hasWord(text, word string) bool {
	if word == "" {
		return false
	}
	for _, w := range roots(text) {
		if meet(w, root(word)) {
			return true
		}
	}
	return false
}

var termRE = regexp.MustCompile(`(?m)^\s*(?:[-*+|]\s+|\|\s*)?(?:\*\*|\*|_|"|“)([A-Za-z][A-Za-z '-]{2,30}?)\.?(?:\*\*|\*|_|"|”)\s*[:|–—-]?\s*(.*(?:\n[ \t]+\S.*)*)`)

// termsFor gives the words that the SPEC's glossary defines by a column.
func (b *brief) termsFor(col string) []string {
	var out []string
	for _, m := range termRE.FindAllStringSubmatch(b.prose(), -1) {
		first := sentencesOf(m[2])
		if len(first) > 0 && strings.Contains(first[0], "`"+col+"`") && len(strings.Fields(m[1])) == 1 {
			out = append(out, strings.ToLower(m[1]))
		}
	}
	return out
}

var sentenceEnd = regexp.MustCompile(`[.;:]\**\s+`)

// sentencesOf takes a text apart at its full stops and semicolons.
func sentencesOf(text string) []string {
	var out []string
	from := 0
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		if strings.HasSuffix(text[:m[0]], "e.g") || strings.HasSuffix(text[:m[0]], "i.e") {
			continue
		}
		out = append(out, text[from:m[0]])
		from = m[1]
	}
	return append(out, text[from:])
}

// tablesIn gives the tables that a sentence names: by their last noun, or both.
func (b *brief) tablesIn(part string) []string {
	words := roots(part)
	var out []string
	for _, t := range slices.Sorted(maps.Keys(b.tables)) {
		all := roots(t)
		if len(all) == 0 {
			continue
		}
		named := strings.Contains(part, "`"+t+"`")
		for i, w := range words {
			if !meet(w, all[len(all)-1]) {
				continue
			}
			if len(all) == 1 || i >= len(all)-1 && meet(words[i-len(all)+1], all[0]) {
				named = true
			}
		}
		if named {
			out = append(out, t)
		}
	}
	return out
}

// listEnd gives the requirement that bounds lists, and the bound.
func (b *brief) listEnd() (int, int) {
	best, at, most := 0, 0, 0
	for _, r := range b.reqs {
		for _, part := range sentencesOf(r.Text) {
			for _, m := range mostRE.FindAllStringSubmatch(part, -1) {
				if !listsRE.MatchString(part) && len(b.tablesIn(m[2])) == 0 {
					continue
				}
				num := m[1] + m[3]
				n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(num))
				if err != nil || n < 5 || unitOfRE.MatchString(m[2]) {
					continue
				}
				score := 1
				if expr(`(?i)\b(list|listing|lists|rows?|entries|page)\b`).MatchString(part) {
					score++
				}
				if expr(`(?i)\b(asks?|asked|client|every|any|all|whatever|no)\b`).MatchString(part) {
					score++
				}
				if score > best {
					best, at, most = score, r.Number, n
				}
			}
		}
	}
	return at, most
}
