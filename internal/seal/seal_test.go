package seal

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/box"
)

// repository makes a git repository with the files and gives its path, the
// commit and the blobs.
func repository(t *testing.T, files map[string]string) (dir, commit string, tree audit.Tree) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = filepath.Join(t.TempDir(), "owner", "name")
	git := func(args ...string) string {
		cmd := exec.Command("git",
			append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.example"},
				args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	git("init", "--quiet")
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	git("add", ".")
	git("commit", "--quiet", "-m", "one")
	tree = audit.Tree{}
	for name, content := range files {
		tree[name] = audit.TreeFile{Path: name, Lines: strings.Count(content, "\n"),
			Blob: git("rev-parse", "HEAD:"+name)}
	}
	return dir, git("rev-parse", "HEAD"), tree
}

const challenge = `package a

// the answer: concatenation
func findByLoginUnsafe(q string) { // mark: vuln-line
	run("SELECT " + q)
}
`

func project(t *testing.T) (p *audit.Project, mirror string) {
	dir, commit, tree := repository(t, map[string]string{
		"src/a.go":              challenge,
		"src/impossible.php":    "<?php safe();\n",
		"docs/solution/one.md":  "# The answer\nis injection\n",
		"docs/guide.md":         "see impossible.php\nnot impossibles\n",
		"data.bin":              "\x00\x01impossible",
		".gitattributes":        "docs/** export-ignore\n*.go text eol=crlf\n",
		"challenges.yml":        "- name: one\n  hint: look at a.go\n- name: two\n",
		"go.sum":                "example.org/impossible v1\n",
		"src/deep/er/notes.txt": "x\r\nthe answer\r\ny\r\n",
		"src/TutorialTwo.java":  "@Clues({\n  \"one\",\n  \"two\"})\nclass TutorialTwo {\n  Grade go() { return solved(it).out(x); }\n}\n",
	})
	return &audit.Project{Name: "p", Repository: "https://git.example/owner/name.git",
		Commit: commit, Tree: tree,
		Blanks: []audit.Blank{
			{Glob: "docs/solution/**"},
			{Glob: "src/*.go", Pattern: `// mark: .*`},
			{Glob: "src/*.go", Lines: []audit.Range{{Start: 3, End: 3}}},
			{Glob: "challenges.yml", Pattern: `.*hint:.*`},
			{Glob: "src/**/notes.txt", Lines: []audit.Range{{Start: 2, End: 2}}},
			{Glob: "src/*.java", Pattern: `(?s)@Clues\(\{.*?\}\)`},
			{Glob: "src/*.java", Pattern: `solved\(it\)\.out\((\w+)\)`, With: "answer($1)"},
		},
		Renames: []audit.Rename{{From: "impossible", To: "tier4"},
			{From: "findByLoginUnsafe", To: "findByLogin2"}, {From: "Tutorial",
				To: "Area", Within: true}},
	}, filepath.Dir(filepath.Dir(dir))
}

func export(t *testing.T, p *audit.Project, mirror string) *Export {
	t.Helper()
	c, err := Fetch(context.Background(), p, t.TempDir(), mirror)
	require.NoError(t, err)
	dir, remove, err := box.TempDir("export")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, remove()) })
	s, err := c.Export(context.Background(), filepath.Join(dir, "src"))
	require.NoError(t, err)
	return s
}

func TestExportHoldsNoAnswerAndKeepsEveryLine(t *testing.T) {
	p, mirror := project(t)
	s := export(t, p, mirror)

	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(s.Dir, name))
		require.NoError(t, err)
		return string(b)
	}
	require.Equal(t, "package a\n\n\nfunc findByLogin2(q string) { \n\trun(\"SELECT \" + q)\n}\n",
		read("src/a.go"))
	require.Equal(t, "\n\n", read("docs/solution/one.md"))
	require.Equal(t, "- name: one\n\n- name: two\n", read("challenges.yml"))
	require.Equal(t, "x\r\n\r\ny\r\n", read("src/deep/er/notes.txt"))
	require.Equal(t, "see tier4.php\nnot impossibles\n", read("docs/guide.md"))
	require.Equal(t, "<?php safe();\n", read("src/tier4.php"))
	require.Equal(t, "\x00\x01impossible", read("data.bin"),
		"a binary file is no text to rename in")
	require.Equal(t, "example.org/impossible v1\n", read("go.sum"),
		"packages of others keep their names")
	require.Equal(t, "\n\n\nclass AreaTwo {\n  Grade go() { return answer(x); }\n}\n",
		read("src/AreaTwo.java"))
	require.NoFileExists(t, filepath.Join(s.Dir, "src/impossible.php"))
	require.NoDirExists(t, filepath.Join(s.Dir, ".git"))
	_, err := os.Lstat(filepath.Join(s.Dir, "link"))
	require.ErrorIs(t, err, os.ErrNotExist, "a link could lead out of the export")

	for name, f := range p.Tree {
		exported := s.Names.Hide(name)
		require.Equal(t, f.Lines, strings.Count(read(exported), "\n"), name)
		require.NotContains(t, read(exported), "the answer", name)
	}
}

func TestFindingsAreMappedBack(t *testing.T) {
	p, mirror := project(t)
	s := export(t, p, mirror)
	got := s.Names.Reveal([]audit.Finding{
		{File: "src/tier4.php", Function: "findByLogin2"},
		{File: "/tmp/x/src/tier4.php", Trace: []audit.Step{{File: "src/tier4.php"}}},
		{File: "src/a.go", Function: "(*T).findByLogin2(string)"},
		{File: "src/AreaTwo.java", Function: "AreaTwo.go"},
	})
	require.Equal(t, []audit.Finding{
		{File: "src/impossible.php", Function: "findByLoginUnsafe"},
		{File: "/tmp/x/src/impossible.php", Trace: []audit.Step{{File: "src/impossible.php"}}},
		{File: "src/a.go", Function: "(*T).findByLoginUnsafe(string)"},
		{File: "src/TutorialTwo.java", Function: "TutorialTwo.go"},
	}, got)
}

func TestExportIsReadOnly(t *testing.T) {
	p, mirror := project(t)
	s := export(t, p, mirror)
	for _, name := range []string{"src", "src/a.go", "."} {
		info, err := os.Stat(filepath.Join(s.Dir, name))
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o222, name)
	}
}

func TestMistakesInTheTablesAreErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*audit.Project)
		want string
	}{
		{"pattern that matches no file",
			func(p *audit.Project) {
				p.Blanks = append(p.Blanks,
					audit.Blank{Glob: "docs/solutions/**"})
			}, `"docs/solutions/**" matches no file`},
		{"pattern that matches no line", func(p *audit.Project) {
			p.Blanks = append(p.Blanks, audit.Blank{Glob: "src/a.go", Pattern: "no such text"})
		}, "nothing in \"src/a.go\" is emptied"},
		{"lines past the end", func(p *audit.Project) {
			p.Blanks = append(p.Blanks,
				audit.Blank{Glob: "src/a.go", Lines: []audit.Range{{Start: 90, End: 91}}})
		}, "nothing in \"src/a.go\" is emptied"},
		{"name that does not occur", func(p *audit.Project) {
			p.Renames = append(p.Renames, audit.Rename{From: "nobody", To: "x9"})
		}, `the name "nobody" does not occur`},
		{"part of a name that is taken", func(p *audit.Project) { p.Renames[2].To = "Log" },
			`the new name "Log" already occurs in src/a.go`},
		{"two names that become one",
			func(p *audit.Project) {
				p.Renames = append(p.Renames,
					audit.Rename{From: "notes", To: "tier4"})
			}, `findings could not be mapped back`},
		{"name that is taken", func(p *audit.Project) { p.Renames[0].To = "package" },
			`the new name "package" already occurs in src/a.go`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, mirror := project(t)
			tt.edit(p)
			c, err := Fetch(context.Background(), p, t.TempDir(), mirror)
			require.NoError(t, err)
			to := filepath.Join(t.TempDir(), "export")
			_, err = c.Export(context.Background(), to)
			require.ErrorContains(t, err, tt.want)
			require.NoDirExists(t, to, "answers may stand in it")
		})
	}
}

func TestFetchVerifiesTheManifest(t *testing.T) {
	p, mirror := project(t)
	cache := t.TempDir()
	_, err := Fetch(context.Background(), p, cache, mirror+"/{owner}/{name}")
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(mirror))
	_, err = Fetch(context.Background(), p, cache, mirror)
	require.NoError(t, err, "what was fetched once is not fetched again")

	f := p.Tree["src/a.go"]
	f.Blob = strings.Repeat("0", 40)
	p.Tree["src/a.go"] = f
	_, err = Fetch(context.Background(), p, cache, mirror)
	require.ErrorContains(t, err, "the manifest says that src/a.go is blob 0000")
}

func TestFetchSaysWhereItLooked(t *testing.T) {
	p, _ := project(t)
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	_, err := Fetch(context.Background(), p, t.TempDir(), nowhere)
	require.ErrorContains(t, err, filepath.Join(nowhere, "owner", "name"))
	require.ErrorContains(t, err, p.Commit)
}

// TestFetchSaysWhatBothWaysSaid: what refused the commit by its hash is not hidden by
// what the second way met.
func TestFetchSaysWhatBothWaysSaid(t *testing.T) {
	p, mirror := project(t)
	p.Commit = strings.Repeat("1", 40)
	_, err := Fetch(t.Context(), p, t.TempDir(), mirror)
	require.ErrorContains(t, err, "git fetch: ")
	require.ErrorContains(t, err, "git cat-file: ")
}

// TestReadingADamagedCloneSaysWhatGitSaid: the reason stands in git's own words,
// of a file that is broken and of a repository that is none.
func TestReadingADamagedCloneSaysWhatGitSaid(t *testing.T) {
	p, mirror := project(t)
	c, err := Fetch(t.Context(), p, t.TempDir(), mirror)
	require.NoError(t, err)
	bs, err := c.blobs(t.Context())
	require.NoError(t, err)
	one := bs[:1]
	object := filepath.Join(c.Dir, "objects", one[0].hash[:2], one[0].hash[2:])
	require.NoError(t, os.Chmod(object, 0o644))
	require.NoError(t, os.WriteFile(object, []byte("no object"), 0o644))
	give := func(_ blob, _ []byte, err error) error { return err }
	require.ErrorContains(t, c.read(t.Context(), one, give), "unable to unpack")
	require.NoError(t, os.Remove(filepath.Join(c.Dir, "HEAD")))
	require.ErrorContains(t, c.read(t.Context(), one, give), "fatal: not a git repository")
}

func TestExportRefusesAFolderInUse(t *testing.T) {
	p, mirror := project(t)
	c, err := Fetch(context.Background(), p, t.TempDir(), mirror)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o644))
	_, err = c.Export(context.Background(), dir)
	require.ErrorContains(t, err, "expected an empty folder")
	require.FileExists(t, filepath.Join(dir, "x"))
}

// TestIncompleteMirror: a copy that lacks a blob which nobody asks for serves,
// and what is left out is named; one that lacks a file of the manifest does not.
func TestIncompleteMirror(t *testing.T) {
	lose := func(p *audit.Project, mirror, name string) {
		blob := p.Tree[name].Blob
		require.NoError(t, os.Remove(filepath.Join(mirror, "owner", "name", ".git", "objects",
			blob[:2], blob[2:])))
	}
	p, mirror := project(t)
	lose(p, mirror, "data.bin")
	delete(p.Tree, "data.bin")
	s := export(t, p, mirror)
	require.Equal(t, []string{"data.bin"}, s.Missing)

	p, mirror = project(t)
	lose(p, mirror, "src/a.go")
	c, err := Fetch(context.Background(), p, t.TempDir(), mirror)
	require.NoError(t, err)
	_, err = c.Export(context.Background(), filepath.Join(t.TempDir(), "export"))
	require.ErrorContains(t, err, "src/a.go: blob "+p.Tree["src/a.go"].Blob)
}

func TestFunctionsAreHeldAgainstTheSource(t *testing.T) {
	p, mirror := project(t)
	entry := func(name string) audit.Vulnerability {
		return audit.Vulnerability{ID: "K", File: "src/a.go", Functions: []string{name},
			Lines: audit.Range{Start: 5, End: 5}, Pos: audit.Pos{File: "p.md", Line: 9}}
	}
	ctx := context.Background()
	c, err := Fetch(ctx, p, t.TempDir(), mirror)
	require.NoError(t, err)
	require.ErrorContains(t, c.CheckFunctions(ctx), "no manifest of functions")

	p.Vulnerabilities = []audit.Vulnerability{entry("findByLoginUnsafe"), entry("run")}
	p.Functions, err = c.Functions(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string][]audit.Function{"src/a.go": {
		{Name: "findByLoginUnsafe", Lines: audit.Range{Start: 4, End: 6}},
		// no parser saw it: its first line as a word
		{Name: "run", Lines: audit.Range{Start: 5, End: 5}},
	}}, p.Functions)
	require.NoError(t, c.CheckFunctions(ctx))

	p.Functions["src/a.go"][1].Lines = audit.Range{Start: 4, End: 4}
	p.Functions["gone.go"] = nil
	err = c.CheckFunctions(ctx)
	require.ErrorContains(t, err,
		`src/a.go has the function "run" in lines 4, where it does not occur`)
	require.ErrorContains(t, err, "gone.go, which the source lacks")

	p.Vulnerabilities = []audit.Vulnerability{entry("findByLogin")}
	_, err = c.Functions(ctx)
	require.ErrorContains(t, err,
		`p.md:9: K names the function "findByLogin", which does not occur in src/a.go`)
}
