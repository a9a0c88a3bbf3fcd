package hostreview

import (
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

var (
	spanNumRE = regexp.MustCompile(`(?i)\b(\d{1,4})[ -](second|minute|hour|day|week|month|year)s?\b`)
	countRE   = regexp.MustCompile(`(?i)\b(?:at most|no more than|never more than|not more than|up to) (\d{1,4}|one|two|three|four|five|six|ten) (?:[\w-]+ ){0,2}?([a-z]+s)\b`)
	numerals  = map[string]int{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}
	unitSecs  = map[string]int{"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400}
)

// bounds: a span of time, or a number of things, that a sentence holds a new row to
// stands somewhere in the code that makes one, in one unit or another.
func bounds(v *view, r Requirement) *Breach {
	for _, part := range sentencesOf(r.Text) {
		for _, m := range spanNumRE.FindAllStringSubmatch(part, -1) {
			n, _ := strconv.Atoi(m[1])
			if !regexp.MustCompile(`(?i)\b(until|at most|no (later|more|older) than|within|after|older)\b`).MatchString(part) || !v.makesOne(part) || v.hasSpan(n, strings.ToLower(m[2])) {
				continue
			}
			return &Breach{Why: "requirement " + itoa(r.Number) + ": nothing in the code holds it to " + m[0], CWEs: []audit.CWE{613, 840}, Confidence: 0.7}
		}
		for _, m := range countRE.FindAllStringSubmatch(part, -1) {
			n, err := strconv.Atoi(m[1])
			if err != nil {
				n = numerals[strings.ToLower(m[1])]
			}
			if n < 2 || !v.makesOne(m[2]) || v.hasNumber(n) {
				continue
			}
			return &Breach{Why: "requirement " + itoa(r.Number) + ": nothing in the code counts up to " + m[1] + " " + m[2], CWEs: []audit.CWE{770, 840}, Confidence: 0.7}
		}
	}
	return nil
}

// makesOne: a statement adds a row of the only table that the text names.
func (v *view) makesOne(part string) bool {
	named := v.b.tablesIn(part)
	for _, w := range v.writes() {
		if w.verb == "insert" && len(named) > 0 && contains(named, w.table) {
			return true
		}
	}
	return false
}

func (v *view) hasNumber(n int) bool {
	return regexp.MustCompile(`\b` + strconv.Itoa(n) + `\b|\b` + strconv.Itoa(n-1) + `\b|\b` + strconv.Itoa(n+1) + `\b|\b[A-Z]+_[A-Z_]+\b|\bMAX\w*`).MatchString(constRE.ReplaceAllString(v.text, " "))
}

// constRE are names in capitals that the language or the driver brings.
var constRE = regexp.MustCompile(`http\.\w+|\b[A-Z]{2,}_(ROOT|DIR|BIN)\b`)

// hasSpan: the code speaks of the span in its own unit or in a smaller or larger one.
func (v *view) hasSpan(n int, unit string) bool {
	secs := n * unitSecs[unit]
	if secs == 0 {
		return true // months and years have many lengths
	}
	for u, one := range unitSecs {
		if secs%one == 0 && regexp.MustCompile(`(?i)\b`+strconv.Itoa(secs/one)+`\b[\s*]*["']?`).MatchString(v.text) && (u == unit || secs/one > 1) {
			return true
		}
	}
	return secs%1000 == 0 && strings.Contains(v.text, strconv.Itoa(secs*1000)) || regexp.MustCompile(`(?i)\b[A-Z]+_(TTL|AGE|HOURS|DAYS|MINUTES|SECONDS|LIFETIME|WINDOW)\b`).MatchString(v.text)
}

var (
	atOnceRE = regexp.MustCompile(`(?i)\b(at the same (time|moment)|at once|together|concurren\w*|simultaneous\w*|in parallel|two (at|requests)|race\w*|never exceeds?)\b`)
	countSQL = regexp.MustCompile(`(?is)\bcount\s*\(`)
)

// counted: what is counted before a row is added, or a state is set, is counted under a
// lock.
func counted(v *view, r Requirement) *Breach {
	if !atOnceRE.MatchString(r.Text) || v.change() == nil {
		return nil
	}
	if rowLock.MatchString(v.text) || otherLock.MatchString(v.text) || regexp.MustCompile(`(?i)on conflict`).MatchString(v.text) {
		return nil
	}
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && lockDoc.MatchString(h.doc) {
			return nil
		}
	}
	for i, s := range v.sql {
		if !countSQL.MatchString(s.text) || !compared.MatchString(v.text) {
			continue
		}
		own := regexp.MustCompile(`(?is)count\s*\([^)]*\)[^;]*?\bfrom\s+(\w+)`).FindStringSubmatch(s.text)
		if own == nil {
			continue
		}
		for _, w := range v.writes() {
			if w.table == strings.ToLower(own[1]) && (w.verb == "insert" || stateCol.MatchString(w.col)) && (w.s == &v.sql[i] || w.s.call.Off > s.call.Off) {
				return &Breach{Why: "requirement " + itoa(r.Number) + ": rows of " + w.table + " are counted without a lock before one more is made", CWEs: []audit.CWE{362, 367}, Confidence: 0.75}
			}
		}
	}
	return nil
}

var compared = regexp.MustCompile(`(<|>|<=|>=)\s*\(?\s*(\d+|\w+)`)
