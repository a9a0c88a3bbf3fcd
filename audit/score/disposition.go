package score

import (
	"fmt"
	"strings"

	"assay/audit"
	"assay/internal/cwe"
)

// A Relation is the relation of a finding's CWE to an entry's. Numbers two steps apart,
// including siblings, have none.
type Relation string

// The relations.
const (
	Same     Relation = Relation(cwe.Same)
	ParentOf Relation = Relation(cwe.ParentOf)
	ChildOf  Relation = Relation(cwe.ChildOf)
	// a deprecated number or a category, whose successors the entry's is among
	StandsFor Relation = "stands for"
)

// relate returns the relation of c to own, "" if there is none.
func relate(c, own audit.CWE) Relation {
	if r := cwe.Relate(int(c), int(own)); r != cwe.Unrelated {
		return Relation(r)
	}
	e, _ := cwe.Lookup(int(c))
	for _, next := range e.Successors {
		if cwe.Related(next, int(own)) {
			return StandsFor
		}
	}
	return ""
}

// A Disposition is what became of one finding. Every finding has exactly one.
type Disposition string

// The dispositions. They are tested in this order: suppressed, missing path, line past
// end of file, no CWE; then what matching says.
const (
	Matched Disposition = "matched" // a full match that counts: credit 1
	Partial Disposition = "half"    // credit 0.5
	// matches a vulnerability in full that another finding took, or lies in its Also
	Duplicate Disposition = "duplicate"
	// a CWE of the key where the key has no such entry left
	WrongLocation Disposition = "misplaced"
	DecoyHit      Disposition = "decoy hit"    // matches a decoy
	Unmatched     Disposition = "off-key"      // nothing of the key: new, or wrong
	MissingPath   Disposition = "missing path" // the file is not in the tree
	// the range starts behind the file's last line
	PastEnd    Disposition = "line past end of file"
	NoCWE      Disposition = "no CWE"     // nothing to match by
	Suppressed Disposition = "suppressed" // withdrawn by the auditor itself
)

// Dispositions returns the ten dispositions in the order of reports.
func Dispositions() []Disposition {
	return []Disposition{Matched, Partial, Duplicate, WrongLocation, DecoyHit, Unmatched, MissingPath,
		PastEnd, NoCWE, Suppressed}
}

// By says what joined a finding to an entry's place.
type By string

// What joins a finding to an entry.
const (
	ByFunction By = "function" // the same function
	ByLines    By = "lines"    // lines that overlap or lie within 10 lines
	// the entry's file, outside of its scope; or an entry without function and lines
	ByFile By = "file"
	ByAlso By = "also" // a file that the entry lists under Also
	ByName By = "name" // in a manifest: the component that the entry is about
)

// A Match says why a finding has its disposition.
type Match struct {
	Entry    string    `json:"entry,omitempty"`     // ID of the vulnerability or decoy
	CWE      audit.CWE `json:"cwe,omitempty"`       // the finding's
	EntryCWE audit.CWE `json:"entry_cwe,omitempty"` // the entry's
	Relation Relation  `json:"relation,omitempty"`  // of CWE to EntryCWE
	By       By        `json:"by,omitempty"`
	Distance int       `json:"distance,omitempty"` // lines between; -1 where one side names none
	Detail   string    `json:"detail,omitempty"`   // what none of these says
}

// String returns the reason in a line.
func (r Match) String() string {
	var parts []string
	if r.Entry != "" {
		parts = append(parts, r.Entry)
	}
	switch {
	case r.CWE != 0 && r.Relation == Same:
		parts = append(parts, r.CWE.String())
	case r.CWE != 0 && r.Relation != "":
		parts = append(parts, fmt.Sprintf("%s, %s %s", r.CWE, r.Relation, r.EntryCWE))
	}
	switch {
	case r.By == "":
	case r.Distance < 0:
		parts = append(parts, "by "+string(r.By))
	case r.Distance == 0:
		parts = append(parts, "by "+string(r.By)+", lines overlap")
	default:
		parts = append(parts, fmt.Sprintf("by %s, %d lines off", r.By, r.Distance))
	}
	if r.Detail != "" {
		parts = append(parts, r.Detail)
	}
	return strings.Join(parts, "; ")
}

// A Scored is one finding with its disposition.
type Scored struct {
	Finding     audit.Finding `json:"finding"`
	Path        string        `json:"path,omitempty"` // under the root; empty where there is none
	Disposition Disposition   `json:"disposition"`
	Match       Match         `json:"match"`
	// a duplicate, or one reviewed as such, that is no false positive
	Free bool `json:"free,omitempty"`
	// as a person judged it: "true", "false", "arguable", "same DVJA-03", or "repeated" for one
	// that says again what was judged; empty when nobody did
	Review            string      `json:"review,omitempty"`
	Ignored           []audit.CWE `json:"ignored,omitempty"`    // CWEs behind the first three
	MethodologyCredit float64     `json:"literal_credit"`       // credit in the methodology score
	MethodologyID     string      `json:"literal_id,omitempty"` // the entry that it took there
}

// Fingerprint names the finding for reviews: equal for equal claims (file,
// function, lines, counting CWEs), whoever makes them and in whatever words.
func (s *Scored) Fingerprint() string { return Fingerprint(&s.Finding, s.Path) }

// An EntryResult is what became of one entry of the key.
type EntryResult struct {
	ID                string          `json:"id"`
	File              string          `json:"file,omitempty"`
	Dimension         audit.Dimension `json:"dimension"`
	Finding           int             `json:"finding"` // index in Result.Findings; -1 for none
	Credit            float64         `json:"credit"`  // 1, 0.5 or 0
	Duplicates        int             `json:"duplicates,omitempty"`
	Corroborated      bool            `json:"corroborated,omitempty"`
	MethodologyCredit float64         `json:"literal_credit"`
}
