package proof_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/proof"
)

// writers asks that in no schedule a writing good breaks what it breaks in neither order,
// one after the other, when it meets itself, the other good of its family or another
// that changes the same rows or their parents.
func writers(t *testing.T, p *proof.Postgres, app *audit.App) {
	ctx := context.Background()
	ring, err := proof.NewRing(ctx, p)
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(hashOfDay(app.App), 1))
	pairs, meetings := drawnPairs(app, rng), 6
	if !wholeProof() {
		meetings = 2
	}
	pools := map[*audit.Case][]entrant{}
	met := 0
	for _, pair := range pairs {
		for _, k := range pair {
			if pools[k] == nil {
				pools[k] = entrants(ctx, t, p, app, k)
			}
		}
		all := matches(app, rng, pools[pair[0]], pools[pair[1]])
		for _, ws := range all[:min(len(all), meetings)] {
			met++
			meet(ctx, t, ring, ws)
		}
	}
	t.Logf("%d pairs of goods, %d meetings", len(pairs), met)
}

// codeWriters asks the same of code: whatever the schedule, two writing goods leave what
// they leave one after the other, in one order or the other.
func codeWriters(t *testing.T, c *proof.LanguageRunner, app *audit.App) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(hashOfDay(app.App), 1))
	pairs, met, crossings := drawnPairs(app, rng), 0, 60
	if wholeProof() {
		crossings = 150 // of some 600 a pair, others each day
	}
	var codes []string
	for _, pair := range pairs {
		codes = append(codes, pair[0].Code, pair[1].Code)
	}
	require.NoError(t, c.Prepare(ctx, codes))
	for _, pair := range pairs {
		t.Run(strings.ReplaceAll(pair[0].ID()+"+"+pair[1].ID(), "/", "."), func(t *testing.T) {
			for _, first := range [][2]*audit.Case{pair, {pair[1], pair[0]}} {
				all := crossed(app, first)
				rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				all = all[:min(len(all), crossings)]
				told, n, err := proof.MeetCode(ctx, c, all)
				require.NoError(t, err)
				met += n
				for i, ws := range all {
					for _, v := range told[i] {
						t.Errorf("%s with %v, and %s with %v: %s", ws[0].Case.ID(),
							ws[0].Set.Values, ws[1].Case.ID(), ws[1].Set.Values, v.Why)
					}
				}
			}
		})
	}
	t.Logf("%d pairs of goods, %d meetings", len(pairs), met)
}

// crossed pairs every set of the first with every set of the second.
func crossed(app *audit.App, ks [2]*audit.Case) (all [][2]proof.Writer) {
	for _, a := range familyOf(app, ks[0]).Sets {
		for _, b := range familyOf(app, ks[1]).Sets {
			if a.Now == "" && b.Now == "" {
				all = append(all, [2]proof.Writer{{Fam: familyOf(app, ks[0]), Case: ks[0], Set: a},
					{Fam: familyOf(app, ks[1]), Case: ks[1], Set: b}})
			}
		}
	}
	return all
}

func familyOf(app *audit.App, k *audit.Case) *audit.Family {
	return &app.Families[slices.IndexFunc(app.Families,
		func(f audit.Family) bool { return slices.Contains(f.Cases, k) })]
}

// drawnPairs gives two pairs of writing goods, or all of them with ASSAY_PROOF=all.
func drawnPairs(app *audit.App, rng *rand.Rand) [][2]*audit.Case {
	pairs := writingGoods(app)
	if !wholeProof() {
		rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		pairs = pairs[:2]
	}
	return pairs
}

var writes = regexp.MustCompile(`(?i)\b(insert\s+into|update|delete\s+from)\s+[a-z]`)

// writingGoods gives each pair of goods that write, a good with itself among them.
func writingGoods(app *audit.App) (pairs [][2]*audit.Case) {
	var goods []*audit.Case
	for _, fam := range app.Families {
		for _, k := range fam.Cases {
			if k.Label == audit.Good && writes.MatchString(k.Code) {
				goods = append(goods, k)
			}
		}
	}
	for i, a := range goods {
		for _, b := range goods[i:] {
			if q := os.Getenv("ASSAY_QUERY"); strings.Contains(a.ID(), q) ||
				strings.Contains(b.ID(), q) {
				pairs = append(pairs, [2]*audit.Case{a, b})
			}
		}
	}
	return pairs
}

// An entrant is a good with values with which it changes something, and the ids that
// the changed rows hold.
type entrant struct {
	proof.Writer
	ids []string
}

func entrants(ctx context.Context, t *testing.T, p *proof.Postgres, app *audit.App,
	k *audit.Case) (all []entrant) {
	t.Helper()
	fam := familyOf(app, k)
	for _, s := range fam.Sets {
		values := []map[string]any{s.Values}
		if len(s.Race) > 0 && s.Rival == "" {
			second := maps.Clone(s.Values)
			maps.Copy(second, s.Race)
			values = append(values, second)
		}
		for _, s.Values = range values {
			s.Race, s.Rival = nil, ""
			w := proof.Writer{Fam: fam, Case: k, Set: s}
			ids, err := proof.Footprint(ctx, p, w)
			require.NoError(t, err, k.Pos)
			if len(ids) > 0 {
				all = append(all, entrant{w, ids})
			}
		}
	}
	return all
}

// matches gives who meets: those whose rows hold the same ids, most first, and in turn
// with them those of which one is given the other's ids.
func matches(app *audit.App, rng *rand.Rand, as, bs []entrant) (all [][2]proof.Writer) {
	type match struct {
		ws     [2]proof.Writer
		shared int
	}
	var near, forced []match
	for _, a := range as {
		for _, b := range bs {
			if a.Set.Now != b.Set.Now {
				continue
			}
			if n := len(slices.DeleteFunc(slices.Clone(a.ids),
				func(id string) bool { return !slices.Contains(b.ids, id) })); n > 0 {
				near = append(near, match{[2]proof.Writer{a.Writer, b.Writer}, n})
			}
			same := maps.Clone(b.Set.Values)
			for name, v := range a.Set.Values {
				if _, ok := same[name]; ok && strings.Contains(name, "id") &&
					!slices.Contains(app.Session, name) {
					same[name] = v
				}
			}
			if fmt.Sprint(same) != fmt.Sprint(b.Set.Values) {
				b.Set.Values = same
				forced = append(forced, match{[2]proof.Writer{a.Writer, b.Writer}, 0})
			}
		}
	}
	for _, ms := range [][]match{near, forced} {
		rng.Shuffle(len(ms), func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
	}
	slices.SortStableFunc(near,
		func(a, b match) int { return cmp.Compare(min(b.shared, 3), min(a.shared, 3)) })
	for i := range max(len(near), len(forced)) {
		for _, ms := range [][]match{near, forced} {
			if i < len(ms) {
				all = append(all, ms[i].ws)
			}
		}
	}
	return all
}

func meet(ctx context.Context, t *testing.T, ring *proof.Ring, ws [2]proof.Writer) {
	t.Helper()
	serial, raced, err := ring.Meet(ctx, ws)
	require.NoError(t, err, "%s, %s", ws[0].Set.Pos, ws[1].Set.Pos)
	for _, m := range raced {
		for i, w := range ws {
			for _, v := range m.Violated[i] {
				if !slices.ContainsFunc(serial, func(s proof.Met) bool {
					return slices.ContainsFunc(s.Violated[i],
						func(o proof.Violation) bool { return o.Name == v.Name })
				}) {
					t.Errorf("%s with %v, and %s with %v: when %s, %s breaks %v", ws[0].Case.ID(),
						ws[0].Set.Values, ws[1].Case.ID(), ws[1].Set.Values,
						m.Schedule, w.Case.ID(), v)
				}
			}
		}
	}
}
