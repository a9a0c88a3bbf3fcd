package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/patterns"
	"assay/internal/seal"
)

// An env is the configuration of a run with the fixtures that it names.
type env struct {
	cfg       Settings
	root      *root
	auditors  []audit.Auditor    // provided as Go values
	reviewers []audit.Reviewer   // likewise
	dotenv    map[string]bool    // the variables that .env set
	change    func() string      // what was changed: -change, or the subject of git's last commit
	say       func(what string)  // shows what the run is doing
	onClose   func(func() error) // has something done when the run is closed

	// Tables of the root, each read once.
	dimensions func() (map[audit.CWE]audit.Dimension, error)
	goals      func() (audit.Goals, error)
	registry   func() (auditor.Registry, error)
	cases      func() (*fixture.Corpus, error)
}

// newEnv returns the environment of a root with these flags.
func newEnv(cfg Settings, root *root) *env {
	root.planted = namesPlanted(cfg.Filter)
	e := &env{cfg: cfg, root: root, change: func() string { return cfg.Change },
		say: func(string) {}}
	return e.reading()
}

// reading returns a copy whose tables are those of its root.
func (e *env) reading() *env {
	c := *e
	c.dimensions = sync.OnceValues(func() (map[audit.CWE]audit.Dimension, error) {
		return fixture.ReadDimensions(c.root.setting("fixtures/dimensions.md"),
			"fixtures/dimensions.md")
	})
	c.goals = sync.OnceValues(c.readGoals)
	c.registry = sync.OnceValues(c.readRegistry)
	c.cases = sync.OnceValues(func() (*fixture.Corpus, error) {
		return fixture.ReadCorpus(c.root.fixtures(), "tests", c.root.strict())
	})
	return &c
}

// read reads configuration and root.
func (s *Suite) read() (*env, error) {
	file, err := LoadEnv(s.opts.Out, s.opts.Dir, os.Getenv("ASSAY_ROOT"))
	if err != nil {
		return nil, err
	}
	cfg, err := configure(s.flags, os.Getenv)
	if err = errors.Join(err, checkVariables(os.Environ())); err != nil {
		return nil, err
	}
	root, err := openRoot(s.opts.Shipped, cmp.Or(cfg.Root, s.opts.Dir), s.opts.Out, s.opts.Both)
	if err != nil {
		return nil, err
	}
	if lacking := root.lacking(); len(lacking) > 0 {
		s.summary.note("%s has no %s: those shipped with Assay are used", root.Dir,
			strings.Join(lacking, ", "))
	}
	e := newEnv(cfg, root)
	e.auditors, e.reviewers, e.dotenv = s.opts.Auditors, s.opts.Reviewers, file
	e.say = func(what string) { s.progress.say("%s", what) }
	if cfg.Change == "" {
		e.change = sync.OnceValue(func() string { // hash and subject; "" where git knows none
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			last, err := seal.GitOutput(ctx, "-C", root.Dir, "log", "-1", "--format=%h %s")
			if err != nil {
				return ""
			}
			return last
		})
	}
	return e.reading(), nil
}

// readGoals reads goals.md. Goals for a name that nothing has are an error: a misspelt name
// would switch them off.
func (e *env) readGoals() (audit.Goals, error) {
	g, err := fixture.ReadGoals(e.root.setting("fixtures/goals.md"), "fixtures/goals.md")
	if err != nil {
		return g, err
	}
	names, err := e.registry()
	if err != nil {
		return g, err
	}
	stated := map[string]audit.Pos{}
	for name, own := range g.For {
		stated[name] = own.Pos
	}
	for name, own := range g.BenchFor {
		stated[name] = own.Pos
	}
	for name := range g.SmokeFor {
		if _, there := stated[name]; !there {
			stated[name] = g.Pos
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stated)) {
		if err := Removed(name); err != nil {
			return g, fmt.Errorf("%s: goals for %q: %w: give the section that name, or delete it",
				stated[name], name, err)
		}
		if e.auditor(name) == nil && !strings.ContainsAny(name, ":/") && !names.Has(name) {
			return g, fmt.Errorf(
				"%s: goals for %q, and nothing has that name: expected a section of fixtures/auditors.md, a model of fixtures/models.md or provider:model", stated[name], name)
		}
	}
	return g, nil
}

// auditor returns the provided auditor of this name; nil without one.
func (e *env) auditor(name string) audit.Auditor {
	for _, a := range e.auditors {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// readRegistry returns the names of auditors and reviewers that can be chosen.
func (e *env) readRegistry() (r auditor.Registry, err error) {
	text := func(name string) (string, error) { p, err := e.prompt(name); return p.text, err }
	r = auditor.Registry{Getenv: os.Getenv, Provided: e.reviewers, Prompt: text, Budget: e.cfg.Budget}
	if r.Models, err = fixture.ReadModels(e.root.setting("fixtures/models.md"),
		"fixtures/models.md"); err != nil {
		return r, err
	}
	r.Auditors, err = fixture.ReadAuditors(e.root.setting("fixtures/auditors.md"),
		"fixtures/auditors.md")
	for i := range r.Auditors {
		r.Auditors[i].Root = e.root.Dir
	}
	isPatterns := func(a audit.AuditorEntry) bool { return a.Name == patterns.Name }
	if !slices.ContainsFunc(r.Auditors, isPatterns) {
		r.Auditors = append(r.Auditors, audit.AuditorEntry{Name: patterns.Name, Kind: "patterns",
			Format: "sarif", Timeout: 30 * time.Minute})
	}
	return r, err
}

// entry returns the section of an auditor; one with a name alone where there is none.
func (e *env) entry(name string) (audit.AuditorEntry, error) {
	r, err := e.registry()
	for _, a := range r.Auditors {
		if a.Name == name && e.auditor(name) == nil {
			return a, err
		}
	}
	return audit.AuditorEntry{Name: name}, err
}

// removed returns an error for a name that was Assay's own, unless the root has an auditor
// or reviewer of that name.
func (e *env) removed(name string) error {
	r, err := e.registry()
	if err != nil || r.Has(name) || e.auditor(name) != nil {
		return err
	}
	return Removed(name)
}

// A prompt is a file of fixtures/prompts.
type prompt struct{ name, text string }

const defaultPrompt = "evaluation-prompt"

// prompt reads a prompt. The default one may be in the root of a corpus that was not
// written for Assay.
func (e *env) prompt(name string) (prompt, error) {
	dir := "fixtures/prompts"
	if name == defaultPrompt && e.root.user != nil && exists(e.root.user, defaultPrompt+".txt") {
		dir = "."
	}
	text, err := fixture.ReadPrompt(e.root.setting(path.Join(dir, name+".txt")), dir, name)
	return prompt{name, text}, err
}

// promptHash returns the hash of an auditor's instructions; "" where it has none.
func (e *env) promptHash(a audit.Auditor) (string, error) {
	if model, ok := a.(interface{ PromptHash() string }); ok {
		return model.PromptHash(), nil
	}
	entry, err := e.entry(a.Name())
	if err != nil {
		return "", err
	}
	return auditor.PromptHash(entry)
}

// corpus reads the cases.
func (e *env) corpus(log func(format string, args ...any)) (*fixture.Corpus, error) {
	corpus, err := e.cases()
	if err != nil {
		return nil, fmt.Errorf("the cases cannot be used:\n%w", err)
	}
	for _, n := range corpus.Notes {
		log("%s: %s", n.Pos, n.What)
	}
	return corpus, nil
}

// fetch returns the clone of a project at its pin.
func (e *env) fetch(ctx context.Context, p *audit.Project) (*seal.Clone, error) {
	e.say("fetching " + p.Name + " at its pin")
	return Fetch(ctx, p, e.root.Dir, "", os.Getenv("ASSAY_MIRROR"))
}

// Fetch clones a project at its pin, from mirror if that is set, into the folder cache;
// "" is the user's own. A repository that is a path lies below the folder root.
func Fetch(ctx context.Context, p *audit.Project, root, cache, mirror string) (*seal.Clone, error) {
	if fixture.IsPath(p.Repository) {
		dir, err := os.OpenRoot(root)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		if _, err := dir.Stat(p.Repository); err != nil {
			return nil, fmt.Errorf("%s: the repository %s is not below the root: %w", p.Pos,
				p.Repository, err)
		}
		here := *p
		here.Repository = filepath.Join(root, p.Repository)
		p, mirror = &here, ""
	}
	if cache == "" {
		var err error
		if cache, err = cacheDir(); err != nil {
			return nil, err
		}
	}
	return seal.Fetch(ctx, p, cache, mirror)
}

// Held returns the clone of a project that an earlier [Fetch] brought into the user's own
// folder; nil without one.
func Held(ctx context.Context, p *audit.Project) *seal.Clone {
	cache, err := cacheDir()
	if err != nil {
		return nil
	}
	return seal.Held(ctx, p, cache)
}

// db returns where results are stored.
func (e *env) db() string { return cmp.Or(e.cfg.DB, filepath.Join(e.root.Dir, "results.db")) }

// assay returns a command line of the command on this root, as it is started here.
func (e *env) assay(args string) string {
	program := "assay "
	if _, err := os.Stat("cmd/assay/main.go"); err == nil {
		program = "go run ./cmd/assay "
	}
	if e.root.user != nil {
		args += " --root " + Quoted(e.root.Dir)
	}
	return program + args
}

// close closes a reviewer's connections, unless the reviewer was provided.
func (e *env) close(r audit.Reviewer) {
	named := func(p audit.Reviewer) bool { return p.Name() == r.Name() }
	if c, ok := r.(io.Closer); ok && !slices.ContainsFunc(e.reviewers, named) {
		_ = c.Close() // idle connections
	}
}
