package auditor

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/cwe"
	"assay/internal/planted"
	"assay/internal/seal"
)

// The controls of a benchmark: auditors that read no code. What they score is
// what names and luck are worth; a tool that does not beat them has shown
// nothing.

// A sourceFile is all that a control knows of a file.
type sourceFile struct {
	path  string
	lines int
}

// controlEndings are the endings of files that may hold what a key speaks of.
var controlEndings = strings.Fields(
	".go .java .jsp .js .mjs .cjs .jsx .ts .tsx .vue .py .php .html .ftl .xml .yml .yaml .properties .sql")

// sourceFiles lists the source files of a tree by path, with their number of
// lines. Of their text nothing else is looked at.
func sourceFiles(fsys fs.FS) ([]sourceFile, error) {
	var files []sourceFile
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular() ||
			!slices.Contains(controlEndings, strings.ToLower(path.Ext(name))):
			return nil
		}
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		if n := audit.CountLines(b); n > 0 {
			files = append(files, sourceFile{name, n})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the folder holds no source file: expected the tree of a project")
	}
	return files, nil
}

// controlWindow is the longest range that still names lines (DESIGN section 4):
// the best guess at a place in a file of which only the length is known.
const controlWindow = 50

// pathControl names weaknesses by the words in the paths of a tree's source
// files and by nothing else: a finding for each word of pathWords in a path, in
// the 50 lines around the file's middle. It shows what names give away.
func pathControl(fsys fs.FS) ([]audit.Finding, error) {
	files, err := sourceFiles(fsys)
	if err != nil {
		return nil, err
	}
	var found []audit.Finding
	for _, f := range files {
		said := map[audit.CWE]bool{}
		start := max(1, (f.lines-controlWindow)/2+1)
		for _, w := range pathWords(f.path) {
			cwes := nameCWEs[w]
			if len(cwes) == 0 || said[cwes[0]] {
				continue
			}
			said[cwes[0]] = true
			found = append(found, audit.Finding{RuleID: "path-" + w, CWEs: cwes,
				Severity: audit.High, File: f.path,
				Lines: audit.Range{Start: start, End: min(f.lines, start+controlWindow-1)},
				Title: "the path speaks of " + w})
		}
	}
	return found, nil
}

// pathWords splits a path into lower case words, each once: at everything that
// is no letter, and where a small letter meets a capital. Two neighbours also
// make one word ("open" "redirect", "openredirect").
func pathWords(p string) []string {
	var parts []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			parts = append(parts, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	small := false
	for _, r := range p {
		if !unicode.IsLetter(r) || small && unicode.IsUpper(r) {
			end()
		}
		if unicode.IsLetter(r) {
			word.WriteRune(r)
		}
		small = unicode.IsLower(r)
	}
	end()
	var words []string
	for i, w := range parts {
		if i > 0 && !slices.Contains(words, parts[i-1]+w) {
			words = append(words, parts[i-1]+w)
		}
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// nameCWEs gives, for a word in a path, what somebody who reads no code would
// suspect. It was written from general knowledge, with no key at hand.
var nameCWEs = map[string][]audit.CWE{
	"sql": {89}, "sqli": {89}, "sqlinjection": {89}, "dao": {89}, "mapper": {89},
	"repository": {89}, "query": {89}, "hql": {564, 89}, "nosql": {943},
	"xss": {79}, "html": {79}, "template": {1336, 79}, "ssti": {1336}, "comment": {79},
	"feedback": {79},
	"exec":     {78}, "command": {78, 77}, "cmd": {78}, "shell": {78}, "ping": {78},
	"eval":   {95, 94},
	"script": {94}, "injection": {74},
	"upload": {434}, "file": {22}, "files": {22}, "download": {22}, "path": {22},
	"pathtraversal": {22}, "traversal": {22}, "zip": {22}, "lfi": {98, 22}, "include": {98},
	"xxe": {611}, "xml": {611}, "ssrf": {918}, "proxy": {918}, "fetch": {918}, "webhook": {918},
	"url": {918, 601}, "redirect": {601}, "openredirect": {601},
	"deserialization": {502}, "deserialize": {502}, "serialization": {502}, "pickle": {502},
	"yaml":  {502},
	"login": {307, 287}, "auth": {287}, "authentication": {287}, "session": {384, 613},
	"password": {640, 521}, "reset": {640}, "captcha": {804, 307}, "brute": {307},
	"token": {287}, "jwt": {347}, "jwts": {347}, "oauth": {287}, "csrf": {352}, "cors": {942},
	"cookie": {614, 1004},
	"idor":   {639}, "access": {284, 639}, "accesscontrol": {284}, "authorization": {862},
	"authz": {862}, "admin": {862, 306}, "permission": {862}, "role": {862}, "user": {639},
	"profile": {639},
	"order":   {639}, "basket": {639}, "wallet": {841}, "payment": {841}, "coupon": {841},
	"crypto": {327}, "cryptography": {327}, "encrypt": {327}, "cipher": {327}, "aes": {327, 321},
	"rsa": {327, 321}, "md": {328}, "hash": {328, 916}, "random": {330}, "key": {321},
	"secret": {798}, "config": {798}, "settings": {798}, "application": {798},
	"log": {532}, "logs": {532}, "logging": {532}, "error": {209}, "exception": {209},
	"debug": {489}, "metrics": {200}, "info": {200},
	"pom": {1395}, "package": {1395}, "requirements": {1395}, "race": {362}, "redos": {1333},
	"regex": {1333}, "prototype": {1321}, "assignment": {915}, "massassignment": {915},
}

// cveCounts is how often published CVEs name a weakness: the first CWE of each
// record of the National Vulnerability Database as counted by cve.icu on
// 2024-10-16, those of at least 500 records. Left out are MITRE's categories and
// the weaknesses that only languages with bare memory have (CWE-119, 120, 121,
// 125, 190, 401, 416, 476, 787): no project here is written in one.
var cveCounts = []struct {
	cwe   audit.CWE
	count int
}{
	{79, 29217}, {89, 12516}, {20, 9381}, {200, 7070}, {22, 6332}, {352, 6049}, {78, 3637},
	{94, 3372}, {287, 3277}, {862, 2724},
	{434, 2442}, {77, 1663}, {269, 1615}, {400, 1479}, {362, 1443}, {863, 1398}, {284, 1381},
	{502, 1347}, {798, 1224}, {732, 1191},
	{918, 1169}, {306, 1125}, {59, 1057}, {295, 1007}, {611, 1004}, {601, 997}, {522, 921},
	{276, 910}, {74, 871}, {770, 786},
	{532, 751}, {427, 732}, {668, 600}, {319, 599}, {639, 581}, {835, 564}, {312, 552}, {203, 527},
}

// randomControl draws n findings: the weakness by cveCounts, the line evenly from
// all lines of the tree's source files. The same tree and seed give the same
// findings. It shows what luck is worth.
func randomControl(fsys fs.FS, n int, seed uint64) ([]audit.Finding, error) {
	files, err := sourceFiles(fsys)
	if err != nil {
		return nil, err
	}
	if n <= 0 {
		return nil, fmt.Errorf("%d findings are asked for: expected at least one", n)
	}
	allLines, allCVEs := 0, 0
	for _, f := range files {
		allLines += f.lines
	}
	for _, c := range cveCounts {
		allCVEs += c.count
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	found := make([]audit.Finding, n)
	for i := range found {
		found[i] = audit.Finding{RuleID: "random", Severity: audit.Medium, Title: "drawn at random"}
		draw := rng.IntN(allCVEs)
		for _, c := range cveCounts {
			if draw -= c.count; draw < 0 {
				found[i].CWEs = []audit.CWE{c.cwe}
				break
			}
		}
		line := rng.IntN(allLines)
		for _, f := range files {
			if line < f.lines {
				found[i].File, found[i].Lines = f.path, audit.Range{Start: line + 1, End: line + 1}
				break
			}
			line -= f.lines
		}
	}
	return found, nil
}

// memory is what somebody who has read about the seven public projects remembers of
// them: a line a place, with project, file, function and CWE. It was written from
// memory, with neither key, seal nor source at hand, and is not corrected.
//
//go:embed testdata/memory.tsv
var memory string

// memoryControl answers from memory. The project is the one of which most remembered
// files are in the tree, at their path or alone with their name; of each of these it
// names the function and the weakness that are remembered. It shows what a public
// project's fame is worth, and what of that a sealed export leaves.
func memoryControl(fsys fs.FS) ([]audit.Finding, error) {
	at, named := map[string]bool{}, map[string][]string{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			at[name] = true
			named[path.Base(name)] = append(named[path.Base(name)], name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	found, most := map[string][]audit.Finding{}, ""
	for _, line := range strings.Split(strings.TrimSpace(memory), "\n")[1:] {
		f := strings.Split(line, "\t")
		project, name := f[0], f[1]
		if same := named[path.Base(name)]; !at[name] && len(same) == 1 {
			name = same[0]
		}
		if !at[name] {
			continue
		}
		cwe, err := strconv.Atoi(f[3])
		if err != nil {
			return nil, fmt.Errorf("memory.tsv: %q: %w", line, err)
		}
		found[project] = append(found[project], audit.Finding{RuleID: "memory",
			CWEs: []audit.CWE{audit.CWE(cwe)}, Severity: audit.High, File: name, Function: f[2],
			Title: "remembered"})
		if len(found[project]) > len(found[most]) || len(found[project]) == len(found[most]) &&
			project < most {
			most = project
		}
	}
	return found[most], nil
}

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
	found, err := pathControl(tree)
	require.NoError(t, err)
	want := []audit.Finding{
		{RuleID: "path-file", CWEs: []audit.CWE{22}, Severity: audit.High,
			File: "src/FileUploadServlet.java", Lines: audit.Range{Start: 1, End: 20},
			Title: "the path speaks of file"},
		{RuleID: "path-upload", CWEs: []audit.CWE{434}, Severity: audit.High,
			File: "src/FileUploadServlet.java", Lines: audit.Range{Start: 1, End: 20},
			Title: "the path speaks of upload"},
		{RuleID: "path-openredirect", CWEs: []audit.CWE{601}, Severity: audit.High,
			File: "vuln/open_redirect.php", Lines: audit.Range{Start: 76, End: 125},
			Title: "the path speaks of openredirect"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestMemoryControlNamesWhatIsThere(t *testing.T) {
	found, err := memoryControl(fstest.MapFS{
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

	found, err = memoryControl(fstest.MapFS{"main.c": lines(9)})
	require.NoError(t, err)
	require.Empty(t, found, "an unknown project")
}

func TestControlsReadNoCode(t *testing.T) {
	tree := fstest.MapFS{"a/Upload.java": lines(300), "b/Login.php": lines(80), "c/x.go": lines(5),
		"routes/search.ts": lines(5)}
	blank := fstest.MapFS{}
	for name, f := range tree {
		blank[name] = &fstest.MapFile{Data: bytes.Repeat([]byte("\n"),
			bytes.Count(f.Data, []byte("\n")))}
	}
	for name, control := range map[string]func(fstest.MapFS) ([]audit.Finding, error){
		"paths":  func(m fstest.MapFS) ([]audit.Finding, error) { return pathControl(m) },
		"memory": func(m fstest.MapFS) ([]audit.Finding, error) { return memoryControl(m) },
		"random": func(m fstest.MapFS) ([]audit.Finding, error) { return randomControl(m, 80, 1) },
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
	found, err := randomControl(tree, 4000, 7)
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
		require.True(t, f.Lines.Start >= 1 && f.Lines.Start <= n && f.Lines.End == f.Lines.Start,
			"line %s of %s", f.Lines, f.File)
		last[f.Lines.Start] = true
		if f.CWEs[0] == 79 {
			xss++
		}
	}
	require.InDelta(t, 0.9, float64(long)/4000, 0.03, "lines are drawn evenly")
	require.InDelta(t, float64(cveCounts[0].count)/float64(all), float64(xss)/4000, 0.03,
		"weaknesses are drawn by their counts")
	require.True(t, last[1] && last[900], "the first and the last line can be drawn")
	again, err := randomControl(tree, 4000, 7)
	require.NoError(t, err)
	require.Equal(t, found, again, "the same seed gives the same findings")
	other, err := randomControl(tree, 4000, 8)
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
	_, err := pathControl(fstest.MapFS{"README.md": lines(3), "empty.go": {}})
	require.ErrorContains(t, err, "no source file")
	_, err = randomControl(fstest.MapFS{}, 80, 1)
	require.ErrorContains(t, err, "no source file")
	_, err = randomControl(fstest.MapFS{"a.go": lines(3)}, 0, 1)
	require.ErrorContains(t, err, "at least one")
}

// TestWhatIsRememberedStandsInTheDocuments holds the two rows of docs/maintainers/recordings.md
// that say what memory alone finds on the trees as everybody knows them, and on the
// sealed exports: they shift with keys, seals and judge.
func TestWhatIsRememberedStandsInTheDocuments(t *testing.T) {
	fsys := os.DirFS("../..")
	dimensions, err := fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
	require.NoError(t, err)
	pinned, sealed := "| pinned tree |", "| sealed export |"
	for _, name := range []string{"webgoat", "dvja", "pygoat", "juice-shop", "go-test-bench",
		"dvwa", "dataease"} {
		p, err := fixture.ReadProject(fsys, "fixtures/projects/"+name+".md")
		require.NoError(t, err)
		recall := func(names seal.Names) string {
			files := fstest.MapFS{}
			for file := range p.Tree {
				files[names.Hide(file)] = &fstest.MapFile{}
			}
			for file := range p.Others {
				files[names.Hide(file)] = &fstest.MapFile{}
			}
			found, err := memoryControl(files)
			require.NoError(t, err)
			r, err := score.Score(score.Input{Project: p, Findings: names.Reveal(found),
				Dimensions: dimensions, Rounds: -1})
			require.NoError(t, err)
			return r.Metrics.Recall.String()
		}
		pinned += " " + recall(nil) + " |"
		sealed += " " + recall(p.Renames) + " |"
	}
	page, err := os.ReadFile("../../docs/maintainers/recordings.md")
	require.NoError(t, err)
	for _, row := range []string{pinned, sealed} {
		require.True(t, strings.Contains(string(page), "\n"+row+"\n"),
			"docs/maintainers/recordings.md should have the row\n%s", row)
	}
}

// TestControlRecordings: the recordings of the controls on planted projects are what the
// controls write of the present draws.
func TestControlRecordings(t *testing.T) {
	fsys := os.DirFS("../..")
	controls := map[string]func(fs.FS) ([]audit.Finding, error){
		"control-paths": pathControl, "control-memory": memoryControl,
		"control-random": func(tree fs.FS) ([]audit.Finding,
			error) {
			return randomControl(tree, 80, 1)
		},
	}
	recordings, err := Recordings(fsys, "fixtures/recordings")
	require.NoError(t, err)
	checked := 0
	for _, rec := range recordings {
		control := controls[rec.Auditor]
		if _, err := fs.Stat(fsys, "fixtures/planted/"+rec.Project); err != nil || control == nil {
			continue
		}
		p, err := planted.Read(fsys, "fixtures/planted/"+rec.Project)
		require.NoError(t, err)
		tree := fstest.MapFS{}
		for _, f := range p.Draw(planted.DefaultSeed).Render().Files {
			tree[f.Path] = &fstest.MapFile{Data: f.Content}
		}
		want, err := control(tree)
		require.NoError(t, err)
		run, err := Replay(rec, fsys, nil).Audit(t.Context(), audit.AuditTask{})
		require.NoError(t, err)
		require.Equal(t, places(want), places(run.Report.Findings), "%s", rec.Path())
		checked++
	}
	require.Equal(t, 12, checked)
}

// places returns what findings name, sorted.
func places(found []audit.Finding) (all []string) {
	for _, f := range found {
		all = append(all, fmt.Sprint(f.File, f.Lines, f.Function, f.CWEs, f.Severity))
	}
	slices.Sort(all)
	return all
}
