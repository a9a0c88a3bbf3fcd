package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/score"
)

// A Pull is a run's report on a pull request: what changed, worst first.
type Pull struct {
	Verdict  audit.Verdict // the gravest
	Moved    []Moved       // what changed, or fails
	Same     []string      // who stands as at the baseline
	Replays  int           // recordings that came out as recorded
	Controls int           // records of controls
	Notes    []string      // what could not be read: it may be what fails
	Link     string        // to the report; may be empty
}

// PullOf returns what the newest records and results changed since the baselines.
func PullOf(in *SiteInput, link string) (*Pull, error) {
	p := &Pull{Verdict: audit.Pass, Link: link, Notes: in.Notes}
	if len(p.Notes) > 0 {
		p.Verdict = audit.Warn
	}
	rows := slices.Concat(in.latest("Smoke"), in.latest("Regression"))
	p.Replays, p.Controls = asides(rows)
	moved, errs := in.moved(rows)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for _, m := range append(overall(rows), moved...) {
		p.add(m)
	}
	if in.Results != nil {
		all := CasesOf(in.Apps)
		for _, v := range in.Results.Variants {
			m, told, err := in.reviewed(v, all)
			switch {
			case err != nil:
				return nil, err
			case told:
				p.add(m)
			default:
				p.Same = append(p.Same, m.Who)
			}
		}
	}
	slices.SortStableFunc(p.Moved, worstFirst)
	return p, nil
}

// overall returns what is judged over all projects of a run together, once a run.
func overall(rows []row) (ms []Moved) {
	seen := map[string]bool{}
	for _, r := range rows {
		rec := r.Record
		if rec.Whole == nil || rec.SideOf != "" || seen[rec.Auditor+rec.Run] {
			continue
		}
		seen[rec.Auditor+rec.Run] = true
		j := score.Judgement{Verdict: audit.Worst(audit.Pass), Reasons: rec.Whole.Reasons}
		for _, g := range j.Reasons {
			j.Verdict = audit.Worst(j.Verdict, g.Verdict)
		}
		m := Moved{Who: r.Label() + " on all projects together", Verdict: j.Verdict,
			Says: saysOf(&j, "", nil),
			Pos:  audit.Pos{File: "fixtures/goals.md", Line: 1}, worse: 1000}
		m.quiet(j.Verdict == audit.Pass)
		ms = append(ms, m)
	}
	return ms
}

// CasesOf returns the cases of the applications by ID.
func CasesOf(apps []*audit.App) map[string]*audit.Case {
	all := map[string]*audit.Case{}
	for _, app := range apps {
		for i := range app.Families {
			for _, c := range app.Families[i].Cases {
				all[c.ID()] = c
			}
		}
	}
	return all
}

// add adds a change.
func (p *Pull) add(m Moved) {
	v := m.Verdict
	if v == score.Changed {
		v = audit.Fail
	}
	p.Verdict = audit.Worst(p.Verdict, v)
	if !m.stays {
		p.Moved = append(p.Moved, m)
		return
	}
	if v == audit.Warn {
		m.Who += " (" + string(v) + ": " + m.Says + ")"
	}
	p.Same = append(p.Same, m.Who)
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
		fmt.Fprintf(&b, "\n**%s %s**: %s", Mark(string(m.Verdict)), Mark(m.Who), Mark(m.Says))
		if m.Took != "" {
			fmt.Fprintf(&b, " (%s)", m.Took)
		}
		b.WriteString("\n")
		if len(m.Lost) > 0 {
			fmt.Fprintf(&b, "\nLost (%d):\n\n", len(m.Lost))
		}
		for _, l := range m.Lost[:min(lostShown, len(m.Lost))] {
			fmt.Fprintf(&b, "- %s\n", Mark(strings.TrimSpace(l.ID+" "+l.Title)+", "+l.Pos.String()))
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
	if p.Controls > 0 {
		unchanged = append(unchanged, amount(p.Controls, "record")+" of controls")
	}
	if len(unchanged) > 0 {
		fmt.Fprintf(&b, "\nUnchanged: %s.\n", Mark(strings.Join(unchanged, ", ")))
	}
	for _, n := range p.Notes[:min(notesMost, len(p.Notes))] {
		fmt.Fprintf(&b, "\nNote: %s\n", Mark(clip(n, 500)))
	}
	if n := len(p.Notes) - notesMost; n > 0 {
		fmt.Fprintf(&b, "\nand %s more\n", amount(n, "note"))
	}
	if p.Link != "" {
		fmt.Fprintf(&b, "\n[Report](<%s>)\n", strings.NewReplacer("<", "%3C", ">",
			"%3E", "\n", "").Replace(p.Link))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// literal escapes markup and HTML; a word joiner keeps a host from linking people, issues
// and bare addresses.
var literal = strings.NewReplacer("://", ":\u2060//", "www.", "www\u2060.", "@", "@\u2060", "#",
	"#\u2060", "<", "&lt;", ">", "&gt;", "&", "&amp;",
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "~",
	`\~`, "!", `\!`)

// Mark makes text literal in Markdown: no markup, no HTML, no mention, one line.
func Mark(s string) string { return literal.Replace(audit.OneLine(s, 0)) }

type noted struct {
	verdict          audit.Verdict
	pos              audit.Pos
	who, id, message string
}

// notes returns the annotations: the lost entries of each change, or the change as a whole if
// there are none, and what could not be read.
func (p *Pull) notes() (ns []noted) {
	for _, n := range p.Notes {
		ns = append(ns, noted{audit.Warn, audit.Pos{File: "records"}, "", n, "note: " + n})
	}
	for _, m := range p.Moved {
		if !slices.Contains([]audit.Verdict{audit.Fail, audit.Invalid, audit.Warn, score.Changed},
			m.Verdict) {
			continue
		}
		for _, l := range m.Lost[:min(lostShown, len(m.Lost))] {
			ns = append(ns, noted{m.Verdict, l.Pos, m.Who, l.ID, fmt.Sprintf("%s lost %s: %s",
				m.Who, strings.TrimSpace(l.ID+" "+l.Title), m.Says)})
		}
		if len(m.Lost) == 0 {
			ns = append(ns, noted{m.Verdict, m.Pos, m.Who, "",
				fmt.Sprintf("%s: %s", m.Who, m.Says)})
		}
	}
	return ns
}

// GitHub writes annotations as workflow commands: an error for what fails, a warning for what
// warns. at returns the name of a file in the repository, "" if it is not there.
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
		title := "title=" + property.Replace(audit.OneLine("Assay: "+string(n.verdict), 0))
		if file := at(n.pos); file != "" {
			title = fmt.Sprintf("file=%s,line=%d,%s", property.Replace(audit.OneLine(file, 0)),
				max(1, n.pos.Line), title)
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", level, title,
			data.Replace(audit.OneLine(n.message, 0))); err != nil {
			return err
		}
	}
	return nil
}

// GitLab writes a Code Quality report, which annotates a merge request.
//
// See docs.gitlab.com, "Code Quality", "Code Quality report format".
func (p *Pull) GitLab(w io.Writer, at func(audit.Pos) string) error {
	type issue struct {
		Description string `json:"description"`
		Check       string `json:"check_name"`
		Fingerprint string `json:"fingerprint"`
		Severity    string `json:"severity"`
		Location    struct {
			Path  string `json:"path"`
			Lines struct {
				Begin int `json:"begin"`
			} `json:"lines"`
		} `json:"location"`
	}
	issues := []issue{}
	for _, n := range p.notes() {
		i := issue{Description: audit.OneLine(n.message, 0), Check: "assay",
			Fingerprint: HashOf([]byte(n.pos.File + "\x00" + n.who + "\x00" + n.id)),
			Severity:    "major"}
		if n.verdict == audit.Warn {
			i.Severity = "minor"
		}
		i.Location.Path, i.Location.Lines.Begin = cmp.Or(at(n.pos), n.pos.File), max(1, n.pos.Line)
		issues = append(issues, i)
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
		fs = append(fs, audit.Finding{ID: cmp.Or(n.id, n.who), RuleID: "assay", Severity: severity,
			File: file, Lines: audit.Range{Start: line, End: line}, Title: "Assay: " +
				string(n.verdict), Description: n.message})
	}
	return findings.WriteSARIF(w, "assay", score.Version, fs)
}
