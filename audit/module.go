package audit

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Module is a part of a planted project as a seed draws it: whole files, and the
// sites in them that are judged. It is asked about in one request.
type Module struct {
	Project string // the planted project's name
	Seed    uint64
	Name    string // within the project
	Title   string // of the application
	Rules   string // what the application has to keep, as a numbered list in Markdown
	Files   []Block
	Sites   []Site
	Reviews []FindingReview // rulings on what lies off the sites
	Pos     Pos             // of its row in project.md
}

// A Site is a place of a module that is good or bad.
type Site struct {
	ID        string
	Bad       bool
	Rules     []int // that a bad one breaks; may be empty
	CWEs      []CWE // of the bad one
	File      string
	Functions []string
	Lines     Range
	Title     string // of the flaw
	Why       string // it is one, or none
	Pos       Pos
}

// App is "<project>@<seed>": one draw.
func (m *Module) App() string { return fmt.Sprintf("%s@%d", m.Project, m.Seed) }

// ID is "<project>@<seed>/<module>".
func (m *Module) ID() string { return m.App() + "/" + m.Name }

// Family is "<project>/<module>", shared by the draws of one module.
func (m *Module) Family() string { return m.Project + "/" + m.Name }

// Label is bad when a site is.
func (m *Module) Label() Label {
	for i := range m.Sites {
		if m.Sites[i].Bad {
			return Bad
		}
	}
	return Good
}

// Task is all that a reviewer sees of the module. It has no field for a site.
func (m *Module) Task(prompt string) ReviewTask {
	return ReviewTask{Spec: "# " + m.Title + "\n\n" + m.Rules, Prompt: prompt, Files: m.Files}
}

// A Violation is a flaw that a reviewer names in a module.
type Violation struct {
	File     string `json:"file"`
	Function string `json:"function,omitempty"`
	Lines    Range  `json:"lines,omitzero"`
	Rule     int    `json:"rule,omitempty"` // number of the rule that is broken; 0 where none is named
	CWEs     []CWE  `json:"cwes,omitempty"`
	Why      string `json:"why,omitempty"`
}

// String gives "orders.go:12-18, refund, rule 4, CWE-862: why".
func (v Violation) String() string {
	var b strings.Builder
	b.WriteString(v.File)
	if !v.Lines.IsZero() {
		b.WriteString(":" + v.Lines.String())
	}
	if v.Function != "" {
		b.WriteString(", " + v.Function)
	}
	if v.Rule > 0 {
		fmt.Fprintf(&b, ", rule %d", v.Rule)
	}
	if len(v.CWEs) > 0 {
		b.WriteString(", " + JoinCWEs(v.CWEs))
	}
	if v.Why != "" {
		b.WriteString(": " + v.Why)
	}
	return b.String()
}

// FormatViolations gives violations as JSON, one a line: the form in which they are
// stored as a review's explanation.
func FormatViolations(vs []Violation) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range vs {
		if i > 0 {
			b.WriteString(",")
		}
		line, _ := json.Marshal(&vs[i]) // strings and numbers
		b.WriteString("\n" + string(line))
	}
	b.WriteString("\n]")
	return b.String()
}

// ParseViolations reads what FormatViolations wrote.
func ParseViolations(text string) (vs []Violation, err error) {
	if err = json.Unmarshal([]byte(text), &vs); err != nil {
		err = fmt.Errorf("no list of violations: %w", err)
	}
	return vs, err
}
