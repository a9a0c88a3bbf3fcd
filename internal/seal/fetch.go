// Package seal fetches a project at its pinned commit and writes the sealed export for
// auditors: no repository, no answers, no names that reveal an answer, and every line at its
// number.
package seal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// A Clone is a bare repository with a project's pinned commit.
type Clone struct {
	Dir     string
	Project *audit.Project
}

// Fetch fetches exactly the pinned commit into a bare repository below cache, from the
// project's repository or, if mirror is not empty, from the mirror, and verifies every blob of
// the tree manifest. A clone from an earlier call is reused. Calls for one clone wait for each
// other, across processes too. A mirror is a folder with <owner>/<name>, or a template like
// "/srv/git/{owner}-{name}.git".
func Fetch(ctx context.Context, p *audit.Project, cache, mirror string) (*Clone, error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	c := &Clone{cloneDir(p, cache), p}
	lock, err := Lock(ctx, c.Dir+".lock")
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if !c.holdsPin(ctx) {
		if err := c.fetch(ctx, mirror); err != nil {
			return nil, err
		}
	}
	return c, c.verify(ctx)
}

// fetch builds the clone in a temporary folder and moves it into place when it is complete, so
// that a killed process leaves no partial clone.
func (c *Clone) fetch(ctx context.Context, mirror string) error {
	p := c.Project
	source, err := source(p.Repository, mirror)
	if err != nil {
		return err
	}
	part := &Clone{c.Dir + ".part", p}
	defer os.RemoveAll(part.Dir)
	if err := os.RemoveAll(part.Dir); err != nil {
		return err
	}
	if err := part.git(ctx, nil, "init", "--quiet", "--bare"); err != nil {
		return err
	}
	if err := part.git(ctx, nil, "fetch", "--quiet", "--depth", "1", "--no-tags", "--",
		source, p.Commit); err != nil {
		if again := part.fetchOtherwise(ctx, source); again != nil {
			return fmt.Errorf(
				"%s: commit %s cannot be fetched from %s: %w; by other means: %w (set ASSAY_MIRROR to a local copy)", p.Pos, p.Commit, source, err, again)
		}
	}
	return errors.Join(os.RemoveAll(c.Dir), os.Rename(part.Dir, c.Dir))
}

// holdsPin reports whether the clone has the pinned commit.
// Held returns the clone of a project that an earlier [Fetch] brought into the folder cache;
// nil without one.
func Held(ctx context.Context, p *audit.Project, cache string) *Clone {
	if len(p.Commit) < 12 {
		return nil
	}
	c := &Clone{cloneDir(p, cache), p}
	if _, err := os.Stat(c.Dir); err != nil || !c.holdsPin(ctx) {
		return nil
	}
	return c
}

// File returns a file of the pinned commit.
func (c *Clone) File(ctx context.Context, name string) ([]byte, error) {
	var b bytes.Buffer
	err := c.git(ctx, &b, "cat-file", "blob", c.Project.Commit+":"+name)
	return b.Bytes(), err
}

func (c *Clone) holdsPin(ctx context.Context) bool {
	return c.git(ctx, nil, "cat-file", "-e", c.Project.Commit+"^{tree}") == nil
}

// cloneDir returns the folder of a project's clone.
func cloneDir(p *audit.Project, cache string) string {
	return filepath.Join(cache, p.Name+"-"+p.Commit[:12]+".git")
}

// fetchOtherwise gets the commit from a source that does not serve single commits: it links the
// objects of a local copy, or fetches all branches and tags.
func (c *Clone) fetchOtherwise(ctx context.Context, source string) error {
	for _, objects := range []string{filepath.Join(source, "objects"),
		filepath.Join(source, ".git", "objects")} {
		if info, err := os.Stat(objects); err != nil || !info.IsDir() {
			continue
		}
		abs, err := filepath.Abs(objects)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.Dir, "objects", "info", "alternates"),
			[]byte(abs+"\n"), 0o644); err != nil {
			return err
		}
		if c.holdsPin(ctx) {
			return nil
		}
	}
	if err := c.git(ctx, nil, "fetch", "--quiet", "--", source,
		"+refs/*:refs/fetched/*"); err != nil {
		return err
	}
	return c.git(ctx, nil, "cat-file", "-e", c.Project.Commit+"^{tree}")
}

var ownerAndName = regexp.MustCompile(`[:/]([^:/]+)/([^:/]+?)(?:\.git)?/*$`)

// source returns the repository to fetch from: the project's, or its place in the mirror.
func source(repository, mirror string) (string, error) {
	if mirror == "" {
		return repository, nil
	}
	m := ownerAndName.FindStringSubmatch(repository)
	if m == nil || strings.Trim(m[1], ".") == "" || strings.Trim(m[2], ".") == "" {
		return "", fmt.Errorf(
			"the repository %q ends in no owner and name: a mirror cannot be searched for it",
			repository)
	}
	if strings.Contains(mirror, "{name}") {
		return strings.NewReplacer("{owner}", m[1], "{name}", m[2]).Replace(mirror), nil
	}
	return filepath.Join(mirror, m[1], m[2]), nil
}

// command returns a git command on the clone and its standard error.
func (c *Clone) command(ctx context.Context, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	cmd = Git(ctx, append([]string{"--git-dir", c.Dir}, args...)...)
	stderr = &bytes.Buffer{}
	cmd.Stderr = stderr
	return cmd, stderr
}

// git runs a git command on the clone.
func (c *Clone) git(ctx context.Context, out io.Writer, args ...string) error {
	cmd, stderr := c.command(ctx, args...)
	cmd.Stdout = out
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("git is not installed: live runs fetch the projects with it")
	}
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// A blob is a file at the pin with its hash.
type blob struct{ path, hash string }

// blobs returns the files at the pin, sorted by path. It leaves out links, which may point
// outside of the export, and submodules, which are empty.
func (c *Clone) blobs(ctx context.Context) ([]blob, error) {
	var out bytes.Buffer
	if err := c.git(ctx, &out, "ls-tree", "-r", "-z", c.Project.Commit); err != nil {
		return nil, err
	}
	var bs []blob
	for _, line := range strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
		meta, path, ok := strings.Cut(line, "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) != 3 {
			return nil, fmt.Errorf("git ls-tree gave %q: expected mode, type, hash and path", line)
		}
		if fields[1] == "blob" && fields[0] != "120000" {
			bs = append(bs, blob{path, fields[2]})
		}
	}
	slices.SortFunc(bs, func(a, b blob) int { return strings.Compare(a.path, b.path) })
	return bs, nil
}

// verify checks that every file of the manifest has the stated hash at the pin.
func (c *Clone) verify(ctx context.Context) error {
	bs, err := c.blobs(ctx)
	if err != nil {
		return err
	}
	at := map[string]string{}
	for _, b := range bs {
		at[b.path] = b.hash
	}
	for _, f := range c.Project.Tree {
		if got := at[f.Path]; got != f.Blob {
			return fmt.Errorf(
				"%s: the manifest says that %s is blob %s, and at %s it is %q: expected the same",
				c.Project.Pos, f.Path, f.Blob, c.Project.Commit[:12], got)
		}
	}
	return nil
}

var errMissing = errors.New("the repository lacks it")

// read calls each with these files of the pinned tree and their contents, which are checked
// against their hashes. A blob that the repository lacks yields no content and errMissing. No
// working tree is created, because attributes of the repository could change
// line ends.
func (c *Clone) read(ctx context.Context, bs []blob,
	each func(b blob, content []byte, err error) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var names strings.Builder
	for _, b := range bs {
		names.WriteString(b.hash + "\n")
	}
	cmd, stderr := c.command(ctx, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(names.String())
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	r := bufio.NewReaderSize(stdout, 1<<20)
	for _, b := range bs {
		content, err := readBlob(r, b)
		if err == nil || errors.Is(err, errMissing) {
			err = each(b, content, err)
		}
		if err != nil {
			cancel()
			_ = cmd.Wait() // killed on purpose: its status says nothing new
			if said := strings.TrimSpace(stderr.String()); said != "" {
				err = fmt.Errorf("%w: git says: %s", err, said)
			}
			return err
		}
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git cat-file: %w", err)
	}
	return nil
}

// readBlob reads one blob from git's output and checks its hash. It returns errMissing for a
// blob that the repository lacks.
func readBlob(r *bufio.Reader, b blob) ([]byte, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git cat-file ended before %s: %w", b.path, err)
	}
	fields := strings.Fields(head)
	if len(fields) == 2 && fields[1] == "missing" {
		return nil, fmt.Errorf("%s: blob %s: %w", b.path, b.hash, errMissing)
	}
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("%s: git cat-file gave %q", b.path, strings.TrimSpace(head))
	}
	n, err := strconv.Atoi(fields[2])
	if err != nil {
		return nil, fmt.Errorf("git cat-file gave %q", head)
	}
	content := make([]byte, n+1) // git ends each blob with a newline of its own
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, fmt.Errorf("git cat-file ended within %s: %w", b.path, err)
	}
	content = content[:n]
	if GitHash("blob", content) != b.hash {
		return nil, fmt.Errorf("%s: its content is not blob %s", b.path, b.hash)
	}
	return content, nil
}

// GitHash returns git's hash, in hex, of an object of this kind ("blob" or "tree").
func GitHash(kind string, content []byte) string {
	sum := sha1.New()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(content))
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}
