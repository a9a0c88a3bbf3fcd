package hostreview

import (
	"regexp"

	"assay/audit"
)

var (
	ownClock   = regexp.MustCompile(`(?i)\b(own clock|time ?zone|local (day|date|time|midnight)|calendar (day|month|week|year)|today)\b`)
	serverDay  = regexp.MustCompile(`(?i)\bcurrent_date\b|\bdate\.today\(\)|\bnow\(\)\s*::\s*date|\bdate_trunc\(\s*'(day|week|month|year)'\s*,\s*(now\(\)|current_timestamp)\s*\)|datetime\.(utc)?now\([^)]*\)\.date\(\)|toISOString\(\)\.(slice|substring|substr)\(0,\s*10\)|\bdate_part\('(day|month)',\s*now\(\)\)`)
	zonedRE    = regexp.MustCompile(`(?i)at time zone|ZoneInfo|pytz|LoadLocation|timeZone:|\.In\(`)
	dayDefRE   = regexp.MustCompile("(?i)\\btoday\\b[^\\n`]{0,60}`([a-z_]+)\\(")
	todayFuncs = regexp.MustCompile(`(?i)\b(\w*today\w*|local_date|\w*_day)\s*\(`)
)

// days: where the SPEC says whose calendar counts, the code does not ask the server's.
func days(v *view, r Requirement) *Breach {
	if !ownClock.MatchString(r.Text) {
		return nil
	}
	zoned := regexp.MustCompile(`(?i)time_?zone|own clock|local (day|date|time)`).MatchString(v.b.spec)
	def := dayDefRE.FindStringSubmatch(v.b.spec)
	if !zoned && def == nil {
		return nil
	}
	m := serverDay.FindString(v.text)
	if m == "" || def == nil && zonedRE.MatchString(v.text) || def != nil && todayFuncs.MatchString(m) {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": " + clip(m) + " is the day of the server, and not the one that counts", CWEs: []audit.CWE{840, 682}, Confidence: 0.8}
}
