package audit

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A Range is a range of lines, both ends included, from 1. The zero value is no
// range.
type Range struct {
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
}

// IsZero reports whether r names no lines.
func (r Range) IsZero() bool { return r.Start <= 0 }

// String returns "12" or "12-18", and "" for the zero range.
func (r Range) String() string {
	switch {
	case r.IsZero():
		return ""
	case r.End <= r.Start:
		return fmt.Sprint(r.Start)
	}
	return fmt.Sprintf("%d-%d", r.Start, r.End)
}

// Overlaps reports whether two ranges share a line. No range overlaps nothing.
func (r Range) Overlaps(o Range) bool {
	return !r.IsZero() && !o.IsZero() && r.Start <= max(o.Start, o.End) &&
		o.Start <= max(r.Start, r.End)
}

// A Project is a benchmark code base, pinned to a commit, with its answer key.
type Project struct {
	Name            string // the file's name without .md
	Title           string
	Repository      string // URL
	Commit          string // 40 hex digits
	Languages       []string
	Licence         string
	Expected        int     // findings that an auditor is expected to reach
	RecallGoal      float64 // 0 to 1; 0 when the project states none and goals.md holds
	Coverage        int     // dimensions to cover; 0 when the project states none
	Vulnerabilities []Vulnerability
	Decoys          []Decoy
	Minimums        map[Dimension]int
	Blanks          []Blank
	Renames         []Rename
	Reviews         []FindingReview // what was found beside the key and judged later; no part of the key
	Mended          bool            // the entries are mended here: what reports them is wrong
	Planted         bool            // one of ours, drawn by a seed: whatever its key lacks is no flaw
	Tree            Tree
	// by path: files at the pin beside those of Tree; nil without a list
	Others map[string]bool
	// by path: the functions of the files that the key names; nil without a manifest
	Functions map[string][]Function
	KeyHash   string // sha256 of the parsed known vulnerabilities and decoys, hex
	Pos       Pos
}

// An Entry is what known vulnerabilities and decoys have in common: where it is that
// they speak of.
type Entry struct {
	ID        string
	CWEs      []CWE
	File      string
	Functions []string
	Lines     Range
	Title     string
	Decoy     bool
	Pos       Pos
}

// OfFixes reports whether the key is a table of security fixes.
func (p *Project) OfFixes() bool {
	return len(p.Vulnerabilities) > 0 && len(p.Vulnerabilities[0].Places) > 0
}

// Entries returns the vulnerabilities and then the decoys of the key.
func (p *Project) Entries() []Entry {
	var es []Entry
	for _, k := range p.Vulnerabilities {
		es = append(es, Entry{k.ID, k.CWEs, k.File, k.Functions, k.Lines, k.Title, false, k.Pos})
	}
	for _, d := range p.Decoys {
		es = append(es, Entry{d.ID, d.CWEs, d.File, d.Functions, d.Lines, d.Title, true, d.Pos})
	}
	return es
}

// A Function is a function of a project's source.
type Function struct {
	Name  string // without its class
	Lines Range  // declaration and body
}

// A Vulnerability is a known vulnerability: an entry of the key.
type Vulnerability struct {
	ID           string
	Dimension    Dimension
	CWEs         []CWE // each that a competent auditor would name
	Severity     Severity
	File         string   // slash path from the project's root
	Functions    []string // as the source names them; empty where there is none
	Lines        Range
	OtherFiles   []string `json:"Also"` // other files that show the flaw: the source, the sink
	Title        string
	Evidence     string   // one line: source -> sink, or what is missing
	Corroborated []string // advisories, challenges, the project's own documents
	Pos          Pos

	// Places are those of a flaw that a fix mended, File, Functions and Lines the first of
	// them. A finding at any of them is right, and beside them none earns partial credit.
	Places []Place `json:",omitempty"`
}

// A Place is a function or a range of lines of a file.
type Place struct {
	File     string
	Function string // "" outside of functions that have a name
	Lines    Range
}

// String returns "file:function:12-14".
func (p Place) String() string {
	s := p.File
	for _, part := range []string{p.Function, p.Lines.String()} {
		if part != "" {
			s += ":" + part
		}
	}
	return s
}

// A Decoy is an entry of the key that only looks vulnerable.
type Decoy struct {
	ID        string
	Dimension Dimension
	CWEs      []CWE
	File      string
	Functions []string
	Lines     Range
	Title     string
	Reason    string
	Pos       Pos
}

// A Ruling is what a person says of findings that the key does not hold.
type Ruling string

// The rulings.
const (
	RuledTrue     Ruling = "true"
	RuledFalse    Ruling = "false"
	RuledSame     Ruling = "same"     // as an entry of the key: nothing new, and nothing wrong
	RuledArguable Ruling = "arguable" // a fair reader may hold it for either
)

// A FindingReview is a ruling on findings outside of the key at one place.
type FindingReview struct {
	CWEs      []CWE
	File      string
	Functions []string
	Lines     Range
	Ruling    Ruling
	Entry     string // of RuledSame: the known vulnerability's ID
	By        string
	Date      string // YYYY-MM-DD
	Why       string
	Pos       Pos
}

// A Blank names lines that hold the project's own answers. The sealed export
// empties them in place, so that line numbers stay.
type Blank struct {
	Glob  string  // slash pattern from the root; ** crosses folders
	Lines []Range // empty with an empty Pattern: the whole file
	// regular expression (RE2): what it matches is cut out, within a line unless it begins with
	// (?s)
	Pattern string
	// of a Pattern: what stands there instead, with $1 for its first group; empty: nothing
	With string
	Why  string
	Pos  Pos
}

// A Rename replaces a name that reveals an answer, in paths and contents of the sealed export.
// Findings are mapped back.
type Rename struct {
	From, To string
	Within   bool // parts of longer names too, not whole names alone
	Pos      Pos
}

// A TreeFile is one line of a tree manifest.
type TreeFile struct {
	Path  string
	Lines int
	Blob  string // git's blob hash, 40 hex digits
}

// A Tree is a project's tree manifest by path.
type Tree map[string]TreeFile

// An AuditTask is all that an auditor gets: a folder with source. It has no
// field for a key.
type AuditTask struct {
	Dir    string   // absolute path of the sealed export
	MaxUSD float64  // what the run may cost at most; 0 where nobody says
	Scope  []string // folders that are to be audited; empty: everything

	// Of a change that is to be reviewed: Dir is a repository of two commits.
	Base, Head string // hashes
	Diff       string // from Base to Head, as a patch
}

// An Auditor reads a project's source and reports findings. Several goroutines may ask
// one at once.
type Auditor interface {
	// Name is as in records and in subtest paths.
	Name() string
	// Audit runs once. A run that proves nothing is told by AuditRun.Invalid. An
	// error means that the auditor could not be started at all.
	Audit(ctx context.Context, task AuditTask) (AuditRun, error)
}

// An AuditRun is one run of an auditor, with everything that it left behind.
type AuditRun struct {
	Report Report
	Raw    []byte // the report as it came, up to the cap
	Stderr []byte // the tail, up to the cap
	// what a program wrote there, where that is neither its report nor its events; the tail, up
	// to the cap
	Stdout []byte
	// what it did, turn by turn, as JSON of its own kind; empty where it does not say
	Events  []byte
	Command []string
	Version string
	// as served, where the agent says so; else as its section says; empty without one
	Model       string
	Unconfirmed bool // whether Model is the one that was asked, and nothing says who answered
	ExitCode    int
	Started     time.Time
	Duration    time.Duration
	PeakMemory  int64 // bytes; 0 when it could not be measured
	Usage       Usage
	Exposed     string // what it was not kept from while it ran; empty when it was confined
	// by what it was held while it ran: sandbox, account, network, and how its limits were kept
	Confined string
	Network  []Traffic // with whom it spoke, or tried to, through the proxy of its run
	Invalid  string    // why the run proves nothing; empty when it counts
	// it ended by itself, and all that it wrote is here: reading that again may mend what could
	// not be read
	Whole bool
	// why the run shows an early end: its report breaks off, or its model was stopped; empty
	// when it shows none
	EndedEarly string

	// Of a run that failed, what is known of the provider's refusal.
	HTTPStatus int           // as the auditor says; 0 where it says none
	Transient  bool          // whether the same run may succeed later
	RetryAfter time.Duration // how long the provider asks to wait; 0 when it does not say
}

// A Finding is one thing that an auditor reports.
type Finding struct {
	ID        string    `json:"id,omitempty"`
	RuleID    string    `json:"rule,omitempty"`
	CWEs      []CWE     `json:"cwes,omitempty"` // in the order in which they were reported
	Severity  Severity  `json:"severity,omitempty"`
	Dimension Dimension `json:"dimension,omitempty"` // as the auditor says; often empty
	// as reported; score.Paths brings it under the root
	File        string  `json:"file,omitempty"`
	Function    string  `json:"function,omitempty"`
	Lines       Range   `json:"lines,omitzero"`
	Title       string  `json:"title,omitempty"`
	Description string  `json:"description,omitempty"`
	Confidence  float64 `json:"confidence,omitempty"` // 0 to 1; 0 when not stated
	Suppressed  string  `json:"suppressed,omitempty"` // why the auditor itself withdrew it
	Trace       []Step  `json:"trace,omitempty"`      // source -> steps -> sink
	// further locations of the same finding: the first two count, too
	Others []Step `json:"others,omitempty"`
	Pos    Pos    `json:"-"` // where in the report it stands
}

// A Step is one place on a trace.
type Step struct {
	File  string `json:"file,omitempty"`
	Lines Range  `json:"lines,omitzero"`
	Note  string `json:"note,omitempty"`
}

// A Report is what was read from an auditor's output.
type Report struct {
	Format   string // "sarif", "json" or "text"
	Tool     string // as the report names it
	Version  string
	Root     string // the project root that the report names; may be empty
	Findings []Finding
	Coverage []Dimension // what the auditor claims to have covered
	Header   bool        // text: a whole HEADER block was there
	Sentinel bool        // text: the last line that is not blank is the SENTINEL
	// why the report shows an early end: it breaks off, or STATS differ from its findings;
	// empty when it shows none
	CutShort string
	Problems []Problem // what the reader could not use
	// why the tool itself says that its run did not succeed; empty when it does not
	Failed string
}

// A Problem is something in a report that could not be used.
type Problem struct {
	Pos  Pos
	What string
}

// A Verdict is what the gate says.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "PASS"
	Warn    Verdict = "WARN"
	Fail    Verdict = "FAIL"
	Invalid Verdict = "INVALID" // the run proves nothing
)

// Worst returns the gravest of the verdicts: INVALID, FAIL, WARN, PASS. Without verdicts it
// returns INVALID, because nothing was judged.
func Worst(vs ...Verdict) Verdict {
	order, worst := []Verdict{Pass, Warn, Fail, Invalid}, -1
	for _, v := range vs {
		worst = max(worst, slices.Index(order, v))
	}
	if worst < 0 {
		return Invalid
	}
	return order[worst]
}
