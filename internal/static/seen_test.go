package static

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/audit"
	"assay/internal/static/rules"

	"github.com/stretchr/testify/require"
)

var seenRow = regexp.MustCompile(`^([\w.-]+)\t([\w.-]+/[\w.-]+)@([0-9a-f]{40})\t([^\t:]+)(:\d+)?\t(\S.*)$`)

// TestSeen: each rule has fired rightly on real code, which rules/seen.tsv names. With
// ASSAY_SEEN, a folder of checkouts "name@commit", the rows are held against the
// analyser.
func TestSeen(t *testing.T) {
	set, err := rules.Load()
	require.NoError(t, err)
	b, err := os.ReadFile("rules/seen.tsv")
	require.NoError(t, err)
	seen := map[string]bool{}
	trees := map[string][][]string{}
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n")[1:] {
		m := seenRow.FindStringSubmatch(line)
		require.NotNil(t, m, "rules/seen.tsv:%d: expected rule, owner/name@commit, path:line and what is wrong, separated by tabs", i+2)
		r := set.ByID[m[1]]
		require.NotNil(t, r, "rules/seen.tsv:%d: no rule %s", i+2, m[1])
		seen[m[1]] = true
		trees[filepath.Base(m[2])+"@"+m[3]] = append(trees[filepath.Base(m[2])+"@"+m[3]], m)
	}
	for _, r := range set.Rules {
		require.True(t, seen[r.ID], "rule %s has fired on nothing real that rules/seen.tsv names", r.ID)
	}
	dir := os.Getenv("ASSAY_SEEN")
	for name, rows := range trees {
		if _, err := os.Stat(filepath.Join(dir, name)); dir == "" || err != nil {
			continue
		}
		res, err := New(Options{}).Analyse(context.Background(), os.DirFS(filepath.Join(dir, name)))
		require.NoError(t, err)
		for _, m := range rows {
			fired := slices.ContainsFunc(res.Findings, func(f audit.Finding) bool {
				return f.RuleID == m[1] && f.File == m[4] && (m[5] == "" || strings.HasPrefix(":"+f.Lines.String(), m[5]))
			})
			if !fired {
				t.Errorf("%s does not fire at %s of %s", m[1], m[4]+m[5], name)
			}
		}
	}
}
