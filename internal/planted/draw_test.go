package planted_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/planted"
)

// digest is a fingerprint of everything that a draw gives.
func digest(t *planted.Export) string {
	h := sha256.New()
	for _, f := range t.Files {
		fmt.Fprintf(h, "%s %d\n%s", f.Path, len(f.Content), f.Content)
	}
	p := t.Project()
	fmt.Fprintln(h, p.KeyHash, p.Commit, p.Expected, p.Coverage)
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// TestDrawForEver: the bytes and the key of a seed never change.
func TestDrawForEver(t *testing.T) {
	p := read(t, desk(t))
	got := map[uint64]string{}
	for _, seed := range []uint64{0, 1, 2, 19, math.MaxUint64} {
		got[seed] = digest(p.Draw(seed).Render())
		require.Equal(t, got[seed], digest(read(t, desk(t)).Draw(seed).Render()))
	}
	require.Equal(t, map[uint64]string{0: "439ffdb366f3c5dd", 1: "d9ad2bd9fdfd21c9",
		2: "d8ba9a8d9a3927aa", 19: "763ed4d5a8cfa674",
		math.MaxUint64: "ccf3ded974f89a34"}, got)
}

// TestDrawShare: between a tenth and a half of the sites are bad, evenly, and each
// site as often as the others.
func TestDrawShare(t *testing.T) {
	p := big(t, 60)
	const seeds = 2000
	bad, shares := map[string]int{}, map[int]int{}
	for seed := range uint64(seeds) {
		ids := p.Draw(seed).Bad()
		require.GreaterOrEqual(t, len(ids), 6)
		require.LessOrEqual(t, len(ids), 30)
		shares[(len(ids)-6)/5]++
		for _, id := range ids {
			bad[id]++
		}
	}
	require.Len(t, bad, 60)
	for id, n := range bad {
		require.InDelta(t, 0.3, float64(n)/seeds, 0.05, id)
	}
	for fifth := range 5 {
		require.InDelta(t, 0.2, float64(shares[fifth])/seeds, 0.05, "%v", shares)
	}
}

// big gives a project with n sites of one line each.
func big(t require.TestingT, n int) *planted.Template {
	var source strings.Builder
	for i := range n {
		fmt.Fprintf(&source,
			"# site:XY-%d good\ngood %d\n# site:XY-%d bad\nbad %d\n# site:XY-%d end\n",
			i, i, i, i, i)
	}
	p, err := planted.Read(fstest.MapFS{"big/project.md": {Data: bigDoc(n)},
		"big/source/a.txt": {Data: []byte(source.String())}}, "big")
	require.NoError(t, err)
	return p
}

func bigDoc(n int) []byte {
	var rows strings.Builder
	for i := range n {
		fmt.Fprintf(&rows, "| XY-%d | Auth | CWE-639 | LOW | | t | e | r | | logic | local |\n", i)
	}
	return []byte(
		"# Big\n\n| Field | Value |\n|---|---|\n| Language | None |\n| Recall goal | 70 % |\n\n# Commands\n\n| Step | Command |\n|---|---|\n" +
			"| start | true |\n| test | true |\n| functional | true |\n| exploit | true |\n\n# Sites\n\n" +
			"| ID | Dimension | CWE | Severity | Function | Title | Evidence | Decoy reason | Rule | Kind | Reach |\n|---|---|---|---|---|---|---|---|---|---|---|\n" + rows.String())
}

// reference draws by filtering lines: what a draw without a seed must give.
func reference(src string, bad map[string]bool) string {
	var out strings.Builder
	site, variant := "", ""
	for l := range strings.Lines(src) {
		fields := strings.Fields(l)
		if len(fields) > 1 && strings.HasPrefix(fields[1], "order:") {
			continue
		}
		if len(fields) > 2 && strings.HasPrefix(fields[1], "site:") {
			site, variant = strings.TrimSuffix(strings.TrimPrefix(fields[1], "site:"), "+"),
				fields[2]
			continue
		}
		if variant == "" || variant == "end" || (variant == "bad") == bad[site] {
			out.WriteString(l)
		}
	}
	return out.String()
}

// TestWith: removing the markers keeps everything else, in any combination.
func TestWith(t *testing.T) {
	fsys := desk(t)
	p := read(t, fsys)
	rapid.Check(t, func(t *rapid.T) {
		bad := map[string]bool{}
		var ids []string
		for _, s := range p.Sites {
			if rapid.Bool().Draw(t, s.ID) {
				bad[s.ID] = true
				ids = append(ids, s.ID)
			}
		}
		d := p.With(ids...)
		require.Equal(t, ids, d.Bad())
		files := contents(d.Render())
		for _, name := range []string{"desk/rules.py", "desk/server.py",
			"desk/store.py", "README.md"} {
			require.Equal(t, reference(string(fsys["desk/source/"+name].Data), bad), files[name])
		}
	})
}

// TestDraw holds any draw: the key points at the text of the drawn variant, no
// marker is left, and but for names and order nothing is lost or added.
func TestDraw(t *testing.T) {
	p := read(t, desk(t))
	texts := map[string][2]string{
		"NOTE-1": {"owner = %s\" % (number", "owner > %s\" % (number"},
		"NOTE-2": {"like = store.quote", "like = \"'%\""},
		"CASH-1": {"if n < LEAST or", "if n > MOST"}, "CASH-2": {"type(fault)", "str(fault)}"},
	}
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		d := p.Draw(seed)
		target := d.Render()
		require.Equal(t, digest(target), digest(p.Draw(seed).Render()))
		files := contents(target)
		key := target.Project()
		require.Len(t, key.Vulnerabilities, len(d.Bad()))
		require.Len(t, key.Decoys, len(p.Sites)-len(d.Bad()))
		for _, k := range key.Vulnerabilities {
			require.Contains(t, at(t, files, k.File, k.Lines), texts[k.ID][1])
		}
		for _, k := range key.Decoys {
			require.Contains(t, at(t, files, k.File, k.Lines), texts[k.ID][0])
		}
		require.Len(t, key.Tree, len(target.Files))
		plain := p.With(d.Bad()...)
		back := strings.NewReplacer(replacements(d.Names(), files)...)
		require.Equal(t, sortedLines(contents(plain.Render()), strings.NewReplacer()),
			sortedLines(files, back))
		for name, text := range files {
			require.NotRegexp(t, `site:|order:(begin|next|end)`, text, name)
		}
	})
}

// replacements undo the names and files of a draw.
func replacements(names map[string]string, files map[string]string) []string {
	var pairs []string
	for from, to := range names {
		pairs = append(pairs, to, from)
	}
	for _, other := range []string{"docs/policy.md", "docs/conditions.md"} {
		if _, drawn := files[other]; drawn {
			pairs = append(pairs, other, "docs/rules.md")
		}
	}
	return pairs
}

func sortedLines(files map[string]string, back *strings.Replacer) []string {
	var all []string
	for name, text := range files {
		for l := range strings.Lines(back.Replace(text)) {
			all = append(all, back.Replace(name)+": "+l)
		}
	}
	slices.Sort(all)
	return all
}

func at(t require.TestingT, files map[string]string, name string, r audit.Range) string {
	require.Contains(t, files, name)
	lines := strings.SplitAfter(files[name], "\n")
	require.GreaterOrEqual(t, r.Start, 1)
	require.GreaterOrEqual(t, r.End, r.Start)
	require.LessOrEqual(t, r.End, len(lines))
	return strings.Join(lines[r.Start-1:r.End], "")
}

// TestDrawVaries: order, names and files are drawn, and the README follows.
func TestDrawVaries(t *testing.T) {
	p := read(t, desk(t))
	orders, tables, docs := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for seed := range uint64(60) {
		d := p.WithSeed(seed, "NOTE-1")
		target := d.Render()
		files := contents(target)
		orders[strings.Join(functions(files["desk/rules.py"]), " ")] = true
		table := d.Names()["notes_kept"]
		tables[table] = true
		require.Contains(t, files["README.md"], "the table "+table+".")
		require.Contains(t, files["desk/store.py"], "CREATE TABLE IF NOT EXISTS "+table+" (")
		for _, doc := range []string{"docs/rules.md", "docs/policy.md", "docs/conditions.md"} {
			if _, ok := files[doc]; ok {
				docs[doc] = true
				require.Contains(t, files["README.md"], "in "+doc+",")
			}
		}
		for _, e := range target.Project().Decoys {
			if e.ID == "CASH-1" {
				require.Equal(t, []string{d.Names()["amount_of"]}, e.Functions)
			}
		}
	}
	require.Len(t, orders, 6)
	require.Len(t, tables, 3)
	require.Len(t, docs, 3)
}

func functions(src string) []string {
	var names []string
	for l := range strings.Lines(src) {
		if name, ok := strings.CutPrefix(l, "def "); ok && !strings.Contains(name, "amount") &&
			!strings.HasPrefix(name, "draw") {
			names = append(names, name[:strings.Index(name, "(")])
		}
	}
	return names
}

// TestKey: what the project's key says of a draw.
func TestKey(t *testing.T) {
	p := read(t, desk(t))
	d := p.With("CASH-1", "NOTE-1")
	key := d.Render().Project()
	require.Equal(t, []any{"desk", "Desk", 0.5, 1, 2}, []any{key.Name, key.Title, key.RecallGoal,
		key.Expected, key.Coverage})
	require.Len(t, key.Vulnerabilities, 2)
	k := key.Vulnerabilities[1]
	require.Equal(t, audit.Vulnerability{ID: "CASH-1", Dimension: audit.BusinessLogic,
		CWEs: []audit.CWE{193, 840}, Severity: audit.Medium,
		File: "desk/rules.py", Functions: []string{"amount_of"},
		Lines: audit.Range{Start: 20, End: 21}, Title: "A negative sum is taken",
		Evidence: "the sum of amount_of has no lower end",
		Pos:      audit.Pos{File: "desk/project.md", Line: 41}}, k)
	require.Equal(t, audit.Decoy{ID: "NOTE-2", Dimension: audit.Injection, CWEs: []audit.CWE{89},
		File: "desk/rules.py", Functions: []string{"find"},
		Lines: audit.Range{Start: 9, End: 9}, Title: "The search runs SQL of the caller",
		Reason: "quote doubles what ends a literal",
		Pos:    audit.Pos{File: "desk/project.md", Line: 40}}, key.Decoys[0])
	again := d.Render().Project()
	require.Equal(t, key, again)
	require.Len(t, key.KeyHash, 64)
}

// TestTreeIsGits: the manifest and the commit are what git says of the folder.
func TestTreeIsGits(t *testing.T) {
	target := read(t, desk(t)).Draw(3).Render()
	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, target.Write(dir))
	require.ErrorContains(t, target.Write(dir), "expected an empty folder")
	for _, f := range target.Files {
		b, err := os.ReadFile(filepath.Join(dir, f.Path))
		require.NoError(t, err)
		require.True(t, bytes.Equal(f.Content, b))
	}
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", "-A")
	key := target.Project()
	require.Equal(t, git("write-tree"), key.Commit)
	for _, l := range strings.Split(git("ls-files", "-s"), "\n") {
		fields := strings.Fields(l)
		require.Equal(t, fields[1], key.Tree[fields[3]].Blob)
	}
	require.Equal(t, 1+len(target.Files),
		bytes.Count(fixture.FormatTree(target.Project().Tree), []byte("\n")))
}

func TestExportIsReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	require.NoError(t, read(t, desk(t)).Draw(3).Render().Export(dir))
	t.Cleanup(func() {
		for _, d := range []string{"", "desk", "docs", "tests"} {
			_ = os.Chmod(filepath.Join(dir, d), 0o755)
		}
	})
	for name, mode := range map[string]os.FileMode{"desk": 0o555,
		"desk/rules.py": 0o444, "": 0o555} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}
}

// TestCombine: several projects as one repository; only IDs that collide are
// prefixed.
func TestCombine(t *testing.T) {
	one, two := read(t, desk(t)), big(t, 3)
	both, err := planted.Combine("planted-all", "All planted projects", one.Draw(1), two.Draw(1))
	require.NoError(t, err)
	key := both.Project()
	require.Equal(t, "planted-all", key.Name)
	require.Len(t, append(entryIDs(key), "x"), 8)
	require.Contains(t, entryIDs(key), "NOTE-1")
	files := contents(both)
	require.Contains(t, files, "desk/README.md")
	require.Contains(t, files, "big/a.txt")
	for _, k := range key.Vulnerabilities {
		require.NotEmpty(t, at(t, files, k.File, k.Lines))
	}

	copied := desk(t)
	for name, f := range desk(t) {
		copied["other"+strings.TrimPrefix(name, "desk")] = f
	}
	other, err := planted.Read(copied, "other")
	require.NoError(t, err)
	both, err = planted.Combine("planted-all", "All", one.Draw(1), other.Draw(1))
	require.NoError(t, err)
	require.Contains(t, entryIDs(both.Project()), "desk-NOTE-1")
	require.Contains(t, entryIDs(both.Project()), "other-NOTE-1")
	_, err = planted.Combine("planted-all", "All", one.Draw(1), one.Draw(2))
	require.ErrorContains(t, err, "the project desk stands twice")
	_, err = planted.Combine("planted-all", "All")
	require.Error(t, err)
}

func entryIDs(p *audit.Project) []string {
	var ids []string
	for _, k := range p.Vulnerabilities {
		ids = append(ids, k.ID)
	}
	for _, d := range p.Decoys {
		ids = append(ids, d.ID)
	}
	return ids
}

// TestKeyScores: the key of any draw, written and read back, is one that the
// scorer takes, and playing it back reaches everything.
func TestKeyScores(t *testing.T) {
	dims, err := fixture.ReadDimensions(os.DirFS("../.."), "fixtures/dimensions.md")
	require.NoError(t, err)
	for seed := range uint64(8) {
		target := read(t, desk(t)).Draw(seed).Render()
		key := target.Project()
		require.NoError(t, fixture.MissingDimensions(key, dims))
		written := fstest.MapFS{"desk.md": {Data: planted.KeyMarkdown(key)},
			"desk.tree.tsv": {Data: fixture.FormatTree(target.Project().Tree)}}
		back, err := fixture.ReadProject(written, "desk.md")
		require.NoError(t, err)
		require.Equal(t, []any{key.KeyHash, key.Tree, key.Commit, key.Expected, key.Coverage,
			key.RecallGoal},
			[]any{back.KeyHash, back.Tree, back.Commit, back.Expected, back.Coverage,
				back.RecallGoal})
		r, err := score.Score(score.Input{Project: key, Findings: score.AsFindings(key),
			Dimensions: dims, Rounds: -1})
		require.NoError(t, err)
		require.Equal(t, score.Of(1), r.Metrics.Recall)
		require.Equal(t, map[score.Disposition]int{score.Matched: len(key.Vulnerabilities)}, r.Dispositions)
	}
}
