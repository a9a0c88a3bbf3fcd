package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/seal"
)

// TestNewCaseRuns: a case that lint would refuse is not written.
func TestNewCaseRuns(t *testing.T) {
	root := t.TempDir()
	code := filepath.Join(root, "a.py")
	for name, text := range map[string]string{"tests/shop/SPEC.md": started("SPEC.md"),
		"a.py": "eval(x)\n", "empty.py": "\n"} {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	given := newCaseCmd{target: target{Root: root}, Case: "shop/run", Label: "bad",
		Description: "Runs it.", Violates: "2", Code: code}
	for want, change := range map[string]func(*newCaseCmd){
		`a second section "# Expected"`:            func(c *newCaseCmd) { c.Description = "# Expected\n\ngood" },
		`"two" is not the number of a requirement`: func(c *newCaseCmd) { c.Violates = "two" },
		`"CWE-1234567" is no CWE`:                  func(c *newCaseCmd) { c.CWE = "CWE-1234567" },
		"the code block is empty: expected":        func(c *newCaseCmd) { c.Code = filepath.Join(root, "empty.py") },
	} {
		c := given
		change(&c)
		require.ErrorContains(t, c.Run(), want)
		require.NoFileExists(t, filepath.Join(root, "tests/shop/run-01-bad.md"))
	}
	require.NoError(t, given.Run())
	require.FileExists(t, filepath.Join(root, "tests/shop/run-01-bad.md"))
}

// TestNewAsksNothingInVain: a name that is refused is told before a question is answered.
func TestNewAsksNothingInVain(t *testing.T) {
	answers := strings.NewReader("sql\n")
	for _, c := range []interface{ Run() error }{&newAppCmd{target: target{in: bufio.NewReader(answers)}, Name: "Shop"}, &newAuditorCmd{target: target{in: bufio.NewReader(answers)}, Name: "x y"}} {
		require.ErrorContains(t, c.Run(), "expected small letters")
	}
	require.Equal(t, 4, answers.Len())
}

// TestInitBelowAFile says what is in the way, and not that each file is there already.
func TestInitBelowAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	err := (&initCmd{Dir: file, Language: "sql"}).Run()
	require.ErrorContains(t, err, "not a directory")
	require.NotContains(t, err.Error(), "there already")
}

// TestNewProjectOfAFolder takes one of another repository's as it is; what fails leaves
// nothing behind, so that it can be tried again.
func TestNewProjectOfAFolder(t *testing.T) {
	dir := t.TempDir()
	shop := filepath.Join(dir, "all/shop")
	require.NoError(t, os.MkdirAll(shop, 0o755))
	_, err := seal.GitOutput(t.Context(), "init", "--quiet", filepath.Dir(shop))
	require.NoError(t, err)
	project := func(commit string) error {
		c := &newProjectCmd{source: source{Root: dir, Cache: filepath.Join(dir, "cache")},
			Name: "shop", Repository: shop, Commit: commit, Language: "C|C++", Licence: "unknown"}
		return c.Run(t.Context())
	}
	require.ErrorContains(t, project(""), "nothing to commit")
	require.NoError(t, os.WriteFile(filepath.Join(shop, "a.c"), []byte("int a;\n"), 0o600))
	require.ErrorContains(t, project("HEAD"), "expected 40 hex digits")
	require.NoError(t, project(""))
	p, err := fixture.ReadKey(os.DirFS(dir), "fixtures/projects/shop.md")
	require.NoError(t, err)
	require.Equal(t, []string{"C|C++"}, p.Languages)
	require.Equal(t, "fixtures/sources/shop.git", p.Repository)

	elsewhere := t.TempDir()
	require.NoError(t, os.CopyFS(elsewhere, os.DirFS(dir)))
	require.NoError(t, os.RemoveAll(dir))
	again := newProjectCmd{source: source{Root: elsewhere, Cache: t.TempDir(), Mirror: t.TempDir()},
		Name: "shop", Again: true}
	require.NoError(t, again.Run(t.Context()), "as on another machine")
}

// TestNewProjectOfAForeignRepository copies its commit, and starts nothing that its
// configuration, hooks or attributes name.
func TestNewProjectOfAForeignRepository(t *testing.T) {
	foreign, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	write := func(name, text string) {
		file := filepath.Join(foreign, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	git := func(args ...string) string {
		args = append([]string{"-C", foreign, "-c", "user.name=a", "-c", "user.email=a@b.example"},
			args...)
		out, err := seal.GitOutput(t.Context(), args...)
		require.NoError(t, err)
		return out
	}
	git("init", "--quiet")
	write("a.c", "int a;\n")
	write(".gitattributes", "*.c filter=evil diff=evil\n")
	git("add", "--all")
	git("commit", "--quiet", "-m", "one")
	touch := "touch " + ran
	write(".git/hooks/post-index-change", "#!/bin/sh\n"+touch+"\n")
	for _, name := range []string{"core.fsmonitor", "core.sshCommand", "filter.evil.clean",
		"filter.evil.smudge", "diff.evil.textconv", "uploadpack.packObjectsHook", "gpg.program"} {
		git("config", name, touch)
	}
	git("config", "log.showSignature", "true")
	write("a.c", "int b;\n")

	dir := t.TempDir()
	source := source{Root: dir, Cache: filepath.Join(dir, "cache")}
	c := &newProjectCmd{source: source, Name: "shop", Repository: foreign, Language: "C",
		Licence: "MIT"}
	require.NoError(t, c.Run(t.Context()))
	require.NoFileExists(t, ran)
	p, err := fixture.ReadKey(os.DirFS(dir), "fixtures/projects/shop.md")
	require.NoError(t, err)
	require.Equal(t, "fixtures/sources/shop.git", p.Repository)
	require.Equal(t, git("rev-parse", "HEAD"), p.Commit)
	require.NoFileExists(t, filepath.Join(dir, "fixtures/sources/shop.git/index"))

	c = &newProjectCmd{source: source, Name: "x", Repository: "ext::" + touch, Language: "C"}
	require.ErrorContains(t, c.Run(t.Context()),
		"expected a folder that is there, or an https or ssh URL")
	c.Repository = "--upload-pack=" + touch
	require.ErrorContains(t, c.Run(t.Context()), "expected a folder that is there")
	require.NoFileExists(t, ran)
}
