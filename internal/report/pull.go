package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/score"
	"assay/internal/record"
)

// A Pull is what a pull request is told about a run: what changed, worst first.
type Pull struct {
	Verdict audit.Verdict // the gravest
	Moved   []Moved       // what changed, or fails
	Same    []string      // who stands as at the baseline
	Replays int           // recordings that came out as recorded
	Link    string        // to the report; may be empty
}

// A Moved is one auditor on a project, or one reviewer, that changed or fails.
type Moved struct {
	Who     string // "my-agent on dvja"
	Verdict audit.Verdict
	Says    string // how the headline figure stands to the baseline, or why the verdict is what it is
	Took    string // cost and time, where anybody says
	Lost    []LostEntry
	Pos     audit.Pos // of the key or the goals
}

// A LostEntry is an entry or a case that earns less than at the baseline.
type LostEntry struct {
	ID, Title string
	Pos       audit.Pos // of the key's entry, or the case
}

// Held is what a pull request's run is held against.
type Held struct {
	Fixtures      fs.FS // with fixtures/baselines
	Goals         audit.Goals
	Deterministic func(reviewer string) bool
	Hash          func(*audit.Case) string // of a case as it is asked
}

// PullOf tells what the newest records and the results changed since the baselines.
func PullOf(in *Input, held Held, link string) (*Pull, error) {
	p := &Pull{Verdict: audit.Pass, Link: link}
	s := &site{in: *in}
	for _, r := range slices.Concat(s.latest("Smoke"), s.latest("Regression")) {
		if err := p.audited(in, r.Record, held); err != nil {
			return nil, err
		}
	}
	if in.Results != nil {
		if err := p.reviewed(in, held); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(p.Moved, func(a, b Moved) int {
		return cmp.Or(cmp.Compare(urgency(string(a.Verdict)), urgency(string(b.Verdict))), cmp.Compare(a.Who, b.Who))
	})
	return p, nil
}

// add takes one more, whose figure moved or stayed.
func (p *Pull) add(m Moved, stayed bool) {
	v := m.Verdict
	if v == score.Changed {
		v = audit.Fail
	}
	p.Verdict = audit.Worst(p.Verdict, v)
	if stayed && v != audit.Fail && v != audit.Invalid {
		if v != audit.Pass {
			m.Who += " (" + string(v) + ": " + m.Says + ")"
		}
		p.Same = append(p.Same, m.Who)
		return
	}
	p.Moved = append(p.Moved, m)
}

// audited tells a record: its judgement is the run's.
func (p *Pull) audited(in *Input, r *record.Record, held Held) error {
	j := &r.Judgement
	if j.Verdict == score.AsRecorded {
		p.Replays++
		return nil
	}
	m := Moved{Who: r.Auditor + " on " + r.Project, Verdict: j.Verdict, Took: tookOf(r)}
	if r.Suite == "Smoke" {
		m.Who, m.Pos = r.Auditor+" on the smoke test", audit.Pos{File: "fixtures/smoke.md", Line: 1}
	}
	base := r.Beside
	if base == nil && r.Suite == "Regression" {
		var err error
		if base, err = record.Baseline(held.Fixtures, "fixtures/baselines", r.Auditor, r.Project); err != nil {
			return err
		}
	}
	diff := (*score.Difference)(nil)
	if base != nil && len(base.Counting())*len(r.Counting()) > 0 {
		if c, err := score.CompareAuditors(score.AuditedByTwo{A: base.Counting(), B: r.Counting()}); err == nil { // else the judgement says why
			diff = &c.Diff
		}
	}
	m.Says = saysOf(j, score.MetricRecall, diff)
	if key := in.Projects[r.Project]; key != nil {
		m.Pos = key.Pos
		at := map[string]*audit.Known{}
		for i := range key.Known {
			at[key.Known[i].ID] = &key.Known[i]
		}
		for _, l := range j.Lost {
			if k := at[l.ID]; k != nil {
				m.Lost = append(m.Lost, LostEntry{l.ID, k.Title, k.Pos})
			}
		}
	}
	p.add(m, (base != nil || r.Suite == "Smoke") && len(j.Lost)+len(j.Gained) == 0)
	return nil
}

// reviewed judges each reviewer's newest answers as Bench does.
func (p *Pull) reviewed(in *Input, held Held) error {
	cases := map[string]*audit.Case{}
	for _, app := range in.Apps {
		for i := range app.Families {
			for _, c := range app.Families[i].Cases {
				cases[c.ID()] = c
			}
		}
	}
	for _, v := range in.Results.Modules {
		p.Same = append(p.Same, v.String()+" on modules (not judged here: go test -run Bench -tier module is)")
	}
	for _, v := range in.Results.Variants {
		m := Moved{Who: v.Model, Took: usageOf(v.Usage, 0), Pos: audit.Pos{File: "fixtures/goals.md", Line: 1}}
		if v.Prompt != "" && v.Prompt != "evaluation-prompt" {
			m.Who += " with " + v.Prompt
		}
		m.Who += " on the cases"
		if len(v.Cases) < len(cases) {
			p.Same = append(p.Same, fmt.Sprintf("%s (asked %d of %d cases: not judged)", m.Who, len(v.Cases), len(cases)))
			continue
		}
		base, err := record.ReadBench(held.Fixtures, "fixtures/baselines", v.Model, v.Prompt)
		if err != nil {
			return err
		}
		now := v.Score("")
		was, _ := base.Compare(nil, cases, held.Hash)
		j, err := score.JudgeBench(now, was, held.Goals.Of(v.Model).Bench, score.Rules{Deterministic: held.Deterministic(v.Model)})
		if err != nil {
			return fmt.Errorf("%s: %w", m.Who, err)
		}
		diff := (*score.Difference)(nil)
		if len(was) > 0 {
			if c, err := score.CompareReviewers(was, now); err == nil {
				diff = &c.Diff
			}
		}
		m.Verdict, m.Says = j.Verdict, saysOf(&j, score.MetricBalanced, diff)
		for _, l := range j.Lost {
			if c := cases[l.ID]; c != nil {
				m.Lost = append(m.Lost, LostEntry{l.ID, "", c.Pos})
			}
		}
		p.add(m, base != nil && len(j.Lost)+len(j.Gained) == 0)
	}
	return nil
}

// saysOf tells how the headline figure stands to the baseline, the difference with
// its 95 % interval; where it is not why the verdict is what it is, that too.
func saysOf(j *score.Judgement, metric string, diff *score.Difference) string {
	for i := range j.Reasons {
		g := &j.Reasons[i]
		if g.Metric != metric || g.Code != score.CodeDrop && g.Code != score.CodeUnsettled || !g.Baseline.Defined || !g.Now.Defined {
			continue
		}
		by := 100 * (g.Baseline.V - g.Now.V)
		s := fmt.Sprintf("%s %v, was %v", metric, g.Now, g.Baseline)
		switch how := "a drop"; {
		case by > -0.05 && by < 0.05:
		case by < 0:
			how, by = "a gain", -by
			if diff != nil {
				diff = &score.Difference{Center: -diff.Center, Lo: -diff.Hi, Hi: -diff.Lo}
			}
			fallthrough
		default:
			s += fmt.Sprintf(": %s of %.1f points", how, by)
			if diff != nil {
				s += fmt.Sprintf(" (%.1f to %.1f)", diff.Lo, diff.Hi)
			}
		}
		switch {
		case g.Code == score.CodeUnsettled && g.More > 0:
			s += fmt.Sprintf(", not settled: %d more trials", g.More)
		case g.Code == score.CodeUnsettled:
			s += ", not settled"
		case g.Verdict == audit.Fail:
			s += ", settled"
		}
		if first := j.Reasons[0]; first.Verdict != audit.Pass && i != 0 {
			s += "; " + first.Text
		}
		return s
	}
	if len(j.Reasons) == 0 {
		return "no reason is given"
	}
	return j.Reasons[0].Text
}

// tookOf gives what a record's trials took together.
func tookOf(r *record.Record) string {
	sum, seconds := audit.Usage{Priced: true}, 0.0
	for _, t := range r.Trials {
		sum, seconds = sum.Add(t.Usage), seconds+t.Seconds
	}
	return usageOf(sum, seconds)
}

func usageOf(u audit.Usage, seconds float64) string {
	var parts []string
	if u.USD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", u.USD))
	}
	if seconds >= 1 {
		parts = append(parts, time.Duration(seconds*float64(time.Second)).Round(time.Second).String())
	}
	return strings.Join(parts, ", ")
}

const (
	// PullMark begins the comment that is kept up to date: by it, it is found again.
	PullMark = "<!-- assay -->"
	// lostShown and movedShown are how many lost entries, and how many that moved, a
	// comment names; the rest is counted.
	lostShown, movedShown = 3, 10
)

// Markdown writes the comment.
func (p *Pull) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n### Assay: %s\n", PullMark, p.Verdict)
	for _, m := range p.Moved[:min(movedShown, len(p.Moved))] {
		fmt.Fprintf(&b, "\n**%s %s**: %s", mark(string(m.Verdict)), mark(m.Who), mark(m.Says))
		if m.Took != "" {
			fmt.Fprintf(&b, " (%s)", m.Took)
		}
		b.WriteString("\n")
		if len(m.Lost) > 0 {
			fmt.Fprintf(&b, "\nLost (%d):\n\n", len(m.Lost))
		}
		for _, l := range m.Lost[:min(lostShown, len(m.Lost))] {
			fmt.Fprintf(&b, "- %s\n", mark(strings.TrimSpace(l.ID+" "+l.Title)+", "+l.Pos.String()))
		}
		if n := len(m.Lost) - lostShown; n > 0 {
			fmt.Fprintf(&b, "- and %d more\n", n)
		}
	}
	if n := len(p.Moved) - movedShown; n > 0 {
		fmt.Fprintf(&b, "\nand %d more that changed or fail\n", n)
	}
	if len(p.Moved) == 0 {
		b.WriteString("\nNothing changed.\n")
	}
	unchanged := slices.Clone(p.Same)
	if p.Replays > 0 {
		unchanged = append(unchanged, amount(p.Replays, "recording"))
	}
	if len(unchanged) > 0 {
		fmt.Fprintf(&b, "\nUnchanged: %s.\n", mark(strings.Join(unchanged, ", ")))
	}
	if p.Link != "" {
		fmt.Fprintf(&b, "\n[Report](<%s>)\n", strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "").Replace(p.Link))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mark makes text literal in Markdown: no markup, no HTML, no mention, one line.
func mark(s string) string {
	var b strings.Builder
	// Bare addresses become links too.
	s = strings.NewReplacer("://", ":\u2060//", "www.", "www\u2060.").Replace(oneLine(s))
	for _, r := range s {
		switch r {
		case '<':
			b.WriteString("&lt;")
			continue
		case '>':
			b.WriteString("&gt;")
			continue
		case '&':
			b.WriteString("&amp;")
			continue
		case '@', '#':
			// A word joiner keeps a host from linking people and issues.
			b.WriteRune(r)
			b.WriteString("\u2060")
			continue
		case '\\', '`', '*', '_', '[', ']', '|', '~', '!':
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A noted is something that is said of a line of a file.
type noted struct {
	verdict          audit.Verdict
	pos              audit.Pos
	who, id, message string
}

// notes gives what annotations tell: of each that moved the entries that were lost,
// or the whole where there are none.
func (p *Pull) notes() (ns []noted) {
	for _, m := range p.Moved {
		if !slices.Contains([]audit.Verdict{audit.Fail, audit.Invalid, audit.Warn, score.Changed}, m.Verdict) {
			continue
		}
		for _, l := range m.Lost[:min(lostShown, len(m.Lost))] {
			ns = append(ns, noted{m.Verdict, l.Pos, m.Who, l.ID, fmt.Sprintf("%s lost %s: %s", m.Who, strings.TrimSpace(l.ID+" "+l.Title), m.Says)})
		}
		if len(m.Lost) == 0 {
			ns = append(ns, noted{m.Verdict, m.Pos, m.Who, "", fmt.Sprintf("%s: %s", m.Who, m.Says)})
		}
	}
	return ns
}

// GitHub writes annotations as workflow commands: an error for what fails, a warning
// for what warns. at gives the file of a place as it is called in the repository;
// "" where it is not there.
//
// See docs.github.com, "Workflow commands for GitHub Actions".
func (p *Pull) GitHub(w io.Writer, at func(audit.Pos) string) error {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, n := range p.notes() {
		level := "error"
		if n.verdict == audit.Warn {
			level = "warning"
		}
		title := "title=" + property.Replace(oneLine("Assay: "+string(n.verdict)))
		if file := at(n.pos); file != "" {
			title = fmt.Sprintf("file=%s,line=%d,%s", property.Replace(oneLine(file)), max(1, n.pos.Line), title)
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", level, title, data.Replace(oneLine(n.message))); err != nil {
			return err
		}
	}
	return nil
}

// GitLab writes a Code Quality report, which annotates a merge request.
//
// See docs.gitlab.com, "Code Quality", "Code Quality report format".
func (p *Pull) GitLab(w io.Writer, at func(audit.Pos) string) error {
	type lines struct {
		Begin int `json:"begin"`
	}
	type location struct {
		Path  string `json:"path"`
		Lines lines  `json:"lines"`
	}
	type issue struct {
		Description string   `json:"description"`
		Check       string   `json:"check_name"`
		Fingerprint string   `json:"fingerprint"`
		Severity    string   `json:"severity"`
		Location    location `json:"location"`
	}
	issues := []issue{}
	for _, n := range p.notes() {
		severity := "major"
		if n.verdict == audit.Warn {
			severity = "minor"
		}
		file := cmp.Or(at(n.pos), n.pos.File)
		issues = append(issues, issue{oneLine(n.message), "assay", hashOf([]byte(n.pos.File + "\x00" + n.who + "\x00" + n.id)), severity, location{file, lines{max(1, n.pos.Line)}}})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(issues)
}

// SARIF writes the same for code scanning: each at its line of the repository.
// What is about no file of it is left out.
func (p *Pull) SARIF(w io.Writer, at func(audit.Pos) string) error {
	var fs []audit.Finding
	for _, n := range p.notes() {
		file := at(n.pos)
		if file == "" {
			continue
		}
		severity := audit.High
		if n.verdict == audit.Warn {
			severity = audit.Medium
		}
		line := max(1, n.pos.Line)
		fs = append(fs, audit.Finding{ID: cmp.Or(n.id, n.who), RuleID: "assay", Severity: severity, File: file, Lines: audit.Range{Start: line, End: line}, Title: "Assay: " + string(n.verdict), Description: n.message})
	}
	return findings.WriteSARIF(w, "assay", score.Version, fs)
}
