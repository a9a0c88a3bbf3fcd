package static

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"assay/internal/static/rules"

	"github.com/stretchr/testify/require"
)

// A snippet is one section of rules/snippets/*.txt:
//
//	=== rule-id bad|good [file name]
//	code; a line on which the rule must report ends in "want" behind a comment mark
//
// Further files of the same snippet follow "--- file name" lines.
type snippet struct {
	rule, kind, at string
	files          fstest.MapFS
	first          string
}

func snippets(t *testing.T) []snippet {
	t.Helper()
	names, err := filepath.Glob("rules/snippets/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	var out []snippet
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		ext := defaultFile[strings.TrimSuffix(filepath.Base(name), ".txt")]
		file := ""
		for i, line := range strings.SplitAfter(string(b), "\n") {
			switch {
			case strings.HasPrefix(line, "=== "):
				f := strings.Fields(line)
				require.GreaterOrEqual(t, len(f), 3, "%s:%d: expected === rule bad|good", name, i+1)
				file = ext
				if len(f) > 3 {
					file = f[3]
				}
				out = append(out, snippet{rule: f[1], kind: f[2], at: fmt.Sprintf("%s:%d", name, i+1), files: fstest.MapFS{}, first: file})
				out[len(out)-1].files[file] = &fstest.MapFile{}
			case strings.HasPrefix(line, "--- "):
				file = strings.TrimSpace(line[4:])
				out[len(out)-1].files[file] = &fstest.MapFile{}
			case len(out) > 0:
				m := out[len(out)-1].files[file]
				m.Data = append(m.Data, line...)
			}
		}
	}
	return out
}

var defaultFile = map[string]string{"java": "src/App.java", "go": "app.go", "python": "app.py", "js": "app.js", "php": "app.php", "general": "app.txt"}

// TestRules holds each rule against its two twins: the vulnerable one is
// reported at each line marked "want", the safe one is not.
func TestRules(t *testing.T) {
	set, err := rules.Load()
	require.NoError(t, err)
	a := New(Options{Workers: 1})
	have := map[string]int{}
	for _, s := range snippets(t) {
		have[s.rule+" "+s.kind]++
		t.Run(s.rule+"/"+s.kind+fmt.Sprint(have[s.rule+" "+s.kind]), func(t *testing.T) {
			require.NotNil(t, set.ByID[s.rule], "%s: no such rule", s.at)
			code := ""
			for _, f := range s.files {
				code += strings.TrimSpace(string(f.Data))
			}
			require.Greater(t, len(code), 10, "%s: the snippet is empty", s.at)
			res, err := a.Analyse(context.Background(), s.files)
			require.NoError(t, err)
			got := map[string]bool{}
			for _, f := range res.Findings {
				if f.RuleID == s.rule {
					for l := f.Lines.Start; l <= max(f.Lines.End, f.Lines.Start); l++ {
						got[fmt.Sprintf("%s:%d", f.File, l)] = true
					}
				}
			}
			want := 0
			for name, f := range s.files {
				for i, line := range strings.Split(string(f.Data), "\n") {
					if strings.HasSuffix(strings.TrimRight(line, " -/*>"), " want") {
						want++
						require.True(t, got[fmt.Sprintf("%s:%d", name, i+1)], "%s: %s does not report %s:%d: %s\nfound: %v", s.at, s.rule, name, i+1, line, res.Findings)
					}
				}
			}
			switch s.kind {
			case "bad":
				require.Positive(t, want, "%s: no line is marked", s.at)
			case "good":
				require.Empty(t, got, "%s: %s reports its safe twin", s.at, s.rule)
			default:
				t.Fatalf("%s: expected bad or good", s.at)
			}
		})
	}
	for _, r := range set.Rules {
		require.Positive(t, have[r.ID+" bad"], "rule %s has no vulnerable snippet", r.ID)
		require.Positive(t, have[r.ID+" good"], "rule %s has no safe twin", r.ID)
	}
}

// TestRulesAreTold holds the table of docs/static.md against the rules.
func TestRulesAreTold(t *testing.T) {
	set, err := rules.Load()
	require.NoError(t, err)
	told := map[string][]string{}
	for _, r := range set.Rules {
		of, name, _ := strings.Cut(r.ID, ".")
		switch of {
		case "java", "js", "py", "go", "php":
		default:
			of, name = "any", r.ID
		}
		if r.Note {
			name = "*" + name + "*"
		}
		told[of] = append(told[of], name)
	}
	doc, err := os.ReadFile("../../docs/static.md")
	require.NoError(t, err)
	for _, of := range []string{"java", "js", "py", "go", "php", "any"} {
		require.Contains(t, string(doc), fmt.Sprintf("| `%s` | %s |\n", of, strings.Join(told[of], ", ")))
	}
}
