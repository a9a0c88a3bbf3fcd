package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/run"
	"assay/internal/seal"
)

// Special values of -beside: the section without its skill, and the variant as it is at a
// revision of git.
const (
	besideBare = "bare"
	besideGit  = "git:"
)

// besideVariant returns the variant that -beside names for this one.
func (e *env) besideVariant(v *variant) (*variant, error) {
	spec := e.cfg.Beside
	rev, atRevision := strings.CutPrefix(spec, besideGit)
	switch {
	case spec == besideBare:
		return v.bare()
	case atRevision:
		old, err := e.atRevision(rev)
		if err != nil {
			return nil, err
		}
		return v.same(old, " ("+spec+")")
	case v.reviewer == nil:
		return e.auditorVariant(spec)
	}
	name, promptName, named := strings.Cut(spec, "@")
	if !named {
		promptName = v.prompt.name
	}
	p, err := e.prompt(promptName)
	if err != nil {
		return nil, err
	}
	registry, err := e.registry()
	if err != nil {
		return nil, err
	}
	r, err := registry.Reviewer(name)
	if err != nil {
		return nil, err
	}
	return e.reviewerVariant(r, p)
}

// bare returns the variant without its skill: the section's files but those of Skill,
// and its command line without skill.
func (v *variant) bare() (*variant, error) {
	entry, ok := v.entry.WithoutSkill()
	if !ok {
		return nil, fmt.Errorf(
			"%s: -beside bare compares a section with itself without its skill, and %s has no Skill: add the row Skill with the skill's files and a block \"Command without skill\"", v.entry.Pos, v.name)
	}
	old := *v
	old.name, old.entry = v.name+" (bare)", entry
	entry.Name = old.name
	if v.reviewer != nil {
		old.reviewer = auditor.CommandReviewer(entry)
	} else {
		old.auditor = auditor.FromEntry(entry)
	}
	return &old, nil
}

// same returns the variant of the same name in another environment.
func (v *variant) same(e *env, suffix string) (old *variant, err error) {
	if v.reviewer == nil {
		old, err = e.auditorVariant(v.name)
	} else {
		var p prompt
		if p, err = e.prompt(v.prompt.name); err != nil {
			return nil, err
		}
		registry, regErr := e.registry()
		r, revErr := registry.Reviewer(v.name)
		if err = errors.Join(regErr, revErr); err == nil {
			old, err = e.reviewerVariant(r, p)
		}
	}
	if err == nil {
		old.name += suffix
		if old.reviewer != nil {
			old.reviewer = rename(old.reviewer, old.name)
		}
	}
	return old, err
}

// A renamed reviewer is a version of a reviewer with its own name, by which results.db and
// reports distinguish them.
type renamed struct {
	audit.Reviewer
	name string
}

// Name returns the reviewer's new name.
func (r renamed) Name() string { return r.name }

// Close closes the reviewer, if it can be closed.
func (r renamed) Close() error {
	if c, ok := r.Reviewer.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Exposed returns what the reviewer was not kept from.
func (r renamed) Exposed() string {
	if x, ok := r.Reviewer.(interface{ Exposed() string }); ok {
		return x.Exposed()
	}
	return ""
}

type renamedDescribed struct {
	renamed
	run.Described
}

// rename returns a reviewer with another name.
func rename(r audit.Reviewer, name string) audit.Reviewer {
	if d, ok := r.(run.Described); ok {
		return renamedDescribed{renamed{r, name}, d}
	}
	return renamed{r, name}
}

// atRevision returns the environment with the root as it is at a revision of git.
func (e *env) atRevision(rev string) (*env, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	index := "" // of its own: the user's stays as it is
	git := func(args ...string) (string, error) {
		cmd := seal.Git(ctx, append([]string{"-C", e.root.Dir}, args...)...)
		if index != "" {
			cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
		}
		out, err := cmd.CombinedOutput()
		text := strings.TrimSpace(string(out))
		if err != nil {
			return "", fmt.Errorf("-beside git:%s: git %s: %w: %s", rev, args[0], err, text)
		}
		return text, nil
	}
	commit, err := git("rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return nil, err
	}
	prefix, err := git("rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	dir, remove, err := box.TempDir("beside")
	if err != nil {
		return nil, err
	}
	e.onClose(remove)
	index = filepath.Join(dir, "index")
	if _, err = git("read-tree", commit); err == nil {
		_, err = git("checkout-index", "--all", "--prefix="+filepath.Join(dir, "tree")+"/")
	}
	if err != nil {
		return nil, err
	}
	old := *e
	if old.root, err = openRoot(e.root.shipped,
		filepath.Join(dir, "tree", filepath.FromSlash(prefix)), e.root.Dir, false); err != nil {
		return nil, fmt.Errorf("-beside git:%s: %w", rev, err)
	}
	return old.reading(), old.linkTools(e.root.Dir)
}

// linkTools links what the rows Reads name below the root and git does not keep, such as a
// virtual environment, to where it is in the folder of the present root.
func (e *env) linkTools(present string) error {
	r, err := e.reading().registry()
	if err != nil {
		return nil // which is reported where the section is needed
	}
	for _, a := range r.Auditors {
		for _, name := range a.Reads {
			at := filepath.Join(e.root.Dir, name)
			if !filepath.IsLocal(name) || strings.HasPrefix(name, "$") ||
				strings.HasPrefix(name, "~") || box.Exists(at) {
				continue
			}
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				return err
			}
			if err := os.Symlink(filepath.Join(present, name), at); err != nil {
				return err
			}
		}
	}
	return nil
}
