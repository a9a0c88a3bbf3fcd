// Package seal brings a benchmark project onto this machine at its pinned commit
// and makes of it the sealed export that an auditor is given: no repository, no
// answers, no names that give an answer away, and every line where it was.
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

// A Clone is a bare repository that holds a project's pinned commit.
type Clone struct {
	Dir     string
	Project *audit.Project
}

// Fetch brings exactly the pinned commit into a bare repository below cache,
// from the project's repository or, where mirror is not empty, from the mirror,
// and verifies every blob of the tree manifest. What an earlier call brought is
// used again; calls for one clone wait for each other, those of other processes
// too. A mirror is a folder with <owner>/<name>, or a template like
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

// fetch makes the clone beside its place and puts it there when it is whole: what
// a killed process left is in nobody's way.
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
	if err := part.git(ctx, nil, "fetch", "--quiet", "--depth", "1", "--no-tags", "--", source, p.Commit); err != nil {
		if again := part.fetchOtherwise(ctx, source); again != nil {
			return fmt.Errorf("%s: commit %s cannot be had from %s: %w; otherwise: %w (set ASSAY_MIRROR to a local copy)", p.Pos, p.Commit, source, err, again)
		}
	}
	return errors.Join(os.RemoveAll(c.Dir), os.Rename(part.Dir, c.Dir))
}

func (c *Clone) holdsPin(ctx context.Context) bool {
	return c.git(ctx, nil, "cat-file", "-e", c.Project.Commit+"^{tree}") == nil
}

func cloneDir(p *audit.Project, cache string) string {
	return filepath.Join(cache, p.Name+"-"+p.Commit[:12]+".git")
}

// fetchOtherwise gets the commit from a source that refused it by its hash: by
// reading a local copy's objects where they are (one that lacks a blob that
// nobody asks for cannot be fetched from), or by fetching all that is advertised.
func (c *Clone) fetchOtherwise(ctx context.Context, source string) error {
	for _, objects := range []string{filepath.Join(source, "objects"), filepath.Join(source, ".git", "objects")} {
		if info, err := os.Stat(objects); err != nil || !info.IsDir() {
			continue
		}
		abs, err := filepath.Abs(objects)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(c.Dir, "objects", "info", "alternates"), []byte(abs+"\n"), 0o644); err != nil {
			return err
		}
		if c.holdsPin(ctx) {
			return nil
		}
	}
	if err := c.git(ctx, nil, "fetch", "--quiet", "--", source, "+refs/*:refs/fetched/*"); err != nil {
		return err
	}
	return c.git(ctx, nil, "cat-file", "-e", c.Project.Commit+"^{tree}")
}

var ownerAndName = regexp.MustCompile(`[:/]([^:/]+)/([^:/]+?)(?:\.git)?/*$`)

func source(repository, mirror string) (string, error) {
	if mirror == "" {
		return repository, nil
	}
	m := ownerAndName.FindStringSubmatch(repository)
	if m == nil || strings.Trim(m[1], ".") == "" || strings.Trim(m[2], ".") == "" {
		return "", fmt.Errorf("the repository %q ends in no owner and name: a mirror cannot be searched for it", repository)
	}
	if strings.Contains(mirror, "{name}") {
		return strings.NewReplacer("{owner}", m[1], "{name}", m[2]).Replace(mirror), nil
	}
	return filepath.Join(mirror, m[1], m[2]), nil
}

func (c *Clone) command(ctx context.Context, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	cmd = Git(ctx, append([]string{"--git-dir", c.Dir}, args...)...)
	stderr = &bytes.Buffer{}
	cmd.Stderr = stderr
	return cmd, stderr
}

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

type blob struct{ path, hash string }

// blobs lists the files at the pin. Links and submodules are left out: the
// first could lead out of the export, the second hold nothing.
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
			return fmt.Errorf("%s: the manifest says that %s is blob %s, and at %s it is %q: expected the same",
				c.Project.Pos, f.Path, f.Blob, c.Project.Commit[:12], got)
		}
	}
	return nil
}

var errMissing = errors.New("the repository lacks it")

// read gives these files of the pinned tree to each, with its content checked
// against its hash; of a blob that is not there, each gets no content and
// errMissing. A working tree is never made: attributes of the repository
// could change line ends or leave files out.
func (c *Clone) read(ctx context.Context, bs []blob, each func(b blob, content []byte, err error) error) error {
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

// GitHash gives git's hash, in hex, of an object of this kind.
func GitHash(kind string, content []byte) string {
	sum := sha1.New()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(content))
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}
