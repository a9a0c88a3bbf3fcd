package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// TestDocumentedCommands: every line and every `assay ...` of README.md and docs/ is
// one that the command takes; that a file which it names is not here, or that the text
// leaves the rest of it open, is no matter.
func TestDocumentedCommands(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md",
		"docs/maintainers/*.md"} {
		found, err := filepath.Glob("../../" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		pages = append(pages, found...)
	}
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	inline := regexp.MustCompile("`(assay [^`]*)`")
	starts := regexp.MustCompile(`(?:^|\s)(?:go run \./cmd/assay|assay) ([a-z].*)$`)
	lines := 0
	for _, page := range pages {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range append(blocks.FindAllStringSubmatch(string(b), -1),
			inline.FindAllStringSubmatch(string(b), -1)...) {
			for _, line := range strings.Split(block[1], "\n") {
				command, _, _ := strings.Cut(line, "  #")
				command, _, _ = strings.Cut(command, " | ")
				m := starts.FindStringSubmatch(strings.TrimSpace(command))
				if m == nil || strings.HasSuffix(m[1], "--help") { // which ends the program
					continue
				}
				lines++
				var c cli
				parser, err := kong.New(&c, kong.Vars{"version": ""},
					kong.BindTo(context.Background(), (*context.Context)(nil)))
				require.NoError(t, err)
				_, err = parser.Parse(dashes(commandWords(m[1])))
				if err != nil && !strings.Contains(err.Error(), "no such file") &&
					!strings.HasPrefix(err.Error(), `expected "<`) &&
					!strings.HasPrefix(err.Error(), "expected one of") {
					t.Errorf("%s: %q: %v", page, line, err)
				}
			}
		}
	}
	require.Greater(t, lines, 10)
}

// TestReferenceListsEveryCommand: docs/reference.md has the commands with their help.
// ASSAY_UPDATE=1 writes them.
func TestReferenceListsEveryCommand(t *testing.T) {
	var c cli
	parser, err := kong.New(&c, kong.Vars{"version": ""}, kong.BindTo(context.Background(),
		(*context.Context)(nil)))
	require.NoError(t, err)
	rows := "| command | |\n|---|---|\n"
	for _, leaf := range parser.Model.Leaves(true) {
		rows += "| `" + leaf.Path() + "` | " + leaf.Help + " |\n"
	}
	const page, begin, end = "../../docs/reference.md", "<!-- begin: commands -->\n", "<!-- end: commands -->"
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	before, rest, _ := strings.Cut(string(b), begin)
	have, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s: no block of commands", page)
	if os.Getenv("ASSAY_UPDATE") != "" {
		require.NoError(t, os.WriteFile(page, []byte(before+begin+rows+end+after), 0o644))
	} else {
		require.Equal(t, rows, have, "%s: write it with ASSAY_UPDATE=1", page)
	}
}

// commandWords cuts a command line as a shell does where it quotes with ' alone.
func commandWords(line string) []string {
	var out []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}
