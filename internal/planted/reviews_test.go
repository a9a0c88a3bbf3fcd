package planted_test

import (
	"math"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/planted"
)

const reviewsHead = "# Reviews\n\n| CWE | File | Function | Lines | Ruling | By | Date | Why |\n|---|---|---|---|---|---|---|---|\n"

// TestReviews: rulings are read as source/ names things, and drawn like the key.
func TestReviews(t *testing.T) {
	fsys := desk(t)
	fsys["desk/reviews.md"] = &fstest.MapFile{Data: []byte(reviewsHead +
		"| CWE-639 | desk/rules.py | amount_of | | false | a reader | 2026-11-22 | the query names the owner |\n" +
		"| CWE-200 | desk/rules.py | show | | same NOTE-1 | a reader | 2026-11-22 | said otherwise |\n")}
	p := read(t, fsys)
	bad := p.With("NOTE-1")
	rs := bad.Render().Project().Reviews
	require.Len(t, rs, 2)
	require.Equal(t, "NOTE-1", rs[1].Entry)
	good := p.With()
	require.Len(t, good.Render().Project().Reviews, 1,
		"the same as a site that is good is the same as nothing")

	renamed := map[string]bool{}
	for seed := range uint64(20) {
		d := p.Draw(math.MaxUint64 - seed).Render().Project()
		for _, v := range d.Reviews {
			require.Contains(t, d.Tree, v.File)
			renamed[v.File+" "+v.Functions[0]] = true
		}
	}
	require.Greater(t, len(renamed), 1, "names and files of the table are drawn")

	one := p.WithSeed(1, "NOTE-1")
	both, err := planted.Combine("all", "All", one)
	require.NoError(t, err)
	require.Regexp(t, `^desk/`, both.Project().Reviews[0].File)
	require.Equal(t, audit.RuledSame, both.Project().Reviews[1].Ruling)
}

// TestReviewsThatSayTooMuch: lines move, a flaw is mended, and a name must be there.
func TestReviewsThatSayTooMuch(t *testing.T) {
	for row, want := range map[string]string{
		"| CWE-639 | desk/rules.py | show | 3 | false | a | 2026-11-22 | w |":   "desk/reviews.md:5: the row names lines",
		"| CWE-639 | desk/rules.py | show | | true | a | 2026-11-22 | w |":      "desk/reviews.md:5: a real flaw outside of the sites",
		"| CWE-639 | desk/rules.py | shown | | false | a | 2026-11-22 | w |":    "desk/reviews.md:5: shown is no word of desk/rules.py",
		"| CWE-639 | desk/rule.py | show | | false | a | 2026-11-22 | w |":      "desk/reviews.md:5: ",
		"| CWE-639 | desk/rules.py | show | | same NO-1 | a | 2026-11-22 | w |": `"NO-1" is not a vulnerability`,
	} {
		fsys := desk(t)
		fsys["desk/reviews.md"] = &fstest.MapFile{Data: []byte(reviewsHead + row + "\n")}
		_, err := planted.Read(fsys, "desk")
		require.ErrorContains(t, err, want, row)
	}
}
