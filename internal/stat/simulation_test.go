package stat

import (
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"assay/internal/planted"
)

const simulationSeed = 20261122

// raced is set when the tests run under the race detector.
var raced bool

// brief reports whether simulations are to be cut to a glance.
func brief() bool { return testing.Short() || raced }

// full reports whether the full form of the simulations was asked for.
func full() bool { return os.Getenv("ASSAY_SIM") == "full" }

// keyFiles are the entries by file of the seven shipped keys, most first.
var keyNames, keyFiles = readKeys()

// A world is one way in which the results of a suite come about. Each entry is
// found where its strength, less what works against it, exceeds a logistic draw.
type world struct {
	name   string
	recall float64 // mean chance
	alike  float64 // concentration of the Beta distribution of chances; 0: all alike
	trial  float64 // logits, standard deviation: a whole trial
	run    float64 // of one project in a trial
	file   float64 // of one file in a trial
	sets   float64 // of each of ten sets of entries in a trial
	day    float64 // of all trials of a side
	early  float64 // share of runs that end early
	unseen bool    // that nobody sees
	only   int     // 1 + index of the only project; 0: all
}

// A loss is what the change takes: a share of the finds of all projects, or of one.
type loss struct {
	points float64
	only   int // 1 + index of the project; 0: all
}

// A suiteRun are the trials of one simulated suite, and the ends of its runs.
type suiteRun struct {
	projects []project
	early    [][2][]int // by project, side and trial: runs that ended early and were tried again
}

// logistic holds quantiles, so that a draw is a look-up.
var logistic = func() (t [1 << 16]float32) {
	for i := range t {
		u := (float64(i) + 0.5) / (1 << 16)
		t[i] = float32(math.Log(u / (1 - u)))
	}
	return t
}()

// A source hands out logistic draws, four to a random number.
type source struct {
	*rand.Rand
	bits uint64
	left int
}

func newSource(seed uint64, stream uint64) *source {
	return &source{Rand: rand.New(rand.NewPCG(seed, stream))}
}

func (s *source) logistic() float32 {
	if s.left == 0 {
		s.bits, s.left = s.Uint64(), 4
	}
	v := logistic[s.bits&0xffff]
	s.bits >>= 16
	s.left--
	return v
}

// normal draws with a standard deviation of sd; nothing where it is 0.
func (s *source) normal(sd float64) float64 {
	if sd == 0 {
		return 0
	}
	return sd * s.NormFloat64()
}

// strengths gives logits whose chances have the world's mean and spread.
func (w *world) strengths(s *source, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		p := w.recall
		if w.alike > 0 {
			a, b := s.gamma(w.recall*w.alike), s.gamma((1-w.recall)*w.alike)
			p = min(max(a/(a+b), 1e-6), 1-1e-6)
			if math.IsNaN(p) {
				p = w.recall
			}
		}
		out[i] = float32(math.Log(p / (1 - p)))
	}
	return out
}

// gamma draws from a Gamma distribution (G. Marsaglia and W. W. Tsang, ACM TOMS 26
// (2000) 363-372).
func (s *source) gamma(shape float64) float64 {
	if shape < 1 {
		return s.gamma(shape+1) * math.Pow(s.Float64(), 1/shape)
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-s.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}

// suite draws trials of both sides.
func (w *world) suite(s *source, trials Trials, l loss) suiteRun {
	var out suiteRun
	var strength [][]float32
	for k, files := range keyFiles {
		if w.only > 0 && k != w.only-1 {
			continue
		}
		n := sum(files)
		q := project{name: string(rune('a' + k)), items: n, trials: trials}
		flat := make([]int, (len(files)+1)*(trials.Baseline+trials.Now))
		cut := func(m int) []int {
			c := flat[:m:m]
			flat = flat[m:]
			return c
		}
		q.runs = Stratum{cut(trials.Baseline), cut(trials.Now)}
		for range files {
			q.files = append(q.files, Stratum{cut(trials.Baseline), cut(trials.Now)})
		}
		out.projects = append(out.projects, q)
		out.early = append(out.early, [2][]int{make([]int, trials.Baseline), make([]int, trials.Now)})
		strength = append(strength, w.strengths(s, n))
	}
	sets := make([]float64, 10)
	for side, n := range []int{trials.Baseline, trials.Now} {
		day := s.normal(w.day)
		for t := range n {
			trial := s.normal(w.trial) + day
			for i := range sets {
				sets[i] = s.normal(w.sets)
			}
			for k := range out.projects {
				q := &out.projects[k]
				reach := 1.0 // share of the files that the run came to
				for w.early > 0 && s.Float64() < w.early {
					if w.unseen {
						reach = s.Float64()
						break
					}
					out.early[k][side][t]++
				}
				lose := 0.0
				if side == 1 && (l.only == 0 || q.name == string(rune('a'+l.only-1))) {
					lose = l.points / 100 / w.recall
				}
				run := trial + s.normal(w.run)
				e := 0
				for f, m := range w.filesOf(q) {
					shift := run + s.normal(w.file)
					missed := reach < 1 && s.Float64() >= reach
					got := 0
					for range m {
						x := strength[k][e]
						if w.sets > 0 {
							x += float32(sets[e%10])
						}
						if s.logistic() < x+float32(shift) && !missed && (lose == 0 || s.Float64() >= lose) {
							got += 2
						}
						e++
					}
					if side == 0 {
						q.files[f].Baseline[t] = got
						q.runs.Baseline[t] += got
					} else {
						q.files[f].Now[t] = got
						q.runs.Now[t] += got
					}
				}
			}
		}
	}
	return out
}

func (w *world) filesOf(q *project) []int { return keyFiles[q.name[0]-'a'] }

// cut keeps the first trials of a suite.
func (r *suiteRun) cut(t Trials) ([]project, []Ends) {
	out, ends := slices.Clone(r.projects), make([]Ends, len(r.projects))
	for i := range out {
		out[i].trials = t
		b, n := sum(r.early[i][0][:t.Baseline]), sum(r.early[i][1][:t.Now])
		ends[i] = Ends{out[i].name, t.Baseline + b, t.Now + n, b, n}
	}
	return out, ends
}

// A benchWorld is one way in which answers come about: families of six cases, two
// good and four bad, or sites judged in six draws.
type benchWorld struct {
	name       string
	families   int
	errors     float64 // mean share
	alike      float64 // concentration of the Beta distribution of chances; 0: all alike
	together   float64 // logits, standard deviation: a family in a trial
	day, trial float64
	modules    bool    // sites of the shipped modules, with their labels, in place of families
	module     float64 // logits: a module in a trial
}

const familySize = 6

// likeModules gives sites as the shipped modules have them, in number and in how many are
// bad: drawing those takes longer than a glance at the gate.
func likeModules() (sites []Item) {
	src := newSource(simulationSeed, 300)
	for draw := range 2 {
		for m := range 15 {
			bad := src.IntN(11)
			for s := range 24 {
				sites = append(sites, Item{ID: fmt.Sprint(draw), Family: fmt.Sprintf("%02d/%02d", m, s), Group: fmt.Sprint(m, "@", draw), Bad: (s+draw*7)%24 < bad})
			}
		}
	}
	slices.SortStableFunc(sites, func(a, b Item) int { return strings.Compare(a.Family, b.Family) })
	return sites
}

// moduleSites are the sites of the modules that the module tier asks by default: a
// family is a site, a case its form in one draw.
var moduleSites = sync.OnceValue(func() (sites []Item) {
	if brief() {
		return likeModules()
	}
	house := os.DirFS("../..")
	projects, err := fs.Glob(house, "fixtures/planted/*/project.md")
	if err != nil || len(projects) == 0 {
		panic(fmt.Sprint("no planted projects: ", err))
	}
	for _, file := range projects {
		p, err := planted.Read(house, path.Dir(file))
		if err != nil {
			panic(err)
		}
		for seed := range uint64(2) {
			ms, err := p.DrawModules(planted.DefaultSeed + seed)
			if err != nil {
				panic(err)
			}
			for _, m := range ms {
				for _, site := range m.Sites {
					sites = append(sites, Item{ID: m.App(), Family: m.Project + "/" + site.ID, Group: m.ID(), Bad: site.Bad})
				}
			}
		}
	}
	slices.SortStableFunc(sites, func(a, b Item) int { return strings.Compare(a.Family, b.Family) })
	return sites
})

// cases gives what is asked, families together.
func (w *benchWorld) cases() (out []Item) {
	if w.modules {
		return slices.Clone(moduleSites())
	}
	for f := range w.families {
		for c := range familySize {
			out = append(out, Item{ID: fmt.Sprint(c), Family: fmt.Sprint(1000 + f), Bad: c >= familySize/3})
		}
	}
	return out
}

// draw makes trials of both sides; errors rise by a factor, and by points.
func (w *benchWorld) draw(s *source, trials Trials, times, points float64) []Item {
	out := w.cases()
	var strength []float64
	modules := map[string]float64{} // how it goes in the trial
	for i := range out {
		out[i].Baseline, out[i].Now = make([]float64, trials.Baseline), make([]float64, trials.Now)
		modules[out[i].Group] = 0
		p := 1 - w.errors
		if w.alike > 0 {
			a, b := s.gamma(p*w.alike), s.gamma((1-p)*w.alike)
			if p = min(max(a/(a+b), 1e-6), 1-1e-6); math.IsNaN(p) {
				p = 1 - 1e-6
			}
		}
		strength = append(strength, math.Log(p/(1-p)))
	}
	asked := slices.Sorted(maps.Keys(modules))
	for side, nt := range []int{trials.Baseline, trials.Now} {
		day := s.normal(w.day)
		lose := 0.0
		if side == 1 {
			lose = (times-1)*w.errors/(1-w.errors) + points/100/(1-w.errors)
		}
		for t := range nt {
			trial := day + s.normal(w.trial)
			for _, m := range asked {
				modules[m] = s.normal(w.module)
			}
			family, together := "", 0.0
			for i := range out {
				if out[i].Family != family {
					family, together = out[i].Family, s.normal(w.together)
				}
				x, v := strength[i]+trial+together+modules[out[i].Group], 0.0
				if float64(s.logistic()) < x && s.Float64() >= lose {
					v = 1
				}
				if side == 0 {
					out[i].Baseline[t] = v
				} else {
					out[i].Now[t] = v
				}
			}
		}
	}
	return out
}
