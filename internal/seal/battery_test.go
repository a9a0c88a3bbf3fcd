package seal

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// A Mark is a name that is left in a sealed export, with how well it tells where
// entries of the key lie.
type Mark struct {
	Name   string
	Units  int     // files of one kind, or blocks of a file, that hold it
	Marked int     // of these, how many hold an entry
	Chance float64 // how many of these would by chance
	P      float64 // how often chance alone gives as few or as many, by this name alone
	Where  string  // "paths", "files" or "blocks"
}

// Marks is what the names of a sealed export tell of the key.
type Marks struct {
	Names int // names that were tried
	// share of permutations (this one counted in) in which some name is as unlikely; 1 without
	// names
	P    float64
	Each []Mark // the strongest first
}

// LeastP is the p-value of [Marks] below which an export gives its key away.
const LeastP = 0.01

const (
	permutations = 2000 // of the labels: a p of 0.01 is known to 0.002
	blockLines   = 20   // of a file that are looked at together: about a function
	leastUnits   = 4    // a name that stands in fewer places tells nothing of others
)

// Marks asks whether a name that the project itself declares, or a part of a path,
// tells where entries of the key lie: which files among those of one kind and
// size, and which blocks of lines within a file. Names that ordinary code uses
// (common says so) and those that the table of renames gave are no marks: they say
// nothing that a reader could know before. Labels are permuted within kinds, and
// within files, with a fixed seed, and of all names the least likely is compared, so
// that trying many costs what it should. How likely a name's number is, is exact: in
// standard deviations rare names, whose numbers are skewed, would rule the maximum,
// and which of them to leave out would be anybody's choice (Westfall and Young,
// Resampling-Based Multiple Testing, 1993, section 2.3: minP, not maxT).
func (s *Export) Marks(p *audit.Project, common func(name string) bool) (*Marks, error) {
	b := &battery{names: map[string]*feature{}}
	files, err := s.markFiles(p)
	if err != nil {
		return nil, err
	}
	v := newVocabulary(p.Renames, files, common)
	b.files(files, v)
	b.blocks(files, v)
	return b.marks(), nil
}

type markFile struct {
	path, text string
	lines      []string
	kind       string // language, role and size
	nest       string // the same, among the files of one folder where there are enough
	entry      bool
	ranges     []audit.Range
}

// markFiles reads the files of the export that hold text, a kind at a time.
func (s *Export) markFiles(p *audit.Project) ([]*markFile, error) {
	entries := map[string][]audit.Range{}
	for _, k := range p.Vulnerabilities {
		entries[k.File] = append(entries[k.File], k.Lines)
	}
	var files []*markFile
	for _, exported := range slices.Sorted(maps.Keys(s.paths)) {
		content, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(exported)))
		if err != nil {
			return nil, err
		}
		if !isText(content) || len(bytes.TrimSpace(content)) == 0 || len(content) > mostBytes ||
			manifests[path.Base(exported)] {
			continue
		}
		ranges, entry := entries[s.paths[exported]]
		f := &markFile{path: exported, text: string(content),
			lines: strings.Split(string(content), "\n"), entry: entry, ranges: ranges}
		f.kind = kindOf(f.path, f.text)
		files = append(files, f)
	}
	return sorted(files), nil
}

// roles tell files of one language apart by what the framework makes of them.
var roles = []struct {
	name string
	re   *regexp.Regexp
}{
	{"generated", regexp.MustCompile(`(?i)code generated .*do not edit`)},
	{"test", regexp.MustCompile(`@Test\b|\bdescribe\(|\bfunc Test[A-Z]|\bunittest\b|PHPUnit`)},
	{"handler", regexp.MustCompile(
		`@(Rest)?Controller\b|\b(Request|Response)?,? ?NextFunction\b|http\.ResponseWriter|\bHttpServletRequest\b|\bdef \w+\(request|\$_(GET|POST|REQUEST|COOKIE|SERVER|FILES)\b|extends \w+Controller\b|gin\.Context|echo\.Context`)},
	{"statements",
		regexp.MustCompile(
			`(?i)["'\x60]\s*(select|insert into|update|delete from|where|order by) |prepareStatement|createStatement|SqlNode`)},
	{"data", regexp.MustCompile(
		`@Entity\b|@Repository\b|@Mapper\b|extends Model\b|models\.Model|JpaRepository`)},
	{"component",
		regexp.MustCompile(
			`@Component\b|@Injectable\b|@Configuration\b|@Service\b|defineComponent`)},
}

func kindOf(file, text string) string {
	kind := strings.ToLower(path.Ext(file))
	if kind == "" {
		kind = "none"
	}
	for _, r := range roles {
		if r.re.MatchString(text) {
			return kind + " " + r.name
		}
	}
	return kind
}

// leastSiblings: from so many files of one kind on, those of a folder are compared
// among each other alone.
const leastSiblings = 6

// sorted gives the files their kind and nest. Each is cut in up to four by size: a
// longer file holds more names and more entries, which is no mark. What code is
// about stands in its folder's names and in those of all its files, and is no mark
// either.
func sorted(files []*markFile) []*markFile {
	siblings := map[string]int{}
	for _, f := range files {
		siblings[f.kind+" "+path.Dir(f.path)]++
	}
	for _, f := range files {
		f.nest = f.kind
		if nest := f.kind + " " + path.Dir(f.path); siblings[nest] >= leastSiblings {
			f.nest = nest
		}
	}
	bySize(files, func(f *markFile) *string { return &f.kind })
	bySize(files, func(f *markFile) *string { return &f.nest })
	return files
}

func bySize(files []*markFile, of func(*markFile) *string) {
	kinds := map[string][]*markFile{}
	for _, f := range files {
		kinds[*of(f)] = append(kinds[*of(f)], f)
	}
	for _, alike := range kinds {
		slices.SortStableFunc(alike,
			func(a, b *markFile) int { return cmp.Compare(a.linesWithText(), b.linesWithText()) })
		parts := min(4, max(1, len(alike)/8))
		for i, f := range alike {
			*of(f) += fmt.Sprint(" ", i*parts/len(alike))
		}
	}
}

func (f *markFile) linesWithText() int {
	n := 0
	for _, l := range f.lines {
		if strings.TrimSpace(l) != "" {
			n++
		}
	}
	return n
}

// A battery is all names with the units (files, blocks of lines) that hold them.
type battery struct {
	strata [][]int // the units of each stratum
	labels []bool  // of every unit
	at     []int   // the stratum of every unit
	names  map[string]*feature
}

type feature struct {
	mark   Mark
	units  []int
	likely []float64 // by how many of the units hold an entry: Mark.P
}

func (b *battery) unit(stratum int, label bool) int {
	u := len(b.labels)
	b.labels, b.at = append(b.labels, label), append(b.at, stratum)
	b.strata[stratum] = append(b.strata[stratum], u)
	return u
}

func (b *battery) stands(name, where string, unit int) {
	key := where + " " + name
	if b.names[key] == nil {
		b.names[key] = &feature{mark: Mark{Name: name, Where: where}}
	}
	b.names[key].units = append(b.names[key].units, unit)
}

// files takes the files of each kind as units: of a path, among all of its kind, and
// of what a file holds, among those of its folder too.
func (b *battery) files(files []*markFile, v *vocabulary) {
	b.each("paths", files, func(f *markFile) (string, []string) { return f.kind, []string{f.path} },
		v)
	b.each("files", files, func(f *markFile) (string, []string) { return f.nest, f.lines }, v)
}

func (b *battery) each(where string, files []*markFile, of func(*markFile) (stratum string,
	lines []string), v *vocabulary) {
	strata := map[string]int{}
	for _, f := range files {
		stratum, lines := of(f)
		if _, known := strata[stratum]; !known {
			strata[stratum] = len(b.strata)
			b.strata = append(b.strata, nil)
		}
		u := b.unit(strata[stratum], f.entry)
		for n := range v.names(lines) {
			b.stands(n, where, u)
		}
	}
}

// blocks takes the blocks of each file with an entry as units.
func (b *battery) blocks(files []*markFile, v *vocabulary) {
	for _, f := range files {
		if !f.entry {
			continue
		}
		b.strata = append(b.strata, nil)
		for start := 0; start < len(f.lines); start += blockLines {
			lines := f.lines[start:min(start+blockLines, len(f.lines))]
			if !slices.ContainsFunc(lines,
				func(l string) bool {
					return strings.TrimSpace(l) != "" &&
						!importing.MatchString(l)
				}) {
				continue
			}
			block := audit.Range{Start: start + 1, End: start + len(lines)}
			u := b.unit(len(b.strata)-1, slices.ContainsFunc(f.ranges, block.Overlaps))
			for n := range v.names(lines) {
				b.stands(n, "blocks", u)
			}
		}
	}
}

// marks compares the least likely name with the least likely under permuted labels.
func (b *battery) marks() *Marks {
	var fs []*feature
	for _, key := range slices.Sorted(maps.Keys(b.names)) {
		if f := b.names[key]; len(f.units) >= leastUnits && b.expect(f) {
			fs = append(fs, f)
		}
	}
	m := &Marks{Names: len(fs), P: 1}
	if len(fs) == 0 {
		return m
	}
	for _, f := range fs {
		f.mark.Units, f.mark.Marked = len(f.units), b.marked(f)
		f.mark.P = f.likely[f.mark.Marked]
		m.Each = append(m.Each, f.mark)
	}
	slices.SortStableFunc(m.Each, func(x, y Mark) int { return cmp.Compare(x.P, y.P) })
	rng := rand.New(rand.NewPCG(20261122, 22))
	as := 1
	for range permutations {
		b.permute(rng)
		if slices.ContainsFunc(fs,
			func(f *feature) bool { return f.likely[b.marked(f)] <= m.Each[0].P*(1+1e-9) }) {
			as++
		}
	}
	m.P = float64(as) / float64(permutations+1)
	return m
}

// expect gives a feature how many of its units chance labels, and how likely each
// number is: in each stratum the number is hypergeometric, and the strata add up. It
// reports whether the number can vary.
func (b *battery) expect(f *feature) bool {
	in := map[int]int{}
	for _, u := range f.units {
		in[b.at[u]]++
	}
	chance := []float64{1}
	for _, s := range slices.Sorted(maps.Keys(in)) {
		labelled := 0
		for _, u := range b.strata[s] {
			if b.labels[u] {
				labelled++
			}
		}
		chance = convolve(chance, hypergeometric(len(b.strata[s]), labelled, in[s]))
	}
	below, vary := 0.0, false
	f.likely = make([]float64, len(chance))
	for n, p := range chance {
		f.mark.Chance += float64(n) * p
		below += p
		f.likely[n] = min(1, 2*below)
		vary = vary || p > 1e-12 && p < 1-1e-12
	}
	above := 0.0
	for n, p := range slices.Backward(chance) {
		above += p
		f.likely[n] = min(f.likely[n], 2*above)
	}
	return vary
}

// hypergeometric gives how likely it is that of drawn units out of all, of which some
// are labelled, 0, 1, 2, ... are.
func hypergeometric(all, labelled, drawn int) []float64 {
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	p := make([]float64, min(labelled, drawn)+1)
	for n := max(0, drawn-(all-labelled)); n < len(p); n++ {
		p[n] = math.Exp(choose(labelled, n) + choose(all-labelled, drawn-n) - choose(all, drawn))
	}
	return p
}

// convolve gives the distribution of a sum.
func convolve(x, y []float64) []float64 {
	z := make([]float64, len(x)+len(y)-1)
	for i, p := range x {
		for j, q := range y {
			z[i+j] += p * q
		}
	}
	return z
}

func (b *battery) marked(f *feature) int {
	n := 0
	for _, u := range f.units {
		if b.labels[u] {
			n++
		}
	}
	return n
}

func (b *battery) permute(rng *rand.Rand) {
	for _, units := range b.strata {
		rng.Shuffle(len(units), func(i, j int) {
			b.labels[units[i]], b.labels[units[j]] = b.labels[units[j]], b.labels[units[i]]
		})
	}
}
