package planted_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/audit"
	"assay/internal/planted"
)

// desk gives the tiny project of testdata, as files that a test may change.
func desk(t require.TestingT) fstest.MapFS {
	fsys := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS("testdata/desk"), ".",
		func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path.Join("testdata/desk", name))
			fsys[path.Join("desk", name)] = &fstest.MapFile{Data: b}
			return err
		})
	require.NoError(t, err)
	return fsys
}

func read(t require.TestingT, fsys fs.FS) *planted.Template {
	p, err := planted.Read(fsys, "desk")
	require.NoError(t, err)
	return p
}

// edit replaces a text in a file, which must hold it.
func edit(t require.TestingT, fsys fstest.MapFS, name, from, to string) {
	name = path.Join("desk", name)
	require.Contains(t, string(fsys[name].Data), from)
	fsys[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(fsys[name].Data), from, to,
		1))}
}

func TestRead(t *testing.T) {
	p := read(t, desk(t))
	require.Equal(t, []any{"desk", "Desk", "http.server", 0.5},
		[]any{p.Name, p.Title, p.Framework, p.RecallGoal})
	require.Equal(t, []string{"Python"}, p.Languages)
	require.Equal(t, `python3 "$PLANT/exploits/run.py"`, p.Commands.Exploit)
	require.Len(t, p.Sites, 4)
	s := p.Sites[0]
	require.Equal(t, planted.Site{ID: "NOTE-1", Dimension: audit.Auth, CWEs: []audit.CWE{639, 862},
		Severity:  audit.High,
		Functions: []string{"show"}, Title: "Notes of others can be read",
		Evidence: "the owner is not in the query of `show`",
		Reason:   "the query names the owner", Rules: []int{1}, Kind: "authorization",
		Reach: "cross",
		Pos:   audit.Pos{File: "desk/project.md", Line: 39}}, s)
	below, err := planted.Read(os.DirFS("testdata"), "desk")
	require.NoError(t, err)
	require.Equal(t, p.Hash(), below.Hash())
	require.Equal(t, "desk/project.md:39", below.Sites[0].Pos.String())
}

// TestReadErrors breaks the project in one way at a time: the error names the
// place and what was expected.
func TestReadErrors(t *testing.T) {
	const rules, doc = "source/desk/rules.py", "project.md"
	for _, c := range []struct{ name, file, from, to, want string }{
		{"unknown word", rules, "site:NOTE-1 good", "site:NOTE-1 fine",
			"desk/source/desk/rules.py:5: .* is no marker: expected"},
		{"small letters", rules, "site:NOTE-1 good", "site:note-1 good",
			"rules.py:5: .* is no marker"},
		{"beside code", rules, "    # site:NOTE-1 good", "    x = 1 # site:NOTE-1 good",
			"rules.py:5: .* on a line of its own"},
		{"no end", rules, "    # site:NOTE-1 end\n", "",
			"rules.py:14: a marker of NOTE-2 within the region of NOTE-1"},
		{"no beginning", rules, "    # site:NOTE-1 good\n", "",
			"rules.py:6: the region of NOTE-1 holds the variants bad"},
		{"end alone", rules, "    # site:NOTE-1 good\n", "    # site:NOTE-1 end\n",
			"rules.py:5: the end of NOTE-1 has no beginning"},
		{"twice good", rules, "site:NOTE-1 bad", "site:NOTE-1 good",
			"rules.py:5: .* variants good, good: expected good and bad"},
		{"three variants", rules, "    # site:NOTE-1 end",
			"    # site:NOTE-1 good\n    x = 1\n    # site:NOTE-1 end",
			"rules.py:5: .* good, bad, good"},
		{"empty primary", rules, `    like = "'%" + word + "%'"` + "\n", "\n",
			"rules.py:15: the primary region of NOTE-2 has an empty variant"},
		{"empty plus", rules,
			"# site:CASH-1+ bad\nMOST = 500\n# site:CASH-1+ good\nLEAST = 1\nMOST = 500\n",
			"# site:CASH-1+ bad\n# site:CASH-1+ good\n",
			"rules.py:42: the region of CASH-1\\+ is empty in both"},
		{"same lines", rules, "LEAST = 1\nMOST", "MOST",
			`rules.py:42: the region of CASH-1\+ holds the same lines twice`},
		{"nested", rules, "LEAST = 1", "# site:CASH-2 good",
			`rules.py:4\d: a marker of CASH-2 within the region of CASH-1\+ that begins at line 42`},
		{"wrong end", rules, "# site:CASH-1+ end", "# site:CASH-1 end",
			`rules.py:\d+: a marker of CASH-1 within the region of CASH-1\+`},
		{"two primaries", rules, "LEAST = 1",
			"LEAST = 1\n# site:CASH-1+ end\n# site:CASH-1 good\na\n# site:CASH-1 bad\nb\n# site:CASH-1 end\n# site:CASH-1+ good", "second primary region of CASH-1: the first is at"},
		{"region too long", rules, "LEAST = 1", strings.Repeat("LEAST = 1\n", 51),
			`53 good and 1 bad lines: expected at most 50`},
		{"no row", doc, "| NOTE-1 |", "| NOTE-9 |",
			"rules.py:5: the site NOTE-1 has no row in project.md|project.md:HERE: the site NOTE-9 has no region"},
		{"plus alone", rules, "site:CASH-1 good", "site:CASH-1+ good",
			`a marker of CASH-1 within the region of CASH-1\+`},
		{"order unknown", rules, "# order:begin", "# order:start", "rules.py:3: .* is no marker"},
		{"order twice", rules, "# order:next", "# order:begin",
			"rules.py:13: order:begin within the group that begins at line 3"},
		{"order not begun", rules, "# order:begin\n", "",
			"rules.py:12: order:next outside of a group"},
		{"order no end", rules, "# order:end\n", "", "rules.py:3: the group has no end"},
		{"order in region", rules, "    # site:NOTE-1 bad",
			"    # order:next\n    # site:NOTE-1 bad",
			"rules.py:7: order:next within the region of NOTE-1"},
		{"one part", "source/desk/server.py", "    # order:begin",
			"    # order:begin\n    x = 1\n    # order:end\n    # order:begin",
			"server.py:10: the group has one part"},
		{"empty part", rules, "# order:begin", "# order:begin\n# order:next",
			"rules.py:3: part 1 of the group is empty"},
		{"dimension", doc, "| Auth |", "| Authority |", "project.md:HERE: .* is no dimension"},
		{"CWE", doc, "CWE-639, CWE-862", "CWE-x", "project.md:HERE: .* is no CWE"},
		{"severity", doc, "| HIGH |", "| GRAVE |",
			"project.md:HERE: the severity is \"GRAVE\": expected CRITICAL"},
		{"kind", doc, "| authorization |", "| rights |",
			"project.md:HERE: the kind is \"rights\": expected one of pattern"},
		{"reach", doc, "| cross |", "| far |", "project.md:HERE: the reach is \"far\""},
		{"rule", doc, "| 1 | authorization", "| one | authorization",
			"project.md:HERE: the rule is \"one\""},
		{"function", doc, "| show |", "| shows |",
			"project.md:HERE: NOTE-1 names the function \"shows\""},
		{"row short", doc, " | authorization | cross |", " | authorization |",
			"project.md:HERE: the row has 10 cells and the heading 11"},
		{"twice a row", doc, "| NOTE-2 |", "| NOTE-1 |",
			"project.md:HERE: a second row for NOTE-1: the first is at line 39"},
		{"section", doc, "# Names", "# Nams", "project.md:HERE: unknown section"},
		{"section twice", doc, "# Names", "# Files", "project.md:29: a second section"},
		{"step", doc, "| build |", "| compile |", "project.md:HERE: unknown step \"compile\""},
		{"step missing", doc, "| start | python3 -m desk.server |\n", "",
			"the step start has no command"},
		{"field", doc, "| Framework |", "| Frame |", "project.md:HERE: unknown field"},
		{"goal", doc, "50 %", "500 %",
			"project.md:HERE: Recall goal is \"500 %\": expected a share"},
		{"name absent", doc, "| notes_kept |", "| notes_lost |",
			"project.md:HERE: the name notes_lost does not occur"},
		{"name taken", doc, "stored_notes", "owner",
			"project.md:HERE: the alternative owner for notes_kept occurs in source/ already"},
		{"name twice", doc, "parse_amount", "stored_notes",
			"project.md:HERE: stored_notes occurs twice"},
		{"no name", doc, "parse_amount", "a b", "project.md:HERE: \"a b\" is not a name"},
		{"file absent", doc, "| docs/rules.md |", "| docs/rule.md |",
			"project.md:HERE: the file docs/rule.md is not in source/"},
		{"file taken", doc, "docs/policy.md", "README.md",
			"project.md:HERE: the path README.md is taken"},
		{"file out", doc, "docs/policy.md", "../policy.md", "project.md:HERE: .* is not a path"},
		{"file kind", doc, "docs/policy.md", "docs/policy.txt",
			"project.md:HERE: docs/policy.txt ends otherwise"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := desk(t)
			before, _, _ := strings.Cut(string(fsys["desk/"+c.file].Data), c.from)
			edit(t, fsys, c.file, c.from, c.to)
			c.want = strings.ReplaceAll(c.want, "HERE", fmt.Sprint(1+strings.Count(before, "\n")))
			_, err := planted.Read(fsys, "desk")
			for _, want := range strings.Split(c.want, "|") {
				if strings.HasPrefix(want, " ") {
					continue
				}
				require.Regexp(t, want, errorText(err))
			}
		})
	}
}

// TestPlusAlone: a site needs the region where the flaw is.
func TestPlusAlone(t *testing.T) {
	fsys := desk(t)
	src := strings.ReplaceAll(string(fsys["desk/source/desk/rules.py"].Data), "site:CASH-1 ",
		"site:CASH-1+ ")
	fsys["desk/source/desk/rules.py"] = &fstest.MapFile{Data: []byte(src)}
	_, err := planted.Read(fsys, "desk")
	require.EqualError(t, err,
		"desk/project.md:41: the site CASH-1 has no primary region in source/: expected site:CASH-1 good, bad, end")
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestReadFiles(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		".env": {[]byte("x"),
			"desk/source/.env: the name .env begins with .: expected it to be stored as dot-env"},
		"desk/__init__.py": {[]byte("x"), "stored as dot-__init__.py"},
		"go.mod":           {[]byte("module x"), "stored as go.mod.txt"},
		"logo.png":         {[]byte("\x89PNG\x00"), "is no text in UTF-8"},
		"big.sql": {[]byte(strings.Repeat("x", 200_001)),
			"200001 bytes: expected at most 200000"},
		"a\tb.py": {[]byte("x"),
			"the name \"a\\tb.py\" holds a tab or the end of a line"},
		"node_modules/a/b.js":  {[]byte("x"), "generated folder"},
		"desk/dot-_x/../a.txt": {nil, ""},
	} {
		if c.want == "" {
			continue
		}
		fsys := desk(t)
		fsys["desk/source/"+name] = &fstest.MapFile{Data: c.data}
		_, err := planted.Read(fsys, "desk")
		require.ErrorContains(t, err, c.want, name)
	}
	fsys := desk(t)
	fsys["desk/source/go.mod.txt"] = &fstest.MapFile{Data: []byte("module x\n")}
	fsys["desk/exploits/__pycache__/x.pyc"] = &fstest.MapFile{Data: []byte("\x00")}
	d := read(t, fsys).With()
	files := contents(d.Render())
	require.Contains(t, files, "go.mod")
	require.Contains(t, files, "desk/__init__.py")
	require.Contains(t, files, ".env.example")
}

var placed = regexp.MustCompile(`^desk/[\w./-]+(:[0-9]+)?: `)

// TestReadNeverPanics: whatever stands between the lines, what is wrong is told
// with its place.
func TestReadNeverPanics(t *testing.T) {
	base := desk(t)
	rapid.Check(t, func(t *rapid.T) {
		fsys := fstest.MapFS{}
		for name, f := range base {
			fsys[name] = f
		}
		name := rapid.SampledFrom([]string{"desk/project.md", "desk/source/desk/rules.py",
			"desk/source/desk/server.py"}).Draw(t, "file")
		lines := strings.SplitAfter(string(fsys[name].Data), "\n")
		for range rapid.IntRange(1, 4).Draw(t, "edits") {
			at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			switch rapid.IntRange(0, 3).Draw(t, "edit") {
			case 0:
				lines = append(lines[:at:at], lines[at+1:]...)
			case 1:
				lines = append(lines[:at+1:at+1], lines[at:]...)
			case 2:
				lines[at] = rapid.SampledFrom([]string{"# site:NOTE-1 good\n",
					"# site:NOTE-1+ end\n", "# order:next\n", "// order:end\n", "| a | b\n", "# \n",
					"|\n", "site:\n", "\x00"}).Draw(t, "text")
			default:
				lines[at] = rapid.StringN(0, 40, 80).Draw(t, "any") + "\n"
			}
			if len(lines) == 0 {
				break
			}
		}
		fsys[name] = &fstest.MapFile{Data: []byte(strings.Join(lines, ""))}
		p, err := planted.Read(fsys, "desk")
		if err != nil {
			for _, l := range strings.Split(err.Error(), "\n") {
				require.Regexp(t, placed, l)
			}
			return
		}
		p.Draw(7).Render().Project()
	})
}

func contents(t *planted.Export) map[string]string {
	m := map[string]string{}
	for _, f := range t.Files {
		m[f.Path] = string(f.Content)
	}
	return m
}
