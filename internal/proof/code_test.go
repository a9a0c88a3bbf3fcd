package proof_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/proof"
)

// notes is the same tiny application in three languages.
var notes = map[string]map[string]string{
	"js": {
		"good": "export function handler(req, notes) {\n  const n = notes[req.query.id];\n  if (!n || n.owner !== req.user) return { status: 404 };\n  return { status: 200, body: n };\n}\n",
		"bad":  "export function handler(req, notes) {\n  const n = notes[req.query.id];\n  if (!n) return { status: 404 };\n  return { status: 200, body: n };\n}\n",
		"hang": "export function handler() {\n  for (;;) {}\n}\n",
		"net":  "export async function handler() {\n  await fetch('SERVER');\n}\n",
	},
	"py": {
		"good": "def handler(req, notes):\n    n = notes.get(req['id'])\n    if n is None or n['owner'] != req['user']:\n        return {'status': 404}\n    return {'status': 200, 'body': n}\n",
		"bad":  "def handler(req, notes):\n    n = notes.get(req['id'])\n    if n is None:\n        return {'status': 404}\n    return {'status': 200, 'body': n}\n",
	},
	"go": {
		"good": "package app\n\nfunc Handler(r Request, notes map[string]*Note) Response {\n\tn := notes[r.ID]\n\tif n == nil || n.Owner != r.User {\n\t\treturn Response{Status: 404}\n\t}\n\treturn Response{200, n}\n}\n",
		"bad":  "package app\n\nfunc Handler(r Request, notes map[string]*Note) Response {\n\tn := notes[r.ID]\n\tif n == nil {\n\t\treturn Response{Status: 404}\n\t}\n\treturn Response{200, n}\n}\n",
	},
}

func sets(kinds ...audit.ParamSet) []audit.ParamSet { return kinds }

// harness reads the harness files of a folder.
func harness(dir string) map[string][]byte {
	files := map[string][]byte{}
	names, _ := filepath.Glob(filepath.Join(dir, "harness*"))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		files[filepath.Base(name)] = b
	}
	return files
}

func noteFamily(lang string) (*audit.App, *audit.Family) {
	app := &audit.App{App: lang, Dir: "testdata/" + lang, Harness: harness("testdata/" + lang),
		Spec: &audit.Spec{Requirements: []audit.Requirement{{Number: 1}}}}
	fam := &audit.Family{App: lang, Query: "note", Pos: audit.Pos{File: "note.md"}, Sets: sets(
		audit.ParamSet{Set: audit.SetBenign, Values: map[string]any{"user": "ann", "id": "1"}},
		audit.ParamSet{Set: audit.SetAttack, Values: map[string]any{"user": "ann", "id": "2"}})}
	fam.Cases = []*audit.Case{
		{App: lang, Query: "note", Number: 1, Label: audit.Good, Code: notes[lang]["good"]},
		{App: lang, Query: "note", Number: 3, Label: audit.Bad, Code: notes[lang]["bad"],
			Violates: []int{1}}}
	return app, fam
}

func openCode(t *testing.T, app *audit.App) *proof.LanguageRunner {
	t.Helper()
	r, err := proof.NewCode(app)
	if missing := (*proof.MissingRuntime)(nil); errors.As(err, &missing) {
		skip(t, err)
	}
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

func TestCodeIsProven(t *testing.T) {
	for lang := range notes {
		t.Run(lang, func(t *testing.T) {
			app, fam := noteFamily(lang)
			r := openCode(t, app)
			problems, err := proof.Check(context.Background(), r, app, fam)
			require.NoError(t, err)
			require.Empty(t, problems)

			// The labels exchanged, both are refuted.
			fam.Cases[0].Code, fam.Cases[1].Code = fam.Cases[1].Code, fam.Cases[0].Code
			problems, err = proof.Check(context.Background(), r, app, fam)
			require.NoError(t, err)
			require.Len(t, problems, 2)
			require.Contains(t, problems[0].What, "a good violates on the attack set")
			require.Contains(t, problems[1].What, "breaks requirement 1 on no attack set")

			// Of a foreign root it is the same in the sandbox, where there is one.
			proof.SetForeign(r)
			again, err := proof.Check(context.Background(), r, app, fam)
			require.NoError(t, err)
			require.Equal(t, problems, again)
		})
	}
}

// TestChangesAreProven: what runs is the files with the change made, whatever the
// language; what does not fit does not run, and mutants are made of what is new.
func TestChangesAreProven(t *testing.T) {
	change := func(file, language, before, after string) string {
		lines := func(sign, code string) string {
			return sign + strings.ReplaceAll(strings.TrimSuffix(code, "\n"), "\n", "\n"+sign) + "\n"
		}
		return audit.JoinBlocks([]audit.Block{{Path: file, Language: language, Code: before},
			{Language: "diff", Code: fmt.Sprintf(
				"--- a/%s\n+++ b/%s\n@@ -1,%d +1,%d @@\n%s%s", file, file,
				strings.Count(before, "\n"),
				strings.Count(after, "\n"), lines("-", before), lines("+", after))}})
	}
	for lang, file := range map[string]string{"js": "case.mjs", "py": "case.py", "go": "case.go"} {
		t.Run(lang, func(t *testing.T) {
			app, fam := noteFamily(lang)
			good, bad := notes[lang]["good"], notes[lang]["bad"]
			fam.Cases[0].Code, fam.Cases[1].Code = change(file, lang, bad, good), change(file,
				lang, good, bad)
			r := openCode(t, app)
			problems, err := proof.Check(context.Background(), r, app, fam)
			require.NoError(t, err)
			require.Empty(t, problems)
			require.Empty(t, proof.Twins(app, fam, fam.Cases[0]))
			require.Len(t, r.Mutants(fam.Cases[0].Code), 1,
				"the guard that the change makes stricter")
			require.Contains(t, r.Mutants(fam.Cases[0].Code)[0].Name, " in "+file)
			require.Empty(t, r.Mutants(change(file, lang, good, good)),
				"of what was there before there are none")

			_, err = r.Run(context.Background(), fam, strings.Replace(fam.Cases[0].Code, "@@\n-",
				"@@\n-other", 1), fam.Sets)
			require.ErrorContains(t, err, "line 4 of the change: \"other")
		})
	}
}

// TestEachCodeIsBuiltForItself: what does not parse, what does not compile, and what imports
// what it may not, is told of its own and keeps no other from running.
func TestEachCodeIsBuiltForItself(t *testing.T) {
	app, fam := noteFamily("go")
	r := openCode(t, app)
	good := fam.Cases[0].Code
	parses, compiles := "package app\n\nfunc Handler( {", good+"\nvar unknown = nothing + none\n"
	imports := "package app\n\nimport _ \"internal/abi\"\n"
	require.NoError(t, r.Prepare(t.Context(), []string{good, parses, compiles, imports}))
	_, err := r.Run(t.Context(), fam, good, fam.Sets)
	require.NoError(t, err)
	_, err = r.Run(t.Context(), fam, parses, fam.Sets)
	require.ErrorContains(t, err, "the code does not compile:")
	require.ErrorContains(t, err, "case.go:3:")
	require.NotContains(t, err.Error(), "nothing")
	_, err = r.Run(t.Context(), fam, compiles, fam.Sets)
	require.ErrorContains(t, err, "undefined: nothing\n")
	require.ErrorContains(t, err, "undefined: none\n")
	_, err = r.Run(t.Context(), fam, imports, fam.Sets)
	require.ErrorContains(t, err, "case.go:3:8: use of internal package internal/abi not allowed")
}

func TestCodeThatDoesNotRun(t *testing.T) {
	for lang, code := range map[string]string{"js": "export function (", "py": "def handler(:",
		"go": "package app\n\nfunc Handler( {"} {
		app, fam := noteFamily(lang)
		_, err := openCode(t, app).Run(context.Background(), fam, code, fam.Sets)
		require.Error(t, err, lang)
	}
}

// TestCodeHasNoNetwork: not even loopback, where a server of ours listens.
func TestCodeHasNoNetwork(t *testing.T) {
	if err := exec.Command("unshare", "--map-root-user", "--net", "true").Run(); err != nil {
		t.Skip("no network of its own is granted here: ", err)
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	app, fam := noteFamily("js")
	es, err := openCode(t, app).Run(context.Background(), fam,
		strings.ReplaceAll(notes["js"]["net"], "SERVER", server.URL), fam.Sets[:1])
	require.NoError(t, err)
	require.Contains(t, es[0][0].Err, "fetch failed")
}

func TestCodeThatHangsIsKilled(t *testing.T) {
	app, fam := noteFamily("js")
	r := openCode(t, app)
	proof.SetDeadline(t, r, 300)
	_, err := r.Run(context.Background(), fam, notes["js"]["hang"], fam.Sets)
	require.ErrorContains(t, err, "no end within")
}

// TestCodeThatPrints: what a case says on standard error is no fault of its, however
// much; standard output is the harness's, and has an end.
func TestCodeThatPrints(t *testing.T) {
	app, fam := noteFamily("py")
	r := openCode(t, app)
	loud := "import os\nos.write(2, b'x' * 200000)\n" + notes["py"]["good"]
	es, err := r.Run(context.Background(), fam, loud, fam.Sets)
	require.NoError(t, err)
	require.Empty(t, es[1][0].Violated)
	endless := "import os\nwhile True:\n    os.write(1, b'x' * 60000)\n"
	_, err = r.Run(context.Background(), fam, endless, fam.Sets)
	require.ErrorContains(t, err, "more than 8 MB of output")
	behind := "import sys\nsys.stdout.write('{\"effect\": 1}')\n" + notes["py"]["good"]
	_, err = r.Run(context.Background(), fam, behind, fam.Sets)
	require.ErrorContains(t, err, "more stands behind it")
}

// TestPlacesWithoutVariants: code runs in one way, which has no name.
func TestPlacesWithoutVariants(t *testing.T) {
	app, fam := noteFamily("py")
	fam.Cases[0].Code = notes["py"]["bad"]
	problems, err := proof.Check(context.Background(), openCode(t, app), app, fam)
	require.NoError(t, err)
	require.Contains(t, problems[0].What,
		"a good violates on the attack set at line 0: requirement 1")
}

func TestCodeWithoutHarness(t *testing.T) {
	_, err := proof.NewCode(&audit.App{Dir: t.TempDir()})
	require.ErrorContains(t, err, "expected one of harness.mjs")
}
