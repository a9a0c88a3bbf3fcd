package planted_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/internal/planted"
)

// leaky gives a project of 40 sites whose variants are made by a function.
func leaky(t *testing.T, name string, variant func(i int, bad bool) string) *planted.Template {
	p := big(t, 40)
	var source strings.Builder
	for i, s := range p.Sites {
		order := []bool{i%2 == 0, i%2 != 0}
		for _, bad := range order {
			word := map[bool]string{true: "bad", false: "good"}[bad]
			fmt.Fprintf(&source, "# site:%s %s\n%s\n", s.ID, word, variant(i, bad))
		}
		fmt.Fprintf(&source, "# site:%s end\n", s.ID)
	}
	return replaceSource(t, name, source.String())
}

func replaceSource(t *testing.T, name, source string) *planted.Template {
	p, err := planted.Read(fstest.MapFS{name + "/project.md": {Data: bigDoc(40)},
		name + "/source/a.py": {Data: []byte(source)}}, name)
	require.NoError(t, err)
	return p
}

// TestLeaks: what tells bad from good is found and named; where nothing does,
// nothing is found.
func TestLeaks(t *testing.T) {
	var rng *rand.Rand
	noise := func(int, bool) string {
		words := []string{"row", "find", "user", "sum", "(", ")", "if", "return", "x", "=", "1",
			"limit", "owner"}
		var out []string
		for range 8 + rng.IntN(8) {
			out = append(out, words[rng.IntN(len(words))])
		}
		return strings.Join(out, " ")
	}
	for name, c := range map[string]struct {
		variant func(int, bool) string
		want    string
	}{
		"longer": {func(i int, bad bool) string {
			return noise(i, bad) + strings.Repeat(" y", map[bool]int{true: 3, false: 12}[bad])
		}, "within sites"},
		"word": {func(i int, bad bool) string {
			if !bad && i%3 > 0 {
				return noise(i, bad) + " check"
			}
			return noise(i, bad) + " other"
		}, "check"},
		"comment": {func(i int, bad bool) string {
			if bad && i%3 > 0 {
				return "# as agreed\n" + noise(i, bad)
			}
			return noise(i, bad)
		}, "comments"},
		"many words": {func(i int, bad bool) string {
			return noise(i, bad) + " " + string(rune('a'+i%6)) + map[bool]string{true: "low",
				false: "high"}[bad]
		}, "trained on words"},
	} {
		rng = rand.New(rand.NewPCG(1, 2))
		leak := planted.Leaks(999, leaky(t, "leaky", c.variant))
		require.Less(t, leak.P, 0.01, name)
		require.Equal(t, 40, leak.Sites)
		var names []string
		for _, s := range leak.Each[:6] {
			names = append(names, s.Name)
		}
		require.Contains(t, strings.Join(names, "; "), c.want, name)
	}
	low := 0
	for range 10 {
		if planted.Leaks(199, leaky(t, "even", noise)).P < 0.05 {
			low++
		}
	}
	require.LessOrEqual(t, low, 3)
	p := read(t, desk(t))
	require.Equal(t, planted.Leaks(99, p), planted.Leaks(99, p))
	require.Equal(t, 44, planted.Leaks(9, p, leaky(t, "even", noise)).Sites)
	require.Equal(t, 1.0, planted.Leaks(9).P)
	var b strings.Builder
	planted.Leaks(99, p).Tell(&b)
	require.Contains(t, b.String(), "4 sites")
}
