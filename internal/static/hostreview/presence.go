package hostreview

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var (
	positiveRE = regexp.MustCompile(`(?i)\b(positive|greater than zero|above zero|non-negative|not negative|at least (one|1))\b`)
	amountRE   = regexp.MustCompile(`(?i)(amount|cents|quantity|qty|price|total|units|sum|hours|minutes|seats|count|value|points|credits)$|^(n|cents|amount|qty)$`)
)

// positive: an amount that the request names is compared with zero or one.
func positive(v *view, r Requirement) *Breach {
	if !v.b.asks(positiveRE, r) || v.change() == nil {
		return nil
	}
	for _, m := range bodyField.FindAllStringSubmatch(v.text, -1) {
		name := m[3]
		if !amountRE.MatchString(name) || !v.speaksOf(r.Text) {
			continue
		}
		p := `\w*` + regexp.QuoteMeta(strings.ToLower(name)) + `\w*["'\]]*\)*`
		for local, ys := range v.values { // what the code calls it from there on
			for _, y := range ys {
				if t := v.f.Text(y); strings.Contains(t, m[0]) {
					p += `|\b` + regexp.QuoteMeta(local) + `\b`
				}
			}
		}
		if expr(`(?i)(` + p + `)\s*(<=?\s*[01]\b|>\s*0\b|>=\s*1\b)|\b[01]\s*(<=?|>=?)\s*(` + p + `)|positive|\bge=1|\bgt=0|min\(1\)|\b(max|clamp)\(`).MatchString(v.text) {
			continue
		}
		for _, s := range v.sql {
			if expr(`(?i):\w+\s*(::\w+)?\s*>\s*0`).MatchString(s.text) {
				return nil
			}
		}
		return &Breach{Why: "requirement " + itoa(r.Number) + ": " + name + " comes from the request and is nowhere held to be positive", CWEs: []audit.CWE{20, 840}, Confidence: 0.65}
	}
	return nil
}

var (
	spanOfRE = regexp.MustCompile(`(?i)\b(expir\w*|valid|until|lifetime|no longer than|after|before|while|open|clos\w+|deadline|between|up to|hours?|minutes?|days?|window)\b`)
	endCol   = regexp.MustCompile(`(?i)expir|valid_(until|to|till)|not_after|(^|_)(until|deadline|closes|ends|closing|ending|cutoff)(_(at|on))?$`)
	onceCol  = regexp.MustCompile(`(?i)^(used|redeemed|consumed|revoked|spent|claimed)(_at|_on)?$|^(is_)?(used|revoked|redeemed|consumed)$`)
	onceReq  = regexp.MustCompile(`(?i)\bonce\b|\b(one|single)[- ]?(use|time)\b|revok|used (up|already|before)|already used`)
)

// expired: a row that is good for a time only is found with a look at its end, and one
// that is good once, or until it is revoked, with a look at that.
func expired(v *view, r Requirement) *Breach {
	for _, s := range v.sql {
		if expr(`(?i)^\s*insert`).MatchString(s.text) || !oneRE.MatchString(s.text) && !uniqueRE.MatchString(s.text) && !codeRE.MatchString(s.text) {
			continue
		}
		for _, t := range slices.Sorted(maps.Keys(v.b.tables)) {
			cols := v.b.tables[t]
			if !expr(`(?i)\b(from|join|update)\s+`+regexp.QuoteMeta(t)+`\b`).MatchString(s.text) || !v.b.topic(r, t, cols) {
				continue
			}
			for _, c := range cols {
				timed, once := endCol.MatchString(c) && v.b.asks(spanOfRE, r), onceCol.MatchString(c) && v.b.asks(onceReq, r)
				if (timed || once) && !v.b.expires(r, t, c, s.text) {
					continue
				}
				if !timed && !once || v.lookedAt(c) || expr(`(?i)\bset\b[^;]*?\b`+c+`\s*=`).MatchString(s.text) && !once {
					continue
				}
				return &Breach{Why: "requirement " + itoa(r.Number) + ": a row of " + t + " is used without a look at its " + c, CWEs: []audit.CWE{613, 672}, Confidence: 0.7}
			}
		}
	}
	return nil
}

// expires: one sentence speaks of the table's rows and of the column's matter, and the
// rows are such as open something: they have no life of their own, or are found by a
// token.
func (b *brief) expires(r Requirement, table, col, sql string) bool {
	all := sentencesOf(r.Text)
	if len(all) < 3 {
		return true
	}
	if b.lives(table) && !uniqueRE.MatchString(sql) {
		return false
	}
	for _, part := range all {
		if strings.Contains(part, "`"+col+"`") || b.namesRows(part, table) && (endCol.MatchString(col) && spanOfRE.MatchString(part) || onceCol.MatchString(col) && onceReq.MatchString(part)) {
			return true
		}
	}
	return false
}

// lives: the rows of a table have states of their own: their times say something about
// them and not whether they count.
func (b *brief) lives(table string) bool {
	for _, c := range b.tables[table] {
		if stateCol.MatchString(c) {
			return true
		}
	}
	return false
}

var codeRE = regexp.MustCompile(`(?i)\bwhere\b[\s\S]*?\b(\w+\.)?code\s*=\s*:arg`)

// topic: a requirement is about the rows of a table: it names one of the columns that
// only this table has, or its noun.
func (b *brief) topic(r Requirement, table string, cols []string) bool {
	for _, m := range spanRE.FindAllStringSubmatch(r.Text, -1) {
		if slices.Contains(cols, m[1]) && (endCol.MatchString(m[1]) || onceCol.MatchString(m[1])) {
			return true
		}
	}
	all := roots(table)
	if len(all) == 0 {
		return false
	}
	for _, w := range roots(spanRE.ReplaceAllString(r.Text, " ")) {
		if meet(w, all[len(all)-1]) || all[0] != all[len(all)-1] && len(all[0]) > 4 && meet(w, all[0]) && strings.Contains(strings.ToLower(r.Text), "token") {
			return true
		}
	}
	return false
}

// lookedAt: a column is part of a condition, in a statement or in the code.
func (v *view) lookedAt(col string) bool {
	c := namePattern(col)
	cmp := expr(`(?is)\b` + c + `\b\s*(<|>|=|!=|is\b|between\b|-|\+)|(<|>|=|between|and)\s*\(?(\w+\.)?` + c + `\b|(isnull|coalesce|not|overlaps|range)\W+(\w+\.)?` + c + `\b`)
	for _, s := range v.sql {
		for _, m := range condRE.FindAllString(s.text, -1) {
			if cmp.MatchString(m) {
				return true
			}
		}
	}
	return v.usedInCondition(col)
}

var condRE = regexp.MustCompile(`(?is)\b(where|on|when|having)\b.*`)

// usedInCondition: the code outside of the statements mentions the column in a
// condition, or gives it to a function.
func (v *view) usedInCondition(col string) bool {
	names := namePattern(col)
	for local, ys := range v.values {
		for _, y := range ys {
			if expr(`(?i)\b`+names+`\b`).MatchString(v.f.Text(y)) && y.To-y.Off < 200 && !v.sends(y) {
				names += "|" + regexp.QuoteMeta(local)
			}
		}
	}
	short := regexp.QuoteMeta(strings.TrimSuffix(strings.TrimSuffix(col, "_at"), "_on"))
	if len(short) > 3 {
		names += "|" + short
	}
	return expr(`(?i)(\bif\b|\bunless\b|\bwhen\b|[<>!]|&&|\|\||\band\b|\bor\b|\bnot\b)[^\n]*\b(` + names + `)\b|\b(` + names + `)\b["'\])]*\s*(<|>|!|&&|\|\||\?|\.(is)?(Before|After)|\band\b|\bor\b|-\s)`).MatchString(v.outsideSQL())
}

// sends: the expression sends a statement.
func (v *view) sends(y *lang.Node) bool {
	for _, s := range v.sql {
		if holds(y, s.call) {
			return true
		}
	}
	return sqlRE.MatchString(v.sqlText(y, 0))
}

var aboutFiles = regexp.MustCompile(`(?i)\b(upload\w*|files?|documents?|images?|photos?|pictures?|attachments?|scans?)\b`)
var takesFiles = regexp.MustCompile(`(?i)multipart|\breq\.files?\b|request\.files|FormFile|UploadFile|getPart\(|multer|upload\.(single|array)|\$_FILES`)

// unrelated: a demand about uploads says nothing of code that takes none.
func (v *view) unrelated(d *demand, r Requirement) bool {
	return strings.HasPrefix(d.ID, "upload") && aboutFiles.MatchString(r.Text) && !takesFiles.MatchString(v.text)
}
