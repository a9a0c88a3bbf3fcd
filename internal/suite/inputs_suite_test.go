package suite

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBadInputEndsARunBeforeItIsPaid: what an audit would be compared with, or held
// against, is read before anybody is asked.
func TestBadInputEndsARunBeforeItIsPaid(t *testing.T) {
	edit := func(h *house, name, from, to string) {
		b, err := os.ReadFile(h.path(name))
		require.NoError(h.t, err)
		require.Contains(h.t, string(b), from)
		h.write(name, strings.ReplaceAll(string(b), from, to))
	}
	base := "fixtures/baselines/canned/demo.json"
	for _, tt := range []struct {
		name  string
		spoil func(h *house)
		want  string
	}{
		{"a baseline of another project",
			func(h *house) { edit(h, base, `"project": "demo"`, `"project": "other"`) }, base +
				":1: the baseline is of canned on other: expected canned on demo"},
		{"a baseline of another auditor",
			func(h *house) { edit(h, base, `"auditor": "canned"`, `"auditor": "else"`) },
			base + ":1: the baseline is of else on demo"},
		{"a baseline of another judge",
			func(h *house) { edit(h, base, `"score": "3"`, `"score": "1"`) },
			base + ":1: the baseline was judged by score version 1"},
		{"a baseline of another key",
			func(h *house) { edit(h, "fixtures/projects/demo.md", "| HIGH |", "| LOW |") },
			base + ":1: the baseline was made with the key"},
		{"a baseline that is cut", func(h *house) { edit(h, base, `"auditor"`, `"auditor`) }, base +
			":"},
		{"goals for nobody", func(h *house) {
			h.write("fixtures/goals.md", string(must(os.ReadFile(h.path("fixtures/goals.md"))))+
				"\n# Goals: cannd\n\n| Goal | Threshold |\n|---|---|\n| Recall | >= 1 % |\n")
		}, `goals for "cannd", and nothing has that name`},
		{"goals for no reviewer", func(h *house) {
			h.write("fixtures/goals.md", string(must(os.ReadFile(h.path("fixtures/goals.md"))))+
				"\n# Bench: cannd\n\n| Goal | Threshold |\n|---|---|\n| Recall | >= 1 % |\n")
		}, `goals for "cannd", and nothing has that name`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			h.repository(33)
			h.canned(found(33))
			h.baseline()
			require.NoError(t, os.RemoveAll(h.path("records")))
			for _, name := range []string{".md", ".tree.tsv"} { // a sound project beside it
				h.write("fixtures/projects/sound"+name,
					string(must(os.ReadFile(h.path("fixtures/projects/demo"+name)))))
			}
			tt.spoil(h)
			f := play(t, "TestRegression", h.suite("-auditor", "canned").Regression)
			require.True(t, f.Failed())
			require.Len(t, f.complaints(), 1)
			require.Contains(t, f.complaints()[0], tt.want)
			require.NoDirExists(t, h.path("records"), "nobody was asked")
		})
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
