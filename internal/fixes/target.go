package fixes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/box"
	"assay/internal/seal"
)

// A View is how auditors see a table.
type View string

// The views.
const (
	// the trees before the first and after the last fix: one audit, many entries
	Pool   View = "pool"
	Change View = "change" // each fix by itself, as a pull request
)

// A Target is what an auditor is run on: a tree of the pool, or a change.
type Target struct {
	Table  *Benchmark
	Fix    *Fix // of a change; nil in the pool
	Mended bool // what the entries say is false here
}

// Targets returns the targets of a view, the vulnerable one of each pair first, and the
// entries that it leaves out, with the reason.
func (t *Benchmark) Targets(v View) (all []Target, left []string) {
	n := 0
	for i := range t.Fixes {
		f := &t.Fixes[i]
		switch {
		case v == Pool && len(f.Places[AtPin]) > 0:
			n++
		case v == Pool:
			left = append(left, f.ID+": its place is another one at the pin")
		case f.Introduced == "":
			left = append(left, f.ID+": nobody knows the change that brought it: fill Introduced")
		case len(f.Places[AtChange]) == 0:
			left = append(left, f.ID+": it has no place in the change that brought it")
		default:
			all = append(all, Target{t, f, false}, Target{t, f, true})
		}
	}
	if n > 0 {
		all = []Target{{Table: t}, {Table: t, Mended: true}}
	}
	// Without an entry that counts there is nothing to measure.
	return slices.DeleteFunc(all, func(x Target) bool { return len(x.Project(nil).Vulnerabilities) == 0 }),
		left
}

// Stratum names what one exchange of the gate is about: the repository in the pool, the fix
// in a change. The two trees, or changes, are strata of it.
func (x *Target) Stratum() string {
	if x.Fix != nil {
		return x.Table.Name + "." + x.Fix.ID
	}
	return x.Table.Name
}

// Name returns the stratum, with ".mended" behind it where the flaws are gone.
func (x *Target) Name() string {
	if x.Mended {
		return x.Stratum() + ".mended"
	}
	return x.Stratum()
}

// Head returns the commit whose tree is shown, Base that which it is compared with; "" in
// the pool.
func (x *Target) Head() string { _, head := x.commits(); return head }

// Base returns the commit before the change; "" in the pool.
func (x *Target) Base() string { base, _ := x.commits(); return base }

func (x *Target) commits() (base, head string) {
	switch {
	case x.Fix != nil && x.Mended:
		return x.Fix.Parent, x.Fix.Commit
	case x.Fix != nil:
		return x.Fix.Base, x.Fix.Introduced
	case x.Mended:
		return "", x.Table.Fixed
	}
	return "", x.Table.Pin
}

func (x *Target) tree() Revision {
	switch {
	case x.Fix != nil && x.Mended:
		return AtFix
	case x.Fix != nil:
		return AtChange
	case x.Mended:
		return AtFixed
	}
	return AtPin
}

// Entries returns the entries of the target that count, and those that are only reported:
// nobody read them. Where the flaws are mended, an entry without a clean twin does not count.
func (x *Target) Entries() (counted, reported []*Fix) {
	for i := range x.Table.Fixes {
		f := &x.Table.Fixes[i]
		switch {
		case x.Fix != nil && x.Fix != f, x.Fix == nil && len(f.Places[AtPin]) == 0:
		case !f.Read():
			reported = append(reported, f)
		case !x.Mended || f.Twin == "":
			counted = append(counted, f)
		}
	}
	return counted, reported
}

// Project returns the target as a project whose known vulnerabilities are the entries that
// count, each with all of its places.
func (x *Target) Project(dims map[audit.CWE]audit.Dimension) *audit.Project {
	counted, _ := x.Entries()
	return x.project(counted, dims)
}

// Unread returns the same for the entries that nobody read; they are reported alone.
func (x *Target) Unread(dims map[audit.CWE]audit.Dimension) *audit.Project {
	_, reported := x.Entries()
	return x.project(reported, dims)
}

func (x *Target) project(entries []*Fix, dims map[audit.CWE]audit.Dimension) *audit.Project {
	p := &audit.Project{Name: x.Name(), Title: "Security fixes of " + x.Table.Name,
		Repository: x.Table.Repository,
		Commit:     x.Head(), KeyHash: x.Table.Hash, Mended: x.Mended, Pos: x.Table.Pos}
	for _, f := range entries {
		k := audit.Vulnerability{ID: f.ID, Dimension: dims[f.CWEs[0]], CWEs: f.CWEs, Severity: f.Severity,
			Title:    f.Title,
			Evidence: "mended by " + short(f.Commit), Places: f.Places[x.tree()], Pos: f.Pos}
		if len(k.Places) == 0 { // its code is gone
			continue
		}
		k.File, k.Lines = k.Places[0].File, k.Places[0].Lines
		if f := k.Places[0].Function; f != "" {
			k.Functions = []string{f}
		}
		p.Vulnerabilities = append(p.Vulnerabilities, k)
	}
	return p
}

// A SealedTarget is what an auditor is shown of a target.
type SealedTarget struct {
	Task    audit.AuditTask
	Tree    audit.Tree               // the text files of the head
	Others  map[string]bool          // its other files
	Changed map[string][]audit.Range // by file of the head; nil in the pool
}

// Fetch brings one commit of a repository to this machine.
type Fetch func(context.Context, *audit.Project) (*seal.Clone, error)

// Export writes the sealed export into dir, which must be absent: the tree alone in the pool;
// for a change a repository of two commits, base and change, without history, remote, tag or
// reflog, in which main, origin/main and origin/HEAD are the base, and change is checked out.
func (x *Target) Export(ctx context.Context, dir string, fetch Fetch) (s *SealedTarget, err error) {
	base, head := x.commits()
	s = &SealedTarget{Task: audit.AuditTask{Dir: dir, Scope: x.Table.Scope}}
	if base == "" {
		clone, err := x.clone(ctx, fetch, head)
		if err != nil {
			return nil, err
		}
		if _, err := clone.Export(ctx, dir); err != nil {
			return nil, err
		}
		return s, s.list(ctx, clone)
	}
	tmp, remove, err := box.TempDir("change")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	for _, side := range []struct{ name, commit string }{{"base", base}, {"head", head}} {
		clone, err := x.clone(ctx, fetch, side.commit)
		if err != nil {
			return nil, err
		}
		if _, err := clone.Export(ctx, filepath.Join(tmp, side.name)); err != nil {
			return nil, err
		}
		if err := s.list(ctx, clone); err != nil {
			return nil, err
		}
	}
	if err := s.commit(ctx, tmp, dir); err != nil {
		return nil, fmt.Errorf("%s: %s: the sealed change: %w", x.Table.Pos, x.Name(), err)
	}
	return s, nil
}

func (x *Target) clone(ctx context.Context, fetch Fetch, commit string) (*seal.Clone, error) {
	return fetch(ctx, &audit.Project{Name: x.Table.Name, Repository: x.Table.Repository,
		Commit: commit, Pos: x.Table.Pos})
}

// list lists the files of what is shown.
func (s *SealedTarget) list(ctx context.Context, clone *seal.Clone) (err error) {
	if s.Tree, err = clone.Tree(ctx); err != nil {
		return err
	}
	clone.Project.Tree, s.Others = s.Tree, map[string]bool{}
	others, err := clone.Others(ctx)
	for _, name := range others {
		s.Others[name] = true
	}
	return err
}

// commit makes the repository of the two trees below tmp.
func (s *SealedTarget) commit(ctx context.Context, tmp, dir string) error {
	git := func(args ...string) (string, error) {
		cmd := seal.Git(ctx, append([]string{"-C", dir, "-c", "core.logAllRefUpdates=false", "-c",
			"core.safecrlf=false",
			"-c", "core.autocrlf=false", "-c", "core.quotePath=false"}, args...)...)
		for _, who := range []string{"AUTHOR", "COMMITTER"} {
			cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=author",
				"GIT_"+who+"_EMAIL=author@example.com",
				"GIT_"+who+"_DATE=2000-01-01T00:00:00Z")
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args[0], err, audit.OneLine(string(out), 300))
		}
		return strings.TrimSpace(string(out)), nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := git("init", "-q", "-b", "main", "--template="); err != nil {
		return err
	}
	// Attributes of the tree must not change what is stored or checked out.
	info := filepath.Join(dir, ".git", "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		return err
	}
	plain := "* -text -ident -filter -working-tree-encoding -export-subst\n"
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte(plain), 0o644); err != nil {
		return err
	}
	var err error
	step := func(args ...string) (out string) {
		if err == nil {
			out, err = git(args...)
		}
		return out
	}
	at := func(side string) string { return "--work-tree=" + filepath.Join(tmp, side) }
	step(at("base"), "add", "-A", "-f", ".")
	step(at("base"), "commit", "-q", "--allow-empty", "-m", "base")
	step("update-ref", "refs/remotes/origin/main", "main")
	step("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	step("checkout", "-q", "-f", "-b", "change")
	step(at("head"), "add", "-A", "-f", ".")
	step(at("head"), "commit", "-q", "--allow-empty", "-m", "change")
	step("checkout", "-q", "-f", "change")
	step("reset", "-q", "--hard")
	step("clean", "-q", "-d", "-f", "-x")
	s.Task.Base, s.Task.Head = step("rev-parse", "main"), step("rev-parse", "change")
	s.Task.Diff = step("diff", "--no-ext-diff", "--no-textconv", "main", "change", "--") + "\n"
	s.Changed = changedLines(step("diff", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv",
		"main", "change", "--"))
	if status := step("status", "--porcelain"); err == nil && status != "" {
		err = errors.New("what is checked out differs from what was committed: " +
			audit.OneLine(status, 200))
	}
	if err != nil {
		return err
	}
	for _, name := range []string{"logs", "ORIG_HEAD", "COMMIT_EDITMSG", "description",
		"hooks", "branches"} {
		if err := os.RemoveAll(filepath.Join(dir, ".git", name)); err != nil {
			return err
		}
	}
	return nil
}

// changedLines returns the lines of the head that a diff without context adds or changes.
func changedLines(diff string) map[string][]audit.Range {
	found, file := map[string][]audit.Range{}, ""
	for _, line := range strings.Split(diff, "\n") {
		if name, ok := strings.CutPrefix(line, "+++ b/"); ok {
			file = strings.TrimSuffix(name, "\t")
		} else if strings.HasPrefix(line, "diff --git ") {
			file = ""
		} else if m := hunkHead.FindStringSubmatch(line); m != nil && file != "" {
			start, n := number(m[3]), 1
			if m[4] != "" {
				n = number(m[4])
			}
			found[file] = append(found[file], audit.Range{Start: max(1, start),
				End: max(1, start+max(0, n-1))})
		}
	}
	return found
}
