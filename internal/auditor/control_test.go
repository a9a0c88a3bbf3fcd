package auditor

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/cwe"
)

// lines gives a file of n lines that hold what no control may tell.
func lines(n int) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(strings.Repeat("SELECT password FROM users\n", n))}
}

func TestPathControlNamesWhatPathsSay(t *testing.T) {
	tree := fstest.MapFS{
		"src/FileUploadServlet.java": lines(20),
		"src/Plain.java":             lines(20),
		"vuln/open_redirect.php":     lines(200),
		"docs/sql.md":                lines(20),
		"node_modules/sql/index.js":  lines(20),
	}
	found, err := PathControl(tree)
	require.NoError(t, err)
	want := []audit.Finding{
		{RuleID: "path-file", CWEs: []audit.CWE{22}, Severity: audit.High, File: "src/FileUploadServlet.java", Lines: audit.Range{Start: 1, End: 20}, Title: "the path speaks of file"},
		{RuleID: "path-upload", CWEs: []audit.CWE{434}, Severity: audit.High, File: "src/FileUploadServlet.java", Lines: audit.Range{Start: 1, End: 20}, Title: "the path speaks of upload"},
		{RuleID: "path-openredirect", CWEs: []audit.CWE{601}, Severity: audit.High, File: "vuln/open_redirect.php", Lines: audit.Range{Start: 76, End: 125}, Title: "the path speaks of openredirect"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestMemoryControlNamesWhatIsThere(t *testing.T) {
	found, err := MemoryControl(fstest.MapFS{
		"app/routes/login.ts":  lines(9), // elsewhere, and alone with its name
		"server.ts":            lines(9), // remembered for several things
		"a/redirect.ts":        lines(9), // one of two of this name
		"b/redirect.ts":        lines(9),
		"pom.xml":              lines(9), // of another project, of which less is here
		"routes/unheard-of.ts": lines(9),
	})
	require.NoError(t, err)
	seen := map[string][]audit.CWE{}
	for _, f := range found {
		seen[f.File] = append(seen[f.File], f.CWEs...)
	}
	require.Equal(t, []audit.CWE{89}, seen["app/routes/login.ts"])
	require.Greater(t, len(seen["server.ts"]), 3)
	require.Len(t, seen, 2)

	found, err = MemoryControl(fstest.MapFS{"main.c": lines(9)})
	require.NoError(t, err)
	require.Empty(t, found, "an unknown project")
}

func TestControlsReadNoCode(t *testing.T) {
	tree := fstest.MapFS{"a/Upload.java": lines(300), "b/Login.php": lines(80), "c/x.go": lines(5), "routes/search.ts": lines(5)}
	blank := fstest.MapFS{}
	for name, f := range tree {
		blank[name] = &fstest.MapFile{Data: bytes.Repeat([]byte("\n"), bytes.Count(f.Data, []byte("\n")))}
	}
	for name, control := range map[string]func(fstest.MapFS) ([]audit.Finding, error){
		"paths":  func(m fstest.MapFS) ([]audit.Finding, error) { return PathControl(m) },
		"memory": func(m fstest.MapFS) ([]audit.Finding, error) { return MemoryControl(m) },
		"random": func(m fstest.MapFS) ([]audit.Finding, error) { return RandomControl(m, 80, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			got, err := control(tree)
			require.NoError(t, err)
			want, err := control(blank)
			require.NoError(t, err)
			require.NotEmpty(t, got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings on a tree of empty lines (-want) and on the same tree with code (+got):\n%s", diff)
			}
		})
	}
}

func TestRandomControlDraws(t *testing.T) {
	tree := fstest.MapFS{"long.java": lines(900), "short.java": lines(100)}
	found, err := RandomControl(tree, 4000, 7)
	require.NoError(t, err)
	require.Len(t, found, 4000)
	long, xss, all, last := 0, 0, 0, map[int]bool{}
	for _, c := range cveCounts {
		all += c.count
	}
	for _, f := range found {
		n := 100
		if f.File == "long.java" {
			long++
			n = 900
		}
		require.True(t, f.Lines.Start >= 1 && f.Lines.Start <= n && f.Lines.End == f.Lines.Start, "line %s of %s", f.Lines, f.File)
		last[f.Lines.Start] = true
		if f.CWEs[0] == 79 {
			xss++
		}
	}
	require.InDelta(t, 0.9, float64(long)/4000, 0.03, "lines are drawn evenly")
	require.InDelta(t, float64(cveCounts[0].count)/float64(all), float64(xss)/4000, 0.03, "weaknesses are drawn by their counts")
	require.True(t, last[1] && last[900], "the first and the last line can be drawn")
	again, err := RandomControl(tree, 4000, 7)
	require.NoError(t, err)
	require.Equal(t, found, again, "the same seed gives the same findings")
	other, err := RandomControl(tree, 4000, 8)
	require.NoError(t, err)
	require.NotEqual(t, found, other, "another seed gives others")
}

// inForce reports whether c is a weakness that is not deprecated.
func inForce(c audit.CWE) bool {
	e, ok := cwe.Lookup(int(c))
	return ok && e.Kind == cwe.Weakness && !e.Deprecated
}

func TestControlsKnowTheirWeaknesses(t *testing.T) {
	for word, cwes := range nameCWEs {
		require.NotEmpty(t, cwes, word)
		for _, c := range cwes {
			require.True(t, inForce(c), "%s names %s", word, c)
		}
	}
	for _, c := range cveCounts {
		require.True(t, inForce(c.cwe), "%s", c.cwe)
	}
}

func TestControlsRefuseEmptiness(t *testing.T) {
	_, err := PathControl(fstest.MapFS{"README.md": lines(3), "empty.go": {}})
	require.ErrorContains(t, err, "no source file")
	_, err = RandomControl(fstest.MapFS{}, 80, 1)
	require.ErrorContains(t, err, "no source file")
	_, err = RandomControl(fstest.MapFS{"a.go": lines(3)}, 0, 1)
	require.ErrorContains(t, err, "at least one")
}
