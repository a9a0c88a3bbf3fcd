package suite

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmeShowsWhatIsMeasured: the tables of README.md and docs/figures.md
// are what the suites say of this repository, to the letter. ASSAY_UPDATE=1 writes
// them.
func TestReadmeShowsWhatIsMeasured(t *testing.T) {
	t.Setenv("ASSAY_ROOT", "")
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Own: os.DirFS("../.."), Out: t.TempDir()})
	require.NoError(t, flags.Parse(nil))
	require.Empty(t, play(t, "TestSmoke", s.Smoke).complaints())
	regression := play(t, "TestRegression", s.Regression)
	require.Empty(t, regression.complaints())
	require.Empty(t, play(t, "TestBench", s.Bench).complaints())

	var short, whole strings.Builder
	s.summary.print(&short, view{width: screenWidth, lines: screenLines})
	s.summary.print(&whole, view{all: true, width: screenWidth})
	holdBlock(t, "../../README.md", "summary", "```\n$ go test -run 'Smoke|Regression|Bench'\nPASS\n"+strings.ReplaceAll(short.String(), ": assay ", ": go run ./cmd/assay ")+"```\n")
	holdBlock(t, "../../docs/figures.md", "recorded", "```\n"+strings.TrimLeft(strings.ReplaceAll(whole.String(), ": assay ", ": go run ./cmd/assay "), "\n")+"```\n")
	holdBlock(t, "../../docs/figures.md", "corroborated", corroboratedTable(t, regression))
}

// shellBlock is a block of commands.
var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestDocumentedTestsHaveTheirFlags: every flag of a go test line in README.md and
// docs/ is there, and every variable is one that is read.
func TestDocumentedTestsHaveTheirFlags(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	define(flags)
	known := func(name string) bool {
		return flags.Lookup(name) != nil || flag.Lookup("test."+name) != nil || name == "c" || name == "o" || name == "tags"
	}
	lines := 0
	for _, page := range append(pages, "../../README.md") {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range shellBlock.FindAllStringSubmatch(string(b), -1) {
			for _, line := range strings.Split(block[1], "\n") {
				_, command, ok := strings.Cut(line, "go test ")
				if !ok {
					continue
				}
				lines++
				command, _, _ = strings.Cut(command, "  #")
				for _, f := range regexp.MustCompile(`(?:^|\s)-([a-z]+)`).FindAllStringSubmatch(command, -1) {
					require.True(t, known(f[1]), "%s: %q has the flag -%s, which is not there", page, line, f[1])
				}
			}
		}
	}
	require.Greater(t, lines, 10)
}

// holdBlock holds the block of a page between its two comments to text.
func holdBlock(t *testing.T, file, name, text string) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	begin, end := fmt.Sprintf("<!-- begin: %s -->\n", name), fmt.Sprintf("<!-- end: %s -->", name)
	before, rest, ok := strings.Cut(string(b), begin)
	have, after, ok2 := strings.Cut(rest, end)
	require.True(t, ok && ok2, "%s: no block %q", file, name)
	if have == text {
		return
	}
	if os.Getenv("ASSAY_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+text+end+after), 0o644))
		return
	}
	t.Errorf("%s: the block %q shows something else: write it with ASSAY_UPDATE=1; expected\n%s", file, name, text)
}

// corroboratedTable gives the figures for the corroborated part of each key.
func corroboratedTable(t *testing.T, regression *fake) string {
	t.Helper()
	var rows []string
	for _, project := range regression.children {
		for _, auditor := range project.children {
			if figures, ok := auditor.attrs["corroborated"]; ok {
				rows = append(rows, "| "+path.Base(project.name)+" | "+path.Base(auditor.name)+" | "+figures+" |")
			}
		}
	}
	require.NotEmpty(t, rows)
	slices.Sort(rows)
	return "| Project | Auditor | Entries | Recall | Precision | F1 | Coverage | Severity accuracy | Chance | Lift |\n|---|---|---|---|---|---|---|---|---|---|\n" +
		strings.Join(rows, "\n") + "\n"
}
