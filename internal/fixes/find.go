package fixes

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
)

// flaws names kinds of flaw as messages of fixes do.
const flaws = `CVE-[0-9]{4}-|GHSA-|CWE-[0-9]|[Ss]ecurity|[Vv]ulnerab|[Mm]erge commit from fork|[Ii]njection|` +
	`\b(XSS|CSRF|SSRF|XXE|IDOR|RCE|SQLi|ReDoS|DoS)\b|[Cc]ross[- ]site|[Tt]raversal|[Zz]ip[- ]?slip|[Oo]pen redirect|` +
	`[Pp]rivilege|[Aa]uth[a-z]* bypass|[Bb]ypass|[Uu]nauthori[sz]ed|[Uu]nauthenticated|[Pp]ermission check|[Aa]ccess control|` +
	`[Ss]aniti[sz]|[Ee]scap(e|ing) |[Dd]eseriali[sz]ation|[Pp]rototype pollution|[Tt]iming attack|[Tt]iming-safe|` +
	`[Cc]onstant[- ]time|[Oo]verflow|[Oo]ut[- ]of[- ]bounds|[Uu]se[- ]after[- ]free|[Dd]enial of service|[Ii]nformation (leak|disclosure)|` +
	`[Ss]ecret leak|[Cc]redential|[Bb]rute[- ]force|[Ss]ession fixation|[Cc]lickjacking|[Ss]poof`

var (
	flawWords = regexp.MustCompile(flaws)
	advisory  = regexp.MustCompile(
		`CVE-\d{4}-\d{4,}|GO-\d{4}-\d{4,}|GHSA(-[23456789cfghjmpqrvwx]{4}){3}`)
	namedCWE = regexp.MustCompile(`CWE-\d+`)
)

// maxSource is the number of source files above which a commit is no fix to learn from.
const maxSource = 10

// Find proposes the commits of the default branch whose messages speak of a flaw and that
// change 1 to 10 source files, and those that an advisory names, the newest first. It is no
// census: many fixes say nothing.
func (r *Repository) Find(ctx context.Context, since string, advisories Advisories) (rows []TSVRow,
	looked int, err error) {
	args := []string{"HEAD"}
	if since != "" {
		args = append(args, "--since="+since)
	}
	all, err := r.log(ctx, append(args, "--")...)
	if err != nil {
		return nil, 0, err
	}
	named := r.namedBy(ctx, advisories)
	for _, c := range all {
		row := TSVRow{fields: map[string]string{"commit": c.hash,
			"title":    cmp.Or(c.title(), c.subject),
			"cwe":      strings.Join(slices.Compact(namedCWE.FindAllString(c.body, -1)), ", "),
			"advisory": strings.Join(slices.Compact(advisory.FindAllString(c.body, -1)), ", ")}}
		if a := named[c.hash]; a != nil {
			row.fields["title"] = cmp.Or(a.Title, row.Get("title"))
			row.fields["severity"], row.fields["advisory"] = a.Severity, strings.Join(a.IDs, ", ")
			rows = append(rows, row)
			continue
		}
		if c.parent == "" || !flawWords.MatchString(c.body) {
			continue
		}
		changed, err := r.changes(ctx, c.parent, c.hash)
		if err != nil {
			return nil, 0, err
		}
		source := 0
		for _, x := range changed {
			if isCode(x.new) {
				source++
			}
		}
		if source >= 1 && source <= maxSource {
			rows = append(rows, row)
		}
	}
	return rows, len(all), nil
}

// namedBy returns the advisories by the commits that they name as fixes, those that are here.
func (r *Repository) namedBy(ctx context.Context, advisories Advisories) map[string]*Advisory {
	named := map[string]*Advisory{}
	for i := range advisories {
		for _, name := range advisories[i].Commits {
			if commit := r.commit(ctx, name); commit != "" {
				named[commit] = &advisories[i]
			}
		}
	}
	return named
}
