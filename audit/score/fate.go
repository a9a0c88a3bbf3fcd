package score

import (
	"fmt"
	"strings"

	"assay/audit"
	"assay/internal/cwe"
)

// A Fate is what became of one finding. Every finding has exactly one.
type Fate string

// The fates. They are tested in this order: suppressed, missing path, line past
// end of file, no CWE; then what matching says.
const (
	Matched     Fate = "matched"               // a full match that counts: credit 1
	Half        Fate = "half"                  // credit 0.5
	Duplicate   Fate = "duplicate"             // matches a vulnerability in full that another finding took
	Misplaced   Fate = "misplaced"             // a CWE of the key where the key has no such entry left
	DecoyHit    Fate = "decoy hit"             // matches a decoy
	OffKey      Fate = "off-key"               // nothing of the key: new, or wrong
	MissingPath Fate = "missing path"          // the file is not in the tree
	PastEnd     Fate = "line past end of file" // the range starts behind the file's last line
	NoCWE       Fate = "no CWE"                // nothing to match by
	Suppressed  Fate = "suppressed"            // withdrawn by the auditor itself
)

// Fates gives the ten fates in the order in which they are told.
func Fates() []Fate {
	return []Fate{Matched, Half, Duplicate, Misplaced, DecoyHit, OffKey, MissingPath, PastEnd, NoCWE, Suppressed}
}

// By says what joined a finding to an entry's place.
type By string

// What joins a finding to an entry.
const (
	ByFunction By = "function" // the same function
	ByLines    By = "lines"    // lines that overlap or lie within 10 lines
	ByFile     By = "file"     // the entry's file, outside of its scope; or an entry without function and lines
	ByAlso     By = "also"     // a file that the entry lists under Also
)

// A Reason says why a finding has its fate.
type Reason struct {
	Entry    string       `json:"entry,omitempty"`     // ID of the vulnerability or decoy
	CWE      audit.CWE    `json:"cwe,omitempty"`       // the finding's
	EntryCWE audit.CWE    `json:"entry_cwe,omitempty"` // the entry's
	Relation cwe.Relation `json:"relation,omitzero"`   // of CWE to EntryCWE
	By       By           `json:"by,omitempty"`
	Distance int          `json:"distance,omitempty"` // lines between; -1 where one side names none
	Detail   string       `json:"detail,omitempty"`   // what none of these says
}

// String tells the reason in a line.
func (r Reason) String() string {
	var parts []string
	if r.Entry != "" {
		parts = append(parts, r.Entry)
	}
	switch {
	case r.CWE != 0 && r.Relation == cwe.Same:
		parts = append(parts, r.CWE.String())
	case r.CWE != 0 && r.Relation != cwe.Unrelated:
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

// A Scored is one finding with its fate.
type Scored struct {
	Finding  audit.Finding `json:"finding"`
	Path     string        `json:"path,omitempty"` // under the root; empty where there is none
	Fate     Fate          `json:"fate"`
	Reason   Reason        `json:"reason"`
	Free     bool          `json:"free,omitempty"`      // a duplicate that is no false positive
	Review   string        `json:"review,omitempty"`    // "true" or "false" as a person judged it; empty when nobody did
	Ignored  []audit.CWE   `json:"ignored,omitempty"`   // CWEs behind the first three
	Letter   float64       `json:"letter_credit"`       // credit by the methodology's letter
	LetterID string        `json:"letter_id,omitempty"` // the entry that it took there
}

// Fingerprint names the finding for reviews: equal for equal claims (file,
// function, lines, counting CWEs), whoever makes them and in whatever words.
func (s *Scored) Fingerprint() string { return Fingerprint(&s.Finding, s.Path) }

// A KnownResult is what became of one entry of the key.
type KnownResult struct {
	ID           string          `json:"id"`
	Dimension    audit.Dimension `json:"dimension"`
	Finding      int             `json:"finding"` // index in Result.Findings; -1 for none
	Credit       float64         `json:"credit"`  // 1, 0.5 or 0
	Duplicates   int             `json:"duplicates,omitempty"`
	Corroborated bool            `json:"corroborated,omitempty"`
	LetterCredit float64         `json:"letter_credit"`
}
