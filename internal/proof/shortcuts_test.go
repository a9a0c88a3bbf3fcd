package proof

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"assay/audit"
)

// A Shortcut is a way of telling bads from goods that does not understand the
// code. Score gives a number for each case of a family; which side of which
// number is bad is learnt.
type Shortcut struct {
	Name  string
	Score func(fam *audit.Family) []float64
}

// A Leak is what the best shortcut reaches, and how often labels permuted within
// families reach as much.
type Leak struct {
	Best     string  // the shortcut that reaches most
	Balanced float64 // its balanced accuracy, 0 to 1
	// share of permutations (this one counted in) whose best reaches as much
	P    float64
	Each map[string]float64 // balanced accuracy by shortcut
}

// Leaks holds every shortcut against the corpus: it learns its threshold on all
// other applications (with one application only, on the other half of its
// families) and is scored on the one left out. Labels are then permuted within
// families n times with a fixed seed, and the maximum over all shortcuts is
// compared: testing many shortcuts costs what it should.
func Leaks(apps []*audit.App, n int) Leak {
	d := newLeakData(apps)
	if len(d.labels) == 0 {
		return Leak{P: 1}
	}
	leak := Leak{Each: map[string]float64{}}
	real := d.each(d.labels)
	for s, v := range real {
		leak.Each[d.shortcuts[s].Name] = v
		if v > leak.Balanced {
			leak.Best, leak.Balanced = d.shortcuts[s].Name, v
		}
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	reached, workers := 1, runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			count := 0
			for i := w; i < n; i += workers {
				// A seed for each permutation: the figure does not depend on
				// how many processors share the work.
				rng := rand.New(rand.NewPCG(20250616, uint64(i)))
				if slices.Max(d.each(d.permute(rng))) >= leak.Balanced-1e-12 {
					count++
				}
			}
			mu.Lock()
			reached += count
			mu.Unlock()
		}()
	}
	wg.Wait()
	leak.P = float64(reached) / float64(n+1)
	return leak
}

// leakData is the corpus as figures.
type leakData struct {
	shortcuts []Shortcut
	bins      [][]int // by shortcut and case: the rank of the score among its distinct values
	width     []int   // by shortcut: how many distinct values
	labels    []bool  // by case: bad
	fold      []int   // by case: the part that is left out together
	folds     int
	families  [][2]int // by family: its cases, from and to
}

func newLeakData(apps []*audit.App) *leakData {
	d := &leakData{shortcuts: Shortcuts()}
	scores := make([][]float64, len(d.shortcuts))
	for a, app := range apps {
		for f := range app.Families {
			fam := &app.Families[f]
			from := len(d.labels)
			for _, c := range fam.Cases {
				d.labels = append(d.labels, c.Label == audit.Bad)
				if len(apps) > 1 {
					d.fold = append(d.fold, a)
				} else {
					d.fold = append(d.fold, f%2)
				}
			}
			d.families = append(d.families, [2]int{from, len(d.labels)})
			for s, sc := range d.shortcuts {
				scores[s] = append(scores[s], sc.Score(fam)...)
			}
		}
	}
	d.folds = max(len(apps), 2)
	for _, v := range scores {
		distinct := slices.Clone(v)
		slices.Sort(distinct)
		distinct = slices.Compact(distinct)
		ranks := make([]int, len(v))
		for i, x := range v {
			ranks[i], _ = slices.BinarySearch(distinct, x)
		}
		d.bins, d.width = append(d.bins, ranks), append(d.width, len(distinct))
	}
	return d
}

func (d *leakData) permute(rng *rand.Rand) []bool {
	labels := slices.Clone(d.labels)
	for _, f := range d.families {
		part := labels[f[0]:f[1]]
		rng.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
	}
	return labels
}

// each gives every shortcut's balanced accuracy over the parts left out.
func (d *leakData) each(labels []bool) []float64 {
	out := make([]float64, len(d.shortcuts))
	for s := range d.shortcuts {
		out[s] = d.balanced(s, labels)
	}
	return out
}

func (d *leakData) balanced(s int, labels []bool) float64 {
	w := d.width[s]
	counts := make([]int, d.folds*w*2) // by fold, bin and label
	for i, bin := range d.bins[s] {
		k := (d.fold[i]*w + bin) * 2
		if labels[i] {
			k++
		}
		counts[k]++
	}
	all := make([]int, w*2)
	for k, n := range counts {
		all[k%(w*2)] += n
	}
	var right, total [2]int
	train := make([]int, w*2)
	for f := range d.folds {
		for k := range train {
			train[k] = all[k] - counts[f*w*2+k]
		}
		cut, badAbove := learn(train)
		for bin := range w {
			for label := range 2 {
				n := counts[(f*w+bin)*2+label]
				total[label] += n
				if (bin >= cut) == badAbove == (label == 1) {
					right[label] += n
				}
			}
		}
	}
	if total[0] == 0 || total[1] == 0 {
		return math.NaN()
	}
	return (float64(right[0])/float64(total[0]) + float64(right[1])/float64(total[1])) / 2
}

// learn finds the cut with the best balanced accuracy: bins from cut on are bad
// when badAbove, else good.
func learn(train []int) (cut int, badAbove bool) {
	var total [2]float64
	for k, n := range train {
		total[k%2] += float64(n)
	}
	if total[0] == 0 || total[1] == 0 {
		return 0, true
	}
	best, goodBelow, badBelow := -1.0, 0.0, 0.0
	for bin := 0; bin <= len(train)/2; bin++ {
		acc := (goodBelow/total[0] + 1 - badBelow/total[1]) / 2
		if acc > best {
			best, cut, badAbove = acc, bin, true
		}
		if 1-acc > best {
			best, cut, badAbove = 1-acc, bin, false
		}
		if 2*bin < len(train) {
			goodBelow += float64(train[2*bin])
			badBelow += float64(train[2*bin+1])
		}
	}
	return cut, badAbove
}
