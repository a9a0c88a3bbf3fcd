package fixes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"assay/internal/seal"
)

// A Repository is a git repository with its history, read where it lies.
type Repository struct {
	Dir  string
	Name string // as the user wrote it, for messages

	ctags  string                // path of universal-ctags; "" where it is not installed
	parsed map[string][]function // by ending and text
}

// Open returns the repository of a folder.
func Open(ctx context.Context, dir string) (*Repository, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder: expected a git repository with its history", dir)
	}
	r := &Repository{Dir: abs, Name: dir, ctags: seal.Ctags(), parsed: map[string][]function{}}
	if _, err := r.git(ctx, "rev-parse", "--git-dir"); err != nil {
		return nil, fmt.Errorf("%s is no git repository that can be read: %w", dir, err)
	}
	return r, nil
}

// git returns what git prints, unchanged.
func (r *Repository) git(ctx context.Context, args ...string) (string, error) {
	out, err := seal.Git(ctx, append([]string{"-C", r.Dir, "-c", "core.quotePath=false"},
		args...)...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return string(out), err
}

var commitName = regexp.MustCompile(`^[0-9a-fA-F]{7,40}$`)

// commit returns the whole hash of an abbreviated one; "" where there is no such commit.
func (r *Repository) commit(ctx context.Context, name string) string {
	if !commitName.MatchString(name) {
		return ""
	}
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", strings.ToLower(name)+"^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// A commitInfo is what a commit says of itself.
type commitInfo struct {
	hash, parent, date, subject, body string // parent is the first one; "" of a root
}

// title returns the subject, and of a merge whose subject says nothing the first line below it
// that says something; "" for none.
func (c commitInfo) title() string {
	for _, line := range strings.Split(c.body, "\n") {
		line = strings.TrimLeft(strings.TrimSpace(line), "* ")
		if line != "" && !strings.HasPrefix(line, "Merge ") {
			return line
		}
	}
	return ""
}

const logFormat = "--format=%H%x1f%P%x1f%cd%x1f%s%x1f%B%x1e"

func (r *Repository) log(ctx context.Context, args ...string) (all []commitInfo, err error) {
	out, err := r.git(ctx, append([]string{"log", logFormat, "--date=format:%Y-%m-%d"}, args...)...)
	for _, one := range strings.Split(out, "\x1e") {
		if f := strings.SplitN(strings.TrimLeft(one, "\n"), "\x1f", 5); len(f) == 5 {
			parent, _, _ := strings.Cut(f[1], " ")
			all = append(all, commitInfo{f[0], parent, f[2], f[3], f[4]})
		}
	}
	return all, err
}

func (r *Repository) info(ctx context.Context, commit string) (commitInfo, error) {
	all, err := r.log(ctx, "-1", commit, "--")
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%s: git log says nothing of %s", r.Name, short(commit))
	}
	if err != nil {
		return commitInfo{}, err
	}
	return all[0], nil
}

func short(commit string) string { return commit[:min(9, len(commit))] }

// A change is one file that differs between two commits.
type change struct {
	status           byte   // A, D, M, R
	old, new         string // paths; equal but for renames
	oldBlob, newBlob string
}

// changes lists the files that differ, renames followed; links and submodules are left out.
func (r *Repository) changes(ctx context.Context, from, to string) (all []change, err error) {
	out, err := r.git(ctx, "diff-tree", "-r", "-z", "-M", "--raw", "--no-abbrev", from, to)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); {
		meta := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(meta) != 5 {
			return nil, fmt.Errorf("git diff-tree printed %q: expected modes, blobs, status",
				fields[i])
		}
		c := change{meta[4][0], fields[i+1], fields[i+1], meta[2], meta[3]}
		i += 2
		if c.status == 'R' || c.status == 'C' {
			c.new = fields[i]
			i++
		}
		if strings.HasPrefix(meta[0], "10") && strings.HasPrefix(meta[1], "10") ||
			c.status == 'A' && strings.HasPrefix(meta[1], "10") ||
			c.status == 'D' && strings.HasPrefix(meta[0], "10") {
			all = append(all, c)
		}
	}
	return all, nil
}

// blob returns the text of a blob; "" for none, for a large one and for one that is no text.
func (r *Repository) blob(ctx context.Context, hash string) (string, error) {
	if strings.Trim(hash, "0") == "" {
		return "", nil
	}
	text, err := r.git(ctx, "cat-file", "blob", hash)
	if len(text) > maxText || strings.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
		text = ""
	}
	return text, err
}

// maxText is the size in bytes above which a file is no source that somebody wrote.
const maxText = 2 << 20

// file returns the text of a file of a commit; ok is false where there is none.
func (r *Repository) file(ctx context.Context, commit, path string) (text string, ok bool) {
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", commit+":"+path)
	if err != nil {
		return "", false
	}
	text, err = r.blob(ctx, strings.TrimSpace(out))
	return text, err == nil
}

// URL returns the address of the remote origin where it is an https or ssh URL.
func (r *Repository) URL(ctx context.Context) string {
	out, _ := r.git(ctx, "config", "--get", "remote.origin.url")
	url := strings.TrimSpace(out)
	if scp := regexp.MustCompile(
		`^([\w.-]+@[\w.-]+):([\w./~-]+)$`).FindStringSubmatch(url); scp != nil {
		url = "ssh://" + scp[1] + "/" + scp[2]
	}
	if strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "ssh://") {
		return regexp.MustCompile(`^(https://)[^/@]*@`).ReplaceAllString(url, "$1")
	}
	return ""
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// hunks returns the differences of two blobs, white space ignored.
func (r *Repository) hunks(ctx context.Context, c change) (all []Hunk, err error) {
	if c.status == 'D' { // -w needs a second blob
		text, err := r.blob(ctx, c.oldBlob)
		lines := splitLines(text)
		if err != nil || len(lines) == 0 {
			return nil, err
		}
		return []Hunk{{File: c.old, Old: 1, Removed: lines}}, nil
	}
	out, err := r.git(ctx, "diff", "-w", "-U0", "--no-color", "--no-ext-diff", "--no-textconv",
		c.oldBlob, c.newBlob)
	if err != nil {
		return nil, err
	}
	for _, line := range splitLines(out) {
		if m := hunkHead.FindStringSubmatch(line); m != nil {
			h := Hunk{File: c.old, Old: number(m[1]), New: number(m[3])}
			if m[2] == "0" { // lines are added behind it
				h.Old++
			}
			all = append(all, h)
			continue
		}
		if len(all) == 0 {
			continue
		}
		h := &all[len(all)-1]
		switch line[:min(1, len(line))] {
		case "-":
			h.Removed = append(h.Removed, line[1:])
		case "+":
			h.Added = append(h.Added, line[1:])
		}
	}
	return all, nil
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

func number(s string) (n int) {
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

// blamed is a line of a file with the commit that wrote it, and its place there.
type blamed struct {
	commit, path string
	line         int
}

// blame returns who wrote these lines, moves within and between files followed.
func (r *Repository) blame(ctx context.Context, commit, path string,
	start, end int) ([]blamed, error) {
	out, err := r.git(ctx, "blame", "-w", "-M", "-C", "--porcelain",
		fmt.Sprintf("-L%d,%d", start, end), commit, "--", path)
	if err != nil {
		return nil, err
	}
	var all []blamed
	paths := map[string]string{}
	for _, line := range strings.Split(out, "\n") {
		f := strings.Fields(line)
		switch name, isName := strings.CutPrefix(line, "filename "); {
		case isName:
			last := &all[len(all)-1]
			paths[last.commit], last.path = name, name
		case len(f) >= 3 && len(f[0]) == 40 && !strings.HasPrefix(line, "\t"):
			all = append(all, blamed{f[0], "", number(f[1])})
		}
		if n := len(all); n > 0 {
			all[n-1].path = cmp.Or(all[n-1].path, paths[all[n-1].commit])
		}
	}
	return all, nil
}
