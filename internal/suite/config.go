package suite

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/joho/godotenv"

	"assay/internal/fixes"
)

// A Settings is what the flags and their environment twins state. A flag takes precedence
// over the environment, the environment over .env.
type Settings struct {
	Models   []string // -model, ASSAY_MODEL: reviewers of Bench
	Auditors []string // -auditor, ASSAY_AUDITOR: run live by Smoke and Regression
	Prompts  []string // -prompt, ASSAY_PROMPT
	// -filter, ASSAY_FILTER: substring or glob over <app>/<case>, or over the project
	Filter string
	Trials int     // -trials, ASSAY_TRIALS
	Budget float64 // -budget, ASSAY_BUDGET: USD; +Inf for "none"
	// -concurrency, ASSAY_CONCURRENCY: requests at once of one provider, or audits; 0: the
	// usual number
	Concurrency int
	// -beside, ASSAY_BESIDE: the variant that runs between the trials of the measured one
	Beside string
	Reuse  bool // -reuse, ASSAY_REUSE: take answered trials of earlier runs
	// -add, ASSAY_ADD: add the trials to those of the newest run of the same variant and target
	Add    bool
	Strict bool   // -strict, ASSAY_STRICT: a miss fails, and so does an inconclusive result
	Change string // -change, ASSAY_CHANGE: what changed, for the record
	Seed   uint64 // -seed, ASSAY_SEED: of the planted projects' draws; 0: the default one
	View   string // -view, ASSAY_VIEW: pool or change: only tables of fixes, in this view
	Seeds  int    // -seeds, ASSAY_SEEDS: how many draws, from Seed on; 0: one

	Root string // ASSAY_ROOT: absolute path of the user's root; default: the working folder
	DB   string // ASSAY_DB: file or postgres:// URL; default: results.db in the root
	PG   string // ASSAY_PG_URL: PostgreSQL for TestVerify; default: one that is started for it
}

// An option is a flag, in the order of the documents.
type option struct {
	name, usage string
	bare        bool // takes no value
}

var options = []option{
	{"model", "reviewers of Bench, separated by commas: patterns, a name of models.md or auditors.md, or provider:model", false},
	{"auditor", "auditors that Smoke and Regression run live, separated by commas: patterns, a name of auditors.md, or a model as -model takes it", false},
	{"prompt", "prompts of fixtures/prompts, separated by commas", false},
	{"filter", "only cases or projects that contain this text or match this glob; also planted, areas, marina.stays@7", false},
	{"trials", "number of trials of each case or project (1)", false},
	{"budget", "USD that a run may cost (5); none for no limit; 0 prints an estimate", false},
	{"concurrency", "requests at once of one provider (8), or audits (2)", false},
	{"beside", "variant to compare with: another name, bare (the section without its Skill), or git:REV", false},
	{"reuse", "take answered trials of earlier runs instead of asking again", true},
	{"add", "add the trials to those of the newest run of the same variant and target", true},
	{"seed", "seed of the planted projects' draws (1)", false},
	{"seeds", "number of draws, from -seed on (1)", false},
	{"view", "only fixtures/fixes: pool (the trees before the first and after the last fix) or change (each as a pull request)", false},
	{"change", "what changed, for the test record", false},
	{"strict", "fail on every miss and on every inconclusive result", true},
}

// define defines the flags, including removed ones.
func define(flags *flag.FlagSet) {
	for name, instead := range removed {
		if name[0] == '-' {
			flags.BoolFunc(name[1:], "removed: "+instead,
				func(string) error { return Removed(name) })
		}
	}
	for _, o := range options {
		if o.bare {
			flags.Bool(o.name, false, o.usage)
		} else {
			flags.String(o.name, "", o.usage)
		}
	}
}

// mostRepeats bounds what is planned in memory.
const mostRepeats = 10_000

// variable returns the environment twin of a flag.
func variable(flag string) string { return "ASSAY_" + strings.ToUpper(flag) }

// configure reads flags and environment. The error lists everything that is wrong.
func configure(flags *flag.FlagSet, getenv func(string) string) (Settings, error) {
	var errs []error
	if rest := flags.Args(); len(rest) > 0 {
		errs = append(errs,
			fmt.Errorf("left-over arguments %q: flags go last, without a package name (with ./... use the environment: ASSAY_MODEL, ...)", rest))
	}
	set := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { set[f.Name] = true })
	text := func(name string) string {
		if set[name] {
			return flags.Lookup(name).Value.String()
		}
		return getenv(variable(name))
	}
	list := func(name string) (items []string) {
		for item := range strings.SplitSeq(text(name), ",") {
			switch item = strings.TrimSpace(item); {
			case item == "":
			case slices.Contains(items, item):
				errs = append(errs,
					fmt.Errorf("-%s names %q twice: expected each once; -trials says how often",
						name, item))
			default:
				items = append(items, item)
			}
		}
		if text(name) != "" && len(items) == 0 {
			errs = append(errs, fmt.Errorf("-%s is %q: expected names, separated by commas",
				name, text(name)))
		}
		return items
	}
	number := func(name string, most, def uint64) uint64 {
		s := text(name)
		if s == "" {
			return def
		}
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil || n < 1 || n > most {
			errs = append(errs, fmt.Errorf("-%s is %q: expected a whole number from 1 to %d",
				name, s, most))
		}
		return n
	}
	boolean := func(name string) bool {
		s := text(name)
		b, err := strconv.ParseBool(s)
		if s != "" && err != nil {
			errs = append(errs, fmt.Errorf("%s is %q: expected 1 or 0", variable(name), s))
		}
		return b
	}
	c := Settings{
		Models: list("model"), Auditors: list("auditor"), Prompts: list("prompt"),
		Filter: text("filter"), Trials: int(number("trials", mostRepeats, 1)),
		Concurrency: int(number("concurrency", math.MaxInt32, 0)), Beside: text("beside"),
		Change: text("change"), Reuse: boolean("reuse"), Add: boolean("add"),
		Strict: boolean("strict"),
		Root:   getenv("ASSAY_ROOT"), DB: getenv("ASSAY_DB"), PG: getenv("ASSAY_PG_URL"),
	}
	c.Seed, c.Seeds = number("seed", math.MaxUint64, 0), int(number("seeds", mostRepeats, 0))
	c.View = text("view")
	var err error
	if c.Budget, err = ParseBudget(text("budget")); err != nil {
		errs = append(errs, err)
	}
	for name := range removed {
		v := name
		if name[0] == '-' {
			v = variable(name[1:])
		}
		if getenv(v) != "" {
			errs = append(errs, Removed(name))
		}
	}
	return c, errors.Join(append(errs, c.check())...)
}

// check returns an error that lists the values that no run can have, and those that exclude each
// other.
func (c *Settings) check() error {
	errs := []error{checkFilter(c.Filter)}
	if c.View != "" && c.View != string(fixes.Pool) && c.View != string(fixes.Change) {
		errs = append(errs, fmt.Errorf("-view is %q: expected pool or change", c.View))
	}
	if c.Beside != "" && len(c.Auditors)+len(c.Models) == 0 {
		errs = append(errs,
			fmt.Errorf("-beside is %q without -auditor or -model: expected the new variant there, and the old one here", c.Beside))
	}
	if c.Beside != "" && (slices.Contains(c.Auditors, c.Beside) ||
		slices.Contains(c.Models, c.Beside)) {
		errs = append(errs,
			fmt.Errorf("-beside is %q, which -auditor or -model names too: expected another name, bare or git:REV", c.Beside))
	}
	if c.Reuse && (c.Add || c.Beside != "") {
		errs = append(errs,
			errors.New("-reuse with -add or -beside: expected one of them: -add and -beside compare trials of known runs"))
	}
	if c.Root != "" && !filepath.IsAbs(c.Root) {
		errs = append(errs,
			fmt.Errorf("ASSAY_ROOT is %q: expected an absolute path, since every package's tests run in a folder of their own", c.Root))
	}
	return errors.Join(errs...)
}

// checkFilter refuses a pattern that matches nothing, whatever there is.
func checkFilter(filter string) error {
	if !doublestar.ValidatePattern(filter) {
		return fmt.Errorf(
			"-filter is %q, a glob that does not close its brackets or braces: expected a part of a name, or a whole glob", filter)
	}
	return nil
}

// ParseBudget reads what -budget takes: USD, by default 5, or none for no limit (+Inf).
func ParseBudget(s string) (float64, error) {
	switch strings.ToLower(s) {
	case "":
		return 5, nil
	case "none":
		return math.Inf(1), nil
	}
	b, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64)
	if err != nil || b < 0 || math.IsNaN(b) || math.IsInf(b, 0) {
		return 0, fmt.Errorf(
			"-budget is %q: expected USD like 2.50, 0 for an estimate alone, or none", s)
	}
	return b, nil
}

// LoadEnv reads the files .env of folders into the environment and returns the names that it
// set. Variables that are set already are kept.
func LoadEnv(dirs ...string) (set map[string]bool, err error) {
	set = map[string]bool{}
	for _, dir := range dirs {
		file := filepath.Join(dir, ".env")
		// Python's tools may live there
		if info, err := os.Stat(file); dir == "" || err == nil && info.IsDir() {
			continue
		}
		lines, err := godotenv.Read(file)
		if errors.Is(err, syscall.ENOTDIR) { // which the root says better
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w: expected lines NAME=value", file, err)
		}
		for name := range lines {
			if deciding.MatchString(name) {
				return nil, fmt.Errorf(
					"%s: %s decides which programs run: set it in the environment, as this file may come with a foreign folder", file, name)
			}
		}
		for name, value := range lines {
			if _, there := os.LookupEnv(name); there {
				continue
			}
			if err := os.Setenv(name, value); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file, name, err)
			}
			set[name] = true
		}
	}
	return set, nil
}

// cacheDir returns the folder for clones of projects.
func cacheDir() (string, error) {
	if dir := os.Getenv("ASSAY_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: set ASSAY_CACHE to a folder for the projects' clones", err)
	}
	return filepath.Join(dir, "assay"), nil
}
