package planted_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/internal/planted"
)

// TestLeaders: a marker may stand in any of the comments that languages have, and
// leaves nothing behind; what only looks like one is kept.
func TestLeaders(t *testing.T) {
	for _, c := range [][2]string{{"//", ""}, {"#", ""}, {"--", ""}, {";", ""}, {"<!--", " -->"}, {"/*", " */"}, {"{#", " #}"}, {"{#-", " -#}"},
		{"{{/*", " */}}"}, {"{{- /*", " */ -}}"}, {"{{--", " --}}"}, {"{{!--", " --}}"}, {"{/*", " */}"}, {"<%#", " %>"}, {"<%--", " --%>"}} {
		line := func(s string) string { return "\t" + c[0] + " " + s + c[1] + "\r\n" }
		src := "a\r\n" + line("site:XY-0 bad") + "b" + line("order by: x") + line("site:XY-0 good") + "g\n" + line("site:XY-0 end") +
			line("order:begin") + "1\n" + line("order:next") + "2\n" + line("order:end") + line("order: by date") + "end"
		p, err := planted.Read(fstest.MapFS{"big/project.md": {Data: bigDoc(1)}, "big/source/a.txt": {Data: []byte(src)}}, "big")
		require.NoError(t, err, c[0])
		good, err := p.With()
		require.NoError(t, err)
		require.Equal(t, "a\r\ng\n1\n2\n"+line("order: by date")+"end", contents(good.Render())["a.txt"])
		bad, err := p.With("XY-0")
		require.NoError(t, err)
		require.Equal(t, "a\r\nb"+line("order by: x")+"1\n2\n"+line("order: by date")+"end", contents(bad.Render())["a.txt"])
	}
}

// TestMarginsStay: blank lines at the ends of parts belong to the position, so
// that no order can be told from another by its blank lines.
func TestMarginsStay(t *testing.T) {
	src := "# site:XY-0 good\ng\n# site:XY-0 bad\nb\n# site:XY-0 end\n# order:begin\n\none\n\n\n# order:next\ntwo\n\nmore\n\n\n# order:next\nthree\n# order:end\n"
	p, err := planted.Read(fstest.MapFS{"big/project.md": {Data: bigDoc(1)}, "big/source/a.txt": {Data: []byte(src)}}, "big")
	require.NoError(t, err)
	seen := map[string]bool{}
	for seed := range uint64(40) {
		d, err := p.WithSeed(seed)
		require.NoError(t, err)
		seen[contents(d.Render())["a.txt"]] = true
	}
	require.Len(t, seen, 6)
	require.Contains(t, seen, "g\n\nthree\n\n\none\n\n\ntwo\n\nmore\n")
}

// TestAdvice: what is missing or gives the purpose away is told with its place.
func TestAdvice(t *testing.T) {
	fsys := desk(t)
	edit(t, fsys, "source/README.md", "# Desk", "# Desk\n\nTODO: an exploitable note\n")
	edit(t, fsys, "exploits/run.py", `"CASH-2"`, `"CASH" + "-2"`)
	advice := read(t, fsys).Advice()
	require.Contains(t, advice, `desk/source/README.md:3: "TODO" gives the purpose away`)
	require.Contains(t, advice, "desk/project.md:42: no file of exploits/ names CASH-2: expected an exploit")
	require.Contains(t, advice, "desk/project.md: 4 sites: expected at least 60")
	require.Len(t, advice, 9)
}
