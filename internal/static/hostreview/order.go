package hostreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var (
	totalRE = regexp.MustCompile(`(?i)\border(ed|ing|s)?\b[^.;]*\b(total|ties?|unique|stable|deterministic|unambiguous)\b|\b(total|stable|deterministic|unambiguous) order|\bwithout ties\b`)
	orderRE = regexp.MustCompile(`(?is)\border\s+by\s+(.*?)(\blimit\b|\boffset\b|\bfetch\b|\bfor\s+update\b|\)|$)`)
	limitRE = regexp.MustCompile(`(?i)\blimit\b|\bfetch\s+(first|next)\b`)
	keyCol  = regexp.MustCompile(`(?i)\b(\w+\.)?"?(id|uuid|code|token_hash|\w*_no)\b`)
)

// totalOrder: where the order of a list is to be total, what it is ordered by ends in a
// key, or in something that the code puts there.
func totalOrder(v *view, r Requirement) *Breach {
	if !totalRE.MatchString(r.Text) {
		return nil
	}
	for _, s := range v.sql {
		if !limitRE.MatchString(s.text) || oneRowRE.MatchString(s.text) || regexp.MustCompile(`(?i)^\s*(insert|update|delete)`).MatchString(s.text) {
			continue
		}
		ms := orderRE.FindAllStringSubmatch(s.text, -1)
		why := "a page of rows has no order"
		if len(ms) > 0 {
			by := ms[len(ms)-1][1]
			if keyCol.MatchString(by) || strings.Contains(by, "${") && !v.orders(by) || byNumber.MatchString(by) || strings.Contains(s.text, "${") && strings.TrimSpace(by) == "" {
				continue
			}
			why = "rows are ordered by " + clip(by) + " alone, which leaves ties"
		} else if strings.Contains(s.text, "${") {
			continue
		}
		return &Breach{Why: "requirement " + itoa(r.Number) + ": " + why, CWEs: []audit.CWE{840}, Confidence: 0.75}
	}
	return nil
}

// orders: what is pasted into an order is taken from texts of the code, and none of them
// ends in a key.
func (v *view) orders(by string) bool {
	if !regexp.MustCompile(`(?i)^\s*(\w+\.)?\$\{\w*\}(\s*(\$\{\w*\}|asc|desc))?\s*$`).MatchString(by) {
		return false
	}
	some := false
	for x := range v.literal {
		if !regexp.MustCompile(`(?i)^[\w.]+( (asc|desc))?( nulls (first|last))?(\s*,\s*[\w.]+( (asc|desc))?)*$`).MatchString(x) {
			continue
		}
		last := x[strings.LastIndexByte(x, ',')+1:]
		if keyCol.MatchString(last) {
			return false
		}
		some = some || strings.ContainsAny(x, " .")
	}
	return some
}

var (
	oneRowRE = regexp.MustCompile(`(?i)\blimit\s+1\b`)
	byNumber = regexp.MustCompile(`^\s*\d+\s*(,\s*\d+\s*)*$`)
)
