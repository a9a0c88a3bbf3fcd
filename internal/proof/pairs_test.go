package proof_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/proof"
)

func writers(ctx context.Context, t *testing.T, p *proof.Postgres, fam *audit.Family) (ws []proof.Writer, feet [][]string) {
	for i := range fam.Cases {
		k := fam.Cases[i]
		if k.Label != audit.Good {
			continue
		}
		add := func(s audit.ParamSet, vs map[string]any) {
			s.Values, s.Race, s.Rival = vs, nil, ""
			w := proof.Writer{Fam: fam, Case: k, Set: s}
			f, err := proof.Footprint(ctx, p, w)
			require.NoError(t, err)
			if len(f) > 0 {
				ws, feet = append(ws, w), append(feet, f)
			}
		}
		for _, s := range fam.Sets {
			add(s, s.Values)
			if s.Race != nil && s.Rival == "" {
				vs := maps.Clone(s.Values)
				maps.Copy(vs, s.Race)
				add(s, vs)
			}
		}
	}
	return ws, feet
}

func TestPairs(t *testing.T) {
	if os.Getenv("ASSAY_PROOF") != "all" {
		t.Skip("")
	}
	ctx := context.Background()
	most, _ := strconv.Atoi(os.Getenv("ASSAY_MOST"))
	for _, app := range corpora(t) {
		if app.Schema == "" {
			continue
		}
		t.Run(app.App, func(t *testing.T) {
			p := open(t, app).(*proof.Postgres)
			var all []proof.Writer
			var feet [][]string
			for i := range app.Families {
				if strings.Contains(app.Families[i].Query, "-list") {
					continue
				}
				w, f := writers(ctx, t, p, &app.Families[i])
				all, feet = append(all, w...), append(feet, f...)
			}
			type pair struct {
				ws     [2]proof.Writer
				shared int
			}
			pairs := map[string][]pair{}
			for i, a := range all {
				for j, b := range all {
					key := a.Case.ID() + " " + b.Case.ID()
					if a.Case.ID() > b.Case.ID() {
						continue
					}
					n := 0
					for _, id := range feet[i] {
						if slices.Contains(feet[j], id) {
							n++
						}
					}
					if n > 0 && (a.Case != b.Case || i <= j) && a.Set.Now == b.Set.Now {
						pairs[key] = append(pairs[key], pair{[2]proof.Writer{a, b}, n})
					}
					if a.Fam != b.Fam {
						for _, x := range [2][2]proof.Writer{{a, b}, {b, a}} {
							vs := maps.Clone(x[1].Set.Values)
							same := true
							for n, v := range x[0].Set.Values {
								if _, ok := vs[n]; ok && !slices.Contains(app.Session, n) && strings.Contains(n, "id") {
									same = same && fmt.Sprint(vs[n]) == fmt.Sprint(v)
									vs[n] = v
								}
							}
							if !same {
								y := x
								y[1].Set.Values = vs
								pairs[key] = append(pairs[key], pair{y, 1})
							}
						}
					}
				}
			}
			ran, until := 0, time.Now().Add(4*time.Minute)
			most = 1
			keys := slices.Sorted(maps.Keys(pairs))
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			for _, key := range keys {
				if time.Now().After(until) {
					t.Logf("stopped: %d of %d", ran, len(keys))
					break
				}
				if !strings.Contains(key, os.Getenv("ASSAY_QUERY")) {
					continue
				}
				rng := rand.New(rand.NewPCG(1, uint64(len(key))))
				ps := pairs[key]
				rng.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
				slices.SortStableFunc(ps, func(a, b pair) int { return min(b.shared, 3) - min(a.shared, 3) })
				// half from the most shared, half from all
				var chosen []pair
				for i := 0; i < len(ps) && len(chosen) < most; i++ {
					if i < most*2/3 {
						chosen = append(chosen, ps[i])
					} else {
						chosen = append(chosen, ps[most*2/3+rng.IntN(len(ps)-most*2/3)])
					}
				}
				for _, pr := range chosen {
					ran++
					serial, raced, err := proof.Meet(ctx, p, pr.ws)
					require.NoError(t, err, key)
					lines := [2]int{pr.ws[0].Set.Pos.Line, pr.ws[1].Set.Pos.Line}
					where := fmt.Sprintf("%s lines %v\n   %v\n   %v", key, lines, pr.ws[0].Set.Values, pr.ws[1].Set.Values)
					said := map[string]bool{}
					for _, m := range raced {
						for i := range 2 {
							for _, v := range m.Violated[i] {
								known := slices.ContainsFunc(serial, func(s proof.Met) bool {
									return slices.ContainsFunc(s.Violated[i], func(w proof.Violation) bool { return w.Name == v.Name })
								})
								if !known {
									t.Errorf("VIOL %s: %s: %s breaks %v", where, m.Schedule, pr.ws[i].Case.ID(), v)
								}
							}
							if e := m.Err[i]; e != "" && serial[0].Err[i] != e && serial[1].Err[i] != e && !said[e] {
								said[e] = true
								t.Logf("ERR %s: %s: %s: %s", where, m.Schedule, pr.ws[i].Case.ID(), e)
							}
						}
						if m.Err[0] == "" && m.Err[1] == "" && !slices.Equal(m.State, serial[0].State) && !slices.Equal(m.State, serial[1].State) && !said["s"] {
							said["s"] = true
							t.Logf("NONSERIAL %s: %s:\n serial1 %s\n serial2 %s\n raced %s", where, m.Schedule,
								strings.Join(serial[0].State, "\n   "), strings.Join(serial[1].State, "\n   "), strings.Join(m.State, "\n   "))
						}
					}
				}
			}
			t.Logf("%d pairs of %d goods-pairs", ran, len(pairs))
		})
	}
}
