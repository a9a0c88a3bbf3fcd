package report

import (
	"fmt"
	"strings"

	"assay/audit/score"
)

// A costPage shows what variants cost: in all, for an audit or answer, and for what they find.
type costPage struct {
	Parts  []costPart
	Charts []*chart
}

type costPart struct {
	Kind, Metric, Of, Per string
	Lines                 []costLine
}

type costLine struct {
	*ranked
	Dollars, Took, Tokens cell
	Found                 cell // dollars for a vulnerability found
	FoundTime             cell
	FoundBy               cell // findings for a vulnerability found
}

// add adds the variants of a ranking.
func (p *costPage) add(s *site, k *ranking) {
	part := costPart{Kind: k.Kind, Metric: k.Metric, Of: k.Of, Per: k.Per}
	for _, x := range k.Rows {
		if x.USD() == 0 && x.Time().Sort == "" {
			continue
		}
		l := costLine{ranked: x, Dollars: x.Cost(), Took: x.Time(), Tokens: cell{Text: "unknown"}}
		if n := float64(x.Used.Tokens); n > 0 {
			one := n / float64(x.Used.Trials)
			l.Tokens = cell{Text: thousands(one), Beside: thousands(n) + " in all",
				Sort: fmt.Sprintf("%.1f", one)}
		}
		if a := x.audited; a != nil {
			l.Found, l.FoundTime, l.FoundBy = cell{Text: "none found"}, cell{}, cell{}
			if found := a.Found / float64(len(a.rows)); found > 0 { // by an audit, as the mean
				l.Found = cell{Text: "unknown"}
				if usd := x.USD(); usd > 0 {
					l.Found = cell{Text: score.Dollars(usd / found),
						Sort: fmt.Sprintf("%.9f", usd/found)}
				}
				if t := x.Seconds(); t > 0 {
					l.FoundTime = cell{Text: lasting(t / found), Sort: fmt.Sprintf("%.3f", t/found)}
				}
				l.FoundBy = cell{Text: fmt.Sprintf("%.1f", a.Findings/found),
					Sort: fmt.Sprintf("%.3f", a.Findings/found)}
			}
		}
		part.Lines = append(part.Lines, l)
	}
	if len(part.Lines) == 0 {
		return
	}
	p.Parts = append(p.Parts, part)
	if k.Chart != nil {
		p.Charts = append(p.Charts, k.Chart)
	}
	var spots []spot
	for _, x := range k.Rows {
		spots = append(spots, s.spots(x, x.Seconds(), k.Metric, lasting)...)
	}
	if c := scatter(strings.ToUpper(k.Metric[:1])+k.Metric[1:]+" over time", "seconds "+k.Per,
		spots, lasting); c != nil {
		p.Charts = append(p.Charts, c)
	}
}

// Audits reports whether the part is of auditors, which find vulnerabilities.
func (p costPart) Audits() bool { return p.Lines[0].audited != nil }

// thousands writes a number of tokens with three digits at most: 950, 41K, 1.2M.
func thousands(n float64) string {
	switch {
	case n >= 999_500:
		return fmt.Sprintf("%.3gM", n/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.3gK", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
}
