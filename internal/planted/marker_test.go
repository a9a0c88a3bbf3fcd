package planted_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/internal/planted"
)

// TestLeaders: a marker may stand in any of the comments that languages have, and
// leaves nothing behind; what only looks like one is kept.
func TestLeaders(t *testing.T) {
	for _, c := range [][2]string{{"//", ""}, {"#", ""}, {"--", ""}, {";", ""}, {"<!--", " -->"},
		{"/*", " */"}, {"{#", " #}"}, {"{#-", " -#}"},
		{"{{/*", " */}}"}, {"{{- /*", " */ -}}"}, {"{{--", " --}}"}, {"{{!--", " --}}"},
		{"{/*", " */}"}, {"<%#", " %>"}, {"<%--", " --%>"}} {
		line := func(s string) string { return "\t" + c[0] + " " + s + c[1] + "\r\n" }
		src := "a\r\n" + line("site:XY-0 bad") + "b" + line("order by: x") +
			line("site:XY-0 good") + "g\n" + line("site:XY-0 end") +
			line("order:begin") + "1\n" + line("order:next") + "2\n" + line("order:end") +
			line("order: by date") + "end"
		p, err := planted.Read(fstest.MapFS{"big/project.md": {Data: bigDoc(1)},
			"big/source/a.txt": {Data: []byte(src)}}, "big")
		require.NoError(t, err, c[0])
		good := p.With()
		require.Equal(t, "a\r\ng\n1\n2\n"+line("order: by date")+"end",
			contents(good.Render())["a.txt"])
		bad := p.With("XY-0")
		require.Equal(t, "a\r\nb"+line("order by: x")+"1\n2\n"+line("order: by date")+"end",
			contents(bad.Render())["a.txt"])
	}
}

// TestMarginsStay: blank lines at the ends of parts belong to the position, so
// that no order can be told from another by its blank lines.
func TestMarginsStay(t *testing.T) {
	src := "# site:XY-0 good\ng\n# site:XY-0 bad\nb\n# site:XY-0 end\n# order:begin\n\none\n\n\n# order:next\ntwo\n\nmore\n\n\n# order:next\nthree\n# order:end\n"
	p, err := planted.Read(fstest.MapFS{"big/project.md": {Data: bigDoc(1)},
		"big/source/a.txt": {Data: []byte(src)}}, "big")
	require.NoError(t, err)
	seen := map[string]bool{}
	for seed := range uint64(40) {
		d := p.WithSeed(seed)
		seen[contents(d.Render())["a.txt"]] = true
	}
	require.Len(t, seen, 6)
	require.Contains(t, seen, "g\n\nthree\n\n\none\n\n\ntwo\n\nmore\n")
}

// TestAnySource: of any source, a draw without a seed keeps every line that is no
// marker and of no other variant, in its place; the key points at the regions.
func TestAnySource(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generated{t: t}
		g.items(rapid.IntRange(1, 8).Draw(t, "items"), true)
		g.region()
		p, err := planted.Read(fstest.MapFS{"big/project.md": {Data: bigDoc(g.sites)},
			"big/source/a.txt": {Data: []byte(g.source.String())}}, "big")
		require.NoError(t, err, g.source.String())
		for which, text := range map[bool]string{false: g.good.String(), true: g.bad.String()} {
			var ids []string
			if which {
				for _, s := range p.Sites {
					ids = append(ids, s.ID)
				}
			}
			d := p.With(ids...)
			target := d.Render()
			require.Equal(t, text, contents(target)["a.txt"])
			for _, place := range target.Places {
				lines := at(t, contents(target), place.File, place.Lines)
				require.Contains(t, lines,
					place.Site+" "+map[bool]string{false: "good", true: "bad"}[which])
			}
		}
		seed := rapid.Uint64().Draw(t, "seed")
		d := p.WithSeed(seed)
		require.Equal(t, sortedLines(map[string]string{"a.txt": g.good.String()},
			strings.NewReplacer()), sortedLines(contents(d.Render()), strings.NewReplacer()))
	})
}

// generated is a source with what its draws must give.
type generated struct {
	t                 *rapid.T
	source, good, bad strings.Builder
	sites             int
}

func (g *generated) items(n int, groups bool) {
	for range n {
		switch kind := rapid.IntRange(0, 3).Draw(g.t, "kind"); {
		case kind == 0:
			g.region()
		case kind == 1 && groups:
			g.source.WriteString("// order:begin\n")
			for i := range rapid.IntRange(2, 4).Draw(g.t, "parts") {
				if i > 0 {
					g.source.WriteString("// order:next\n")
				}
				g.text("part\n")
				g.items(rapid.IntRange(0, 3).Draw(g.t, "within"), false)
			}
			g.source.WriteString("// order:end\n")
		default:
			g.text(rapid.SampledFrom([]string{"\n", "  x := 1 // order by date\n", "a site: here\n",
				"\t\n", "// websites\n"}).Draw(g.t, "text"))
		}
	}
}

func (g *generated) text(s string) {
	g.source.WriteString(s)
	g.good.WriteString(s)
	g.bad.WriteString(s)
}

func (g *generated) region() {
	id := fmt.Sprintf("XY-%d", g.sites)
	g.sites++
	variants := []string{"good", "bad"}
	if rapid.Bool().Draw(g.t, "bad first") {
		variants = []string{"bad", "good"}
	}
	for _, v := range variants {
		text := strings.Repeat("\n", rapid.IntRange(0, 1).Draw(g.t, "blank")) + id + " " + v + "\n"
		text = strings.Repeat(text, rapid.IntRange(1, 3).Draw(g.t, "lines"))
		fmt.Fprintf(&g.source, "  // site:%s %s\n%s", id, v, text)
		map[string]*strings.Builder{"good": &g.good, "bad": &g.bad}[v].WriteString(text)
	}
	fmt.Fprintf(&g.source, "  // site:%s end\n", id)
}
