// Package rules holds what the analyser knows of languages, frameworks and
// weaknesses, as data: YAML files that are embedded, read once and compiled into
// tables by name. The words of the format are the fields of Rule, Match and
// Model; a field that no struct knows is an error.
package rules

import (
	"embed"
	"regexp"

	"assay/audit"
	"assay/internal/static/lang"
)

//go:embed *.yaml
var files embed.FS

// EngineVersion changes when the engine judges the same rules differently. It
// is part of the hash that recordings carry.
const EngineVersion = "6"

// A Rule is one thing that the analyser reports.
type Rule struct {
	ID         string      `yaml:"id"`
	Title      string      `yaml:"title"`
	CWEs       []audit.CWE `yaml:"cwe"` // most specific first
	Dimension  string      `yaml:"dim"`
	Severity   string      `yaml:"sev"`
	Lang       []string    `yaml:"lang"`
	Why        string      `yaml:"why"`   // what an attacker gains, and what to do
	Clean      Classes     `yaml:"clean"` // class of sanitizers that end this flow
	Weak       string      `yaml:"weak"`  // shape under which a parameter of an uncalled function counts as a source
	Confidence float64     `yaml:"conf"`  // of a match; flows that start at a parameter get less
	Match      []Match     `yaml:"match"`
	Text       []Text      `yaml:"text"`
	Check      string      `yaml:"check"` // a check in Go that reports under this rule
	Per        string      `yaml:"per"`   // file or function: further matches there say nothing new
	Note       bool        `yaml:"note"`  // right less than a third of the time on ordinary code: LOW, and withdrawn

	Sev audit.Severity  `yaml:"-"`
	Dim audit.Dimension `yaml:"-"`
}

// A Match is a place in the tree that a rule fires on. Exactly one of Call, New,
// Assign, Note, Pair, Attr, Return and Ident says which.
type Match struct {
	Call    string `yaml:"call"`
	New     string `yaml:"new"`
	Assign  string `yaml:"assign"` // a member's or variable's name, receiver as in call
	Note    string `yaml:"note"`
	Pair    string `yaml:"pair"`   // a key of a literal collection or a named argument
	Attr    string `yaml:"attr"`   // an attribute of markup in code
	Return  Expr   `yaml:"return"` // a value returned by a function whose annotations match this expression
	Ident   string `yaml:"ident"`
	Arg     Words  `yaml:"arg"`   // a position or name, or several: one of them is tainted
	Shape   string `yaml:"shape"` // condition on the text that the tainted value stands in
	Where   Tests  `yaml:"where"`
	Absent  Scopes `yaml:"absent"`  // scope (call, function, class, file, project) -> expression that must not match
	Present Scopes `yaml:"present"` // scope -> expression that must match

	Rule *Rule `yaml:"-"`
}

// A Text is a search in files that are not parsed as code.
type Text struct {
	Files   Expr `yaml:"files"`   // expression on the path
	Line    Expr `yaml:"line"`    // expression on each line
	Unless  Expr `yaml:"unless"`  // expression on the line that takes the match back
	Present Expr `yaml:"present"` // expression on the whole file

	Rule *Rule `yaml:"-"`
}

// A Pattern names calls or members: a receiver and a name. Names are looked up
// by table, so only the receiver is left to test.
type Pattern struct {
	Recv   string // "" none, "*" any, else a name
	RecvRE *regexp.Regexp
	Match  *Match
	Model  *Model
}

// A Model says what a call or member does to data.
type Model struct {
	Kind   string   `yaml:"kind"` // source, clean, guard, pass, stop, type
	Lang   []string `yaml:"lang"`
	Call   string   `yaml:"call"`
	Member string   `yaml:"member"`
	Ident  string   `yaml:"ident"`
	Param  Expr     `yaml:"param"`  // source: expression on a parameter's annotations
	Entry  Expr     `yaml:"entry"`  // source: expression on a function's annotations or name, all plain parameters count
	Except Expr     `yaml:"except"` // expression on parameter types or names that are left out
	Class  Classes  `yaml:"class"`
	Arg    string   `yaml:"arg"`
	Type   string   `yaml:"type"`
	Needs  Classes  `yaml:"needs"` // class that must already be clean
	Note   string   `yaml:"note"`
	Where  Tests    `yaml:"where"`
}

type document struct {
	Rules  []*Rule  `yaml:"rules"`
	Models []*Model `yaml:"models"`
}

// A Table finds patterns of one language by name.
type Table struct {
	Calls, Assigns, Notes, Pairs, Attrs, Idents   map[string][]Pattern
	Sources, Cleans, Guards, Passes, Stops, Types map[string][]Pattern
	SourceMembers, SourceIdents                   map[string][]Pattern
	Params, Entries                               []*Model
	Returns                                       []*Match
}

// A Set is all rules, compiled.
type Set struct {
	Rules  []*Rule
	ByID   map[string]*Rule
	Tables map[lang.Lang]*Table
	Texts  []*Text
	Hash   string
}
