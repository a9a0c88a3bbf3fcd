package audit

// An App is one application of tests/ with everything that its proof needs:
// the SPEC, the data or harness, the families with their cases.
type App struct {
	App  string // its name
	Dir  string // folder of the application, as the reader was given it
	Spec *Spec
	// the fenced sql block under the SPEC's "## Schema"; empty where cases are code
	Schema string
	// data.sql: the rows (and, where Schema is empty, the tables); empty where cases are code
	Data string
	// the files of the folder whose names begin with "harness": they run cases that are code
	Harness map[string][]byte
	Oracles []Oracle // oracles.md, "# Oracles": these judge every family
	// oracles.md, "# Session": the parameters that are not the client's; cases are run with odd
	// values of all others
	Session  []string
	Families []Family // ascending by query
}

// HasDatabase reports whether its cases are SQL; else they are code, which its harness runs.
func (a *App) HasDatabase() bool { return a.Schema != "" || a.Data != "" }

// A Family is the variants of one query with their proof.
type Family struct {
	App, Query  string
	Description string
	Sets        []ParamSet // "# Parameters", in the file's order
	Verify      string     // "# Verify": a SELECT that shows the state afterwards; empty for reads
	Survivors   []Survivor // "# Mutants"
	Disputes    []Dispute  // "# Disputed"
	Cases       []*Case    // ascending by number
	Pos         Pos        // <query>.md; its Line is 0, and its File "" where the proof is missing
}

// A ParamSet is one JSON object of "# Parameters".
//
// Keys that begin with an underscore are reserved and not in Values: "_set" is "benign" or
// "attack"; "_race" holds the values of a second session that runs while the first is half-way,
// "_rival" the SQL that it runs instead of the case; "_now" is the frozen time (RFC 3339) and
// "_timezone" the session's zone.
type ParamSet struct {
	Set      string         // SetBenign, SetAttack, or "" where the file does not say
	Values   map[string]any // as encoding/json gives them, numbers as json.Number
	Race     map[string]any // nil where there is no second session; empty: the same values
	Edge     string         // where the engine made the set out of a benign one: what it changed
	Rival    string         // what the second session runs in place of the case; "": the case
	Now      string         // "": the engine's own frozen time
	TimeZone string         // "": UTC
	Pos      Pos
}

// The kinds of a ParamSet.
const (
	SetBenign = "benign" // the bads do here what the goods do
	SetAttack = "attack" // here a bad may break what it violates
)

// An Oracle is a SELECT that returns what a requirement forbids: any row is a
// violation. It is a level-two heading "## 2: name" with a fenced sql block.
type Oracle struct {
	Requirement int
	Name        string
	SQL         string
	Pos         Pos
}

// A Survivor is a mutant of a good that no oracle catches, with the reason: one
// row of the table (Case | Mutant | Reason) under "# Mutants".
type Survivor struct {
	Case   int    // the good's number
	Mutant string // as the engine names it, like "drop WHERE o.note IS NULL"
	Reason string
	Pos    Pos
}

// A Dispute is a case whose label a careful reader did not see, and what settles it:
// one row of the table (Case | Sentence | Run) under "# Disputed".
type Dispute struct {
	Case     int    // its number
	Sentence string // of the SPEC, word for word, that decides
	Run      string // the parameters, and what the case does with them
	Pos      Pos
}
