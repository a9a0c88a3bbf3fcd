package auditor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
)

// Bounds of a tool's results, so that no file and no pattern fills the model's context.
const (
	maxEntries   = 400      // entries
	maxReadLines = 2000     // of one call
	defaultLines = 400      // of one call that does not say
	maxHits      = 200      // lines
	maxLineShown = 1000     // bytes of a line that is read
	maxHitShown  = 300      // bytes of a line that is found
	maxShown     = 48 << 10 // bytes of a result
	maxSearched  = 4 << 20  // bytes of a file that is searched
	maxCounted   = 64 << 20 // bytes of a file whose lines are counted
	sniffed      = 8 << 10  // bytes that tell a binary file
)

// sourceTools are the tools for reading a project.
var sourceTools = []tool{
	newTool("list",
		"Lists the files of a folder and of all below it, with their sizes in bytes. Where there are too many, the folders below are given with their number of files instead.",
		`{"type":"object","properties":{"path":{"type":"string","description":"folder, relative to the project's root; . is the root"}}}`),
	newTool("read", "Reads lines of a text file, each with its number.",
		`{"type":"object","properties":{"path":{"type":"string","description":"file, relative to the project's root"},"from":{"type":"integer","description":"first line, from 1"},"lines":{"type":"integer","description":"how many, at most 2000; 400 where you do not say"}},"required":["path"]}`),
	newTool("search",
		"Finds the lines that match a regular expression (RE2; (?i) for any case) in a file, or in all files of a folder and below. Gives path:line: text.",
		`{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string","description":"file or folder; . where you do not say"},"glob":{"type":"string","description":"only files whose name matches, like *.java"}},"required":["pattern"]}`),
}

// newTool returns a tool.
func newTool(name, description, parameters string) tool {
	t := tool{Type: "function"}
	t.Function.Name, t.Function.Description, t.Function.Parameters = name, description, json.RawMessage(parameters)
	return t
}

// toolArguments are those of all tools.
type toolArguments struct {
	Path    string `json:"path"`
	From    int    `json:"from"`
	Lines   int    `json:"lines"`
	Pattern string `json:"pattern"`
	Glob    string `json:"glob"`
}

// A sourceView is a sealed export as the tools see it: nothing outside of it can be
// named.
type sourceView struct{ root *os.Root }

// call runs one call. Errors are returned as the result, for the model.
func (v sourceView) call(ctx context.Context, name, args string) string {
	var a toolArguments
	i := slices.IndexFunc(sourceTools, func(t tool) bool { return t.Function.Name == name })
	if i < 0 {
		return fmt.Sprintf("error: there is no tool %q: expected list, read or search",
			audit.OneLine(name, 100))
	}
	if strings.TrimSpace(args) != "" {
		if err := json.Unmarshal([]byte(args), &a); err != nil {
			return fmt.Sprintf(
				"error: the arguments of %s cannot be read (%v): expected one JSON object, of the schema %s", name, err, sourceTools[i].Function.Parameters)
		}
	}
	p, err := inside(a.Path)
	var out string
	switch {
	case err != nil:
	case name == "list":
		out, err = v.list(ctx, p)
	case name == "read":
		out, err = v.read(p, a.From, a.Lines)
	default:
		out, err = v.search(ctx, p, a.Pattern, a.Glob)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("error: there is no file or folder %s: list shows which there are", p)
	case err != nil:
		return "error: " + err.Error()
	}
	return out
}

// inside returns a path as a name below the root.
func inside(p string) (string, error) {
	name := path.Clean(strings.ReplaceAll(p, `\`, "/"))
	if !fs.ValidPath(name) {
		return "", fmt.Errorf(
			"%q is outside of the project: expected a path relative to its root, like src/main.go, or . for the root", audit.OneLine(p, 200))
	}
	return name, nil
}

// list returns the files of a folder.
func (v sourceView) list(ctx context.Context, dir string) (string, error) {
	var files []string
	below := map[string]int{} // files by the entry of dir that holds them
	total := 0
	err := fs.WalkDir(v.root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case name == dir && !d.IsDir():
			return fmt.Errorf("%s is no folder: read it", name)
		case d.IsDir():
			return nil
		}
		total++
		rel := strings.TrimPrefix(strings.TrimPrefix(name, dir), "/")
		if dir == "." {
			rel = name
		}
		first, _, deeper := strings.Cut(rel, "/")
		if deeper {
			first += "/"
		}
		below[first]++
		if len(files) < maxEntries {
			files = append(files, fmt.Sprintf("%s\t%d", name, sizeOf(d)))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if total <= maxEntries {
		return bounded(fmt.Sprintf("%d files below %s", total, dir), files), nil
	}
	var entries []string
	for first, n := range below {
		entry := path.Join(dir, first)
		if strings.HasSuffix(first, "/") {
			entry = fmt.Sprintf("%s/\t%d files", entry, n)
		}
		entries = append(entries, entry)
	}
	slices.Sort(entries)
	return bounded(fmt.Sprintf("%d files below %s, too many to list: these are its entries", total,
		dir), entries), nil
}

// sizeOf returns the size of a file in bytes.
func sizeOf(d fs.DirEntry) int64 {
	info, err := d.Info()
	if err != nil {
		return 0
	}
	return info.Size()
}

// bounded returns the lines below a heading, up to the limit of a result.
func bounded(heading string, lines []string) string {
	var b strings.Builder
	b.WriteString(heading + "\n")
	for i, l := range lines {
		if b.Len()+len(l) > maxShown || i == 2*maxEntries {
			fmt.Fprintf(&b, "[%d more are left out: name a deeper path]\n", len(lines)-i)
			break
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

// text reads a file that is one, at most so many bytes of its size: links may lead on
// within the root, and a FIFO or a device would hold us up.
func (v sourceView) text(name string, limit int64) (text []byte, size int64, err error) {
	info, err := v.root.Stat(name)
	switch {
	case err != nil:
		return nil, 0, err
	case info.IsDir():
		return nil, 0, fmt.Errorf("%s is a folder: list it, or search below it", name)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is no plain file", name)
	}
	f, err := v.root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, limit))
	return text, info.Size(), err
}

// isBinary reports whether a file's beginning has a NUL.
func isBinary(text []byte) bool { return bytes.IndexByte(text[:min(len(text), sniffed)], 0) >= 0 }

// read returns lines of a file with their numbers.
func (v sourceView) read(name string, from, count int) (string, error) {
	text, size, err := v.text(name, maxCounted)
	if err != nil {
		return "", err
	}
	if isBinary(text) {
		return "", fmt.Errorf("%s is a binary file of %d bytes", name, size)
	}
	from = max(1, from)
	if count <= 0 {
		count = defaultLines
	}
	var b strings.Builder
	n, shown := 0, 0
	for line := range bytes.Lines(text) {
		n++
		if n < from || shown == min(count, maxReadLines) || b.Len() >= maxShown {
			continue
		}
		shown++
		line = bytes.TrimRight(line, "\r\n")
		more := max(0, len(line)-maxLineShown)
		fmt.Fprintf(&b, "%d\t%s", n, bytes.ToValidUTF8(line[:len(line)-more], []byte("\uFFFD")))
		if more > 0 {
			fmt.Fprintf(&b, " [%d more bytes of this line]", more)
		}
		b.WriteByte('\n')
	}
	end := "of"
	if size > maxCounted {
		end = "of more than"
	}
	switch {
	case n == 0:
		return fmt.Sprintf("%s is empty\n", name), nil
	case shown == 0:
		return "", fmt.Errorf("%s has no line %d: it has %d", name, from, n)
	}
	said := fmt.Sprintf("%s, lines %d-%d %s %d\n%s", name, from, from+shown-1, end, n, b.String())
	if last := from + shown - 1; last < n {
		said += fmt.Sprintf("[go on with from=%d]\n", last+1)
	}
	return said, nil
}

// search returns the lines that match a pattern.
func (v sourceView) search(ctx context.Context, where, pattern, glob string) (string, error) {
	if pattern == "" {
		return "", errors.New("the pattern is empty: expected a regular expression")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", fmt.Errorf(
			"%w: expected a regular expression of RE2, which has no look-around and no back-references", err)
	}
	if !doublestar.ValidatePattern(glob) {
		return "", fmt.Errorf("the glob %q cannot be read: expected one like *.java",
			audit.OneLine(glob, 100))
	}
	h := &hits{re: re}
	err = fs.WalkDir(v.root.FS(), where, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !d.Type().IsRegular():
			return nil
		}
		if fits, _ := doublestar.Match(path.Base(glob), d.Name()); glob != "" && !fits {
			return nil
		}
		return v.searchFile(h, name)
	})
	if err != nil && err != fs.SkipAll {
		return "", err
	}
	return h.text(), nil
}

type hits struct {
	re      *regexp.Regexp
	lines   []string
	size    int
	files   int
	skipped []string
	full    bool
}

// searchFile adds the matching lines of one file.
func (v sourceView) searchFile(h *hits, name string) error {
	text, size, err := v.text(name, maxSearched)
	if size > maxSearched {
		h.skipped = append(h.skipped, name)
		return nil
	}
	if err != nil || isBinary(text) {
		return err
	}
	h.files++
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimRight(line, "\r\n"); !h.re.Match(line) {
			continue
		}
		if len(h.lines) == maxHits || h.size > maxShown {
			h.full = true
			return fs.SkipAll
		}
		l := fmt.Sprintf("%s:%d: %s", name, n,
			audit.OneLine(strings.ToValidUTF8(string(line), "\uFFFD"), maxHitShown))
		h.lines, h.size = append(h.lines, l), h.size+len(l)
	}
	return nil
}

// text returns the matching lines.
func (h *hits) text() string {
	var b strings.Builder
	for _, l := range h.lines {
		b.WriteString(l + "\n")
	}
	if h.full {
		fmt.Fprintf(&b, "[more than %d lines match: name a deeper path, or a narrower pattern]\n",
			len(h.lines))
	} else {
		fmt.Fprintf(&b, "%d lines in %d files searched\n", len(h.lines), h.files)
	}
	if len(h.skipped) > 0 {
		fmt.Fprintf(&b, "[not searched, larger than %d MB: %s]\n", maxSearched>>20,
			audit.OneLine(strings.Join(h.skipped, ", "), 500))
	}
	return b.String()
}
