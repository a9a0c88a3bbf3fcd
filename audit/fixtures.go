package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Goals are the absolute thresholds of fixtures/goals.md.
type Goals struct {
	Recall    float64 // 0 to 1
	Precision float64
	F1        float64
	Coverage  int    // dimensions, of ten
	Score     string // which score is asserted: "assay" or "literal"
	Gate      string // what decides: "assay", or "methodology" for its own words
	// recall at chance warns, and does not fail: for those of whom nothing is expected
	AtChance bool
	Bench    BenchGoals
	For      map[string]Goals      // of one auditor by name, in place of these but for Bench
	BenchFor map[string]BenchGoals // of one reviewer by name, in place of Bench
	// of one auditor by name: the flaws of the smoke test that it must find
	SmokeFor map[string]int
	Pos      Pos
}

// BenchOf returns the goals of a reviewer: those stated for it by name, else the general ones.
func (g Goals) BenchOf(reviewer string) BenchGoals {
	if own, ok := g.BenchFor[reviewer]; ok {
		return own
	}
	return g.Bench
}

// BenchGoals are the thresholds of a reviewer over the cases, 0 to 1. A
// threshold of 0 asks for nothing, but for Unanswered, of which it allows none.
type BenchGoals struct {
	BalancedAccuracy float64
	Recall           float64 // on bad cases
	Specificity      float64 // on good cases
	// the share of trials without an answer that a run may have and still prove something; nil
	// for any
	Unanswered *float64
	Pos        Pos
}

// An AuditorEntry is one section of fixtures/auditors.md.
type AuditorEntry struct {
	Name    string
	Kind    string // "agent", "tool", "model" or "patterns"
	Format  string // "sarif", "json", "text" or "auto"
	Timeout time.Duration
	Env     []string // names of variables that are let through
	Network Network
	// folders and files that it may read beside the export: /path, ~/path, $NAME or $NAME/path
	Reads  []string
	Writes []string // those that it may write
	// variables that must be set, and files that must be there ($NAME/pattern); alternatives
	// joined by " or "
	Needs []string
	// file that it writes its report to, relative to its working folder; empty: stdout
	Output  string
	Version string // shell command line that prints its version; may be empty
	Model   string // the model that it asks; empty where it asks none, or says so itself
	// slash patterns of the files that it consists of, from the root or from $NAME/; ** crosses
	// folders
	Files []string
	Skill []string // those of Files that are its skill
	Bare  string   // shell command line without the skill; empty where there is no Skill
	// slash patterns of the files that instruct it, from the root or from $NAME/; ** crosses
	// folders
	Prompt  []string
	Command string  // shell command line, run in the export
	Root    string  // folder that Files are below; set by who reads the section
	Limits  Limits  // where it asks for others than the usual ones
	Cost    float64 // what one run may cost at most, USD; see Priced
	Priced  bool    // whether Cost is stated
	// words of a failure that make another try worth it: statuses like 429, or texts
	Retry []string
	Rules map[string][]CWE
	Pos   Pos
}

// WithoutSkill returns the section with the command line and the files that it has without
// its skill; ok is false if it states no skill.
func (e AuditorEntry) WithoutSkill() (bare AuditorEntry, ok bool) {
	if len(e.Skill) == 0 || e.Bare == "" {
		return e, false
	}
	bare = e
	bare.Command, bare.Bare, bare.Skill = e.Bare, "", nil
	bare.Files = slices.DeleteFunc(slices.Clone(e.Files),
		func(f string) bool { return slices.Contains(e.Skill, f) })
	return bare, true
}

// Variables returns the names of the environment variables that the program gets or that decide
// which provider it uses: those of Environment, then the address and the key of its provider.
func (e *AuditorEntry) Variables() []string {
	names := slices.Clone(e.Env)
	for _, name := range []string{e.Network.BaseURL, e.Network.Key} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// A Network is what an auditor may reach of the network; the zero one is nothing.
// Unless it is open, it reaches hosts through a proxy of its run alone.
type Network struct {
	Open     bool     // whatever this machine reaches, by no proxy
	Hosts    []string // name or name:port (443 where it names none); *.name is all below a name
	Provider string   // the URL of the one host whose key the proxy adds; may be empty
	// the variable that tells the program where that is; one that is set here names another
	BaseURL string
	// the variable that holds the key here, and a token of the run in the program's environment
	Key string
}

// None reports whether nothing is within reach.
func (n Network) None() bool { return !n.Open && len(n.Hosts) == 0 && n.Provider == "" }

// Traffic is what an auditor exchanged with one host.
type Traffic struct {
	Host        string `json:"host"` // name:port
	Connections int    `json:"connections"`
	Refused     int    `json:"refused,omitempty"` // how often it was asked for and not let through
	Sent        int64  `json:"sent"`              // bytes on the wire
	Received    int64  `json:"received"`

	// Models are those that the provider was asked, with those that answered, each pair once.
	Models []AnsweredBy `json:"models,omitempty"`

	// Of the provider: POST requests, those that it answered in full and without an error, and
	// the last error's HTTP status.
	Requests int `json:"requests,omitempty"`
	Answers  int `json:"answers,omitempty"`
	Status   int `json:"status,omitempty"`
}

// An AnsweredBy is a model that was requested and the one that answered.
type AnsweredBy struct {
	Asked  string `json:"asked"`
	Served string `json:"served"`
}

// AddTraffic returns the sum of both by host, sorted by host.
func AddTraffic(a, b []Traffic) []Traffic {
	sum := slices.Concat(a, b)
	slices.SortStableFunc(sum, func(x, y Traffic) int { return cmp.Compare(x.Host, y.Host) })
	for i := len(sum) - 1; i > 0; i-- {
		if x, y := &sum[i-1], sum[i]; x.Host == y.Host {
			x.Connections, x.Refused, x.Sent, x.Received = x.Connections+y.Connections, x.Refused+
				y.Refused, x.Sent+y.Sent, x.Received+y.Received
			x.Requests, x.Answers, x.Status = x.Requests+y.Requests, x.Answers+y.Answers,
				cmp.Or(y.Status, x.Status)
			for _, m := range y.Models {
				if !slices.Contains(x.Models, m) {
					x.Models = append(x.Models, m)
				}
			}
			sum = slices.Delete(sum, i, i+1)
		}
	}
	return sum
}

// Limits are what one run of an auditor may use; 0 is the usual limit. A run that
// crosses one ends, and is invalid.
type Limits struct {
	Memory    int64         // bytes, of all its processes together
	Processes int           // and threads, at one time
	OpenFiles int           // of one process
	CPU       time.Duration // of all its processes together
	Disk      int64         // bytes in its home, temporary and output folders together
	Report    int64         // bytes of its report
	Findings  int

	// Of a model alone: what it may take of its provider. One that nears a limit is
	// asked for its report.
	Turns   int
	Tokens  int64 // read and written, of all turns together
	USD     float64
	Context int64 // tokens of one turn; a server that takes fewer is believed
}

// A Model is one row of fixtures/models.md: a model with its settings and its price.
type Model struct {
	Name     string
	Provider string   // openrouter, openai, anthropic, google, ollama, or own (ASSAY_BASE_URL)
	ID       string   // the provider's own
	Aliases  []string // other names of the same model, such as a server may answer with
	In, Out  float64  // USD per million tokens
	Cached   float64  // USD per million input tokens read from the provider's cache
	Priced   bool
	Date     string // of the prices, YYYY-MM-DD
	Settings ModelSettings
	Pos      Pos
}

// ModelSettings are what every request to a model states. Their zero value leaves all of it
// to the provider.
type ModelSettings struct {
	API         string   // chat, responses or messages; empty for the provider's usual one
	Effort      string   // of reasoning, in the provider's words
	Temperature *float64 // nil for the provider's default
	MaxTokens   int64    // of one answer, reasoning included; 0 for Assay's default
	TextTools   bool     // tools are offered in the prompt, for a server that has no function calls
}

// String returns the settings as a row of models.md states them, empty where there are none.
func (s ModelSettings) String() string {
	var set []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			set = append(set, name+"="+value)
		}
	}
	add("effort", s.Effort)
	if s.Temperature != nil {
		set = append(set, "temperature="+strconv.FormatFloat(*s.Temperature, 'g', -1, 64))
	}
	add("max_tokens", strconv.FormatInt(s.MaxTokens, 10))
	add("api", s.API)
	if s.TextTools {
		add("tools", "text")
	}
	return strings.Join(set, " ")
}

// A Trigger is one rule of fixtures/triggers.md: which suite a change needs.
type Trigger struct {
	Glob  string // slash pattern; ** crosses folders
	Suite string // "full", "smoke" or "none"
	Why   string
	Pos   Pos
}
