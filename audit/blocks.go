package audit

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Block is one file of a case or module, or a change to its files.
type Block struct {
	Path     string // below the project's root; empty for a change, and for code that names no file
	Language string // "diff": a change
	Code     string
}

// header is the line above a block where several are one text, as head writes it.
var header = regexp.MustCompile(`(?m)^==> (\S.*) <==\n`)

const changeName = "diff"

// JoinBlocks returns blocks as one text, each after a line "==> path <==", or "==> diff <=="
// for a diff next to files. A block of code without a path has no such line.
func JoinBlocks(blocks []Block) string {
	var b strings.Builder
	for i, bl := range blocks {
		if i > 0 {
			b.WriteByte('\n')
		}
		switch {
		case bl.Path != "":
			b.WriteString("==> " + bl.Path + " <==\n")
		case bl.Language == "diff" && len(blocks) > 1:
			b.WriteString("==> " + changeName + " <==\n")
		}
		b.WriteString(bl.Code)
	}
	return b.String()
}

// SplitBlocks is the inverse of [JoinBlocks]: it returns the files and diffs of a text in the
// given language. It returns nil for a text that does not begin with a line "==> path <==".
func SplitBlocks(language, code string) []Block {
	at := header.FindAllStringSubmatchIndex(code, -1)
	if len(at) == 0 || at[0][0] != 0 {
		return nil
	}
	var blocks []Block
	for i, m := range at {
		b := Block{Path: code[m[2]:m[3]], Language: language, Code: code[m[1]:]}
		if i+1 < len(at) {
			b.Code = strings.TrimSuffix(code[m[1]:at[i+1][0]], "\n")
		}
		if b.Path == changeName {
			b.Path, b.Language = "", "diff"
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// PatchBlocks returns the files after the diffs among the blocks, in the unified form of git
// diff, are applied; the blocks show the files before. A file that a diff creates needs no
// block. The error names the line of the diff that does not apply.
func PatchBlocks(blocks []Block) ([]Block, error) {
	var files []Block
	for _, b := range blocks {
		if b.Language != "diff" {
			files = append(files, b)
		}
	}
	for _, b := range blocks {
		if b.Language != "diff" {
			continue
		}
		p := &patch{files: files, lines: strings.SplitAfter(b.Code, "\n")}
		for p.at < len(p.lines) {
			if err := p.file(); err != nil {
				return nil, fmt.Errorf("line %d of the change: %w", p.at+1, err)
			}
		}
		if !p.changed {
			return nil, fmt.Errorf(
				"the change names no file: expected lines --- a/path and +++ b/path above its hunks")
		}
		files = p.files
	}
	return files, nil
}

type patch struct {
	files   []Block
	lines   []string // of the change, each with its line break
	at      int      // the line that is read
	changed bool     // whether it named a file
}

// line returns the current line of the diff.
func (p *patch) line() string {
	if p.at >= len(p.lines) {
		return ""
	}
	return p.lines[p.at]
}

// file passes over the lines before a change ("diff --git", "index", a mode).
func (p *patch) file() error {
	for !strings.HasPrefix(p.line(), "--- ") {
		if strings.HasPrefix(p.line(), "rename ") || strings.HasPrefix(p.line(), "Binary ") {
			return fmt.Errorf("%q: expected files to be created, deleted or changed line by line",
				strings.TrimSpace(p.line()))
		}
		if p.at++; p.at >= len(p.lines) {
			return nil
		}
	}
	before := name(p.line())
	if p.at++; !strings.HasPrefix(p.line(), "+++ ") {
		return fmt.Errorf("expected the line +++ with the file's new name")
	}
	after := name(p.line())
	i := slices.IndexFunc(p.files, func(b Block) bool { return b.Path == before })
	switch {
	case before == "" &&
		slices.ContainsFunc(p.files, func(b Block) bool { return b.Path == after }):
		return fmt.Errorf("creates %s, which is there", after)
	case before == "":
		p.files = append(slices.Clone(p.files),
			Block{Path: after, Language: strings.TrimPrefix(path.Ext(after), ".")})
		i = len(p.files) - 1
	case i < 0:
		return fmt.Errorf("changes %s, which is not shown: expected a block with that path", before)
	case after != "" && after != before:
		return fmt.Errorf("renames %s: expected one name", before)
	}
	p.at, p.changed = p.at+1, true
	code, err := p.hunks(p.files[i])
	if err != nil {
		return err
	}
	p.files = slices.Clone(p.files)
	p.files[i].Code = code
	switch {
	case after == "" && code != "":
		return fmt.Errorf("deletes %s, and leaves %d lines of it: expected a hunk that takes all",
			before, CountLines([]byte(code)))
	case after == "":
		p.files = slices.Delete(p.files, i, i+1)
	}
	return nil
}

// name returns the path of a line "--- a/path", "" for /dev/null.
func name(line string) string {
	n, _, _ := strings.Cut(strings.TrimRight(line[len("--- "):], "\r\n"), "\t")
	if n == "/dev/null" {
		return ""
	}
	if _, rest, ok := strings.Cut(n, "/"); ok && (strings.HasPrefix(n, "a/") ||
		strings.HasPrefix(n, "b/")) {
		return rest
	}
	return n
}

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// hunks returns a file with the hunks of the diff applied.
func (p *patch) hunks(file Block) (string, error) {
	old, lines := strings.SplitAfter(file.Code, "\n"), CountLines([]byte(file.Code))
	var b strings.Builder
	done := 0 // lines of old
	for {
		m := hunk.FindStringSubmatch(p.line())
		if m == nil {
			b.WriteString(strings.Join(old[done:], ""))
			return b.String(), nil
		}
		from, _ := strconv.Atoi(m[1])
		if m[2] != "0" {
			from--
		}
		if from < done || from > lines {
			return "", fmt.Errorf("begins at line %s of %s, which has %d: expected hunks in order",
				m[1], file.Path, lines)
		}
		b.WriteString(strings.Join(old[done:from], ""))
		done = from
		for minus, plus := count(m[2]), count(m[3]); minus > 0 || plus > 0; {
			p.at++
			line := p.line()
			if line == "" || !strings.ContainsAny(line[:1], " +-\\\r\n") {
				return "", fmt.Errorf(
					"the hunk ends early: expected %d lines more of the old file, %d of the new",
					minus, plus)
			}
			if line[0] == '\r' || line[0] == '\n' { // an empty line, whose blank an editor took
				line = " " + line
			}
			switch line[0] {
			case '\\':
				continue
			case '+':
				b.WriteString(line[1:])
				plus--
				continue
			case ' ':
				b.WriteString(line[1:])
				plus--
			}
			if minus--; done >= len(old) ||
				strings.TrimRight(old[done], "\r\n") != strings.TrimRight(line[1:], "\r\n") {
				return "", fmt.Errorf("%q is not line %d of %s",
					strings.TrimRight(line[1:], "\r\n"), done+1, file.Path)
			}
			done++
		}
		p.at++
	}
}

// count returns the length of a hunk.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, _ := strconv.Atoi(s)
	return n
}
