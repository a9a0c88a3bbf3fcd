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

// TestDocumentedCommands: every line of README.md and docs/ that starts assay is
// one that the command takes; that a file which it names is not here is no matter.
func TestDocumentedCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	starts := regexp.MustCompile(`(?:^|\s)(?:go run \./cmd/assay|assay) ([a-z].*)$`)
	lines := 0
	for _, page := range append(pages, "../../README.md") {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range blocks.FindAllStringSubmatch(string(b), -1) {
			for _, line := range strings.Split(block[1], "\n") {
				command, _, _ := strings.Cut(line, "  #")
				m := starts.FindStringSubmatch(strings.TrimSpace(command))
				if m == nil {
					continue
				}
				lines++
				var c cli
				parser, err := kong.New(&c, kong.Vars{"version": ""}, kong.BindTo(context.Background(), (*context.Context)(nil)))
				require.NoError(t, err)
				_, err = parser.Parse(dashes(commandWords(m[1])))
				if err != nil && !strings.Contains(err.Error(), "no such file") {
					t.Errorf("%s: %q: %v", page, line, err)
				}
			}
		}
	}
	require.Greater(t, lines, 10)
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
