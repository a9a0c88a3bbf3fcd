package seal

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
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
	Z      float64 // Marked less Chance, in standard deviations; below 0: it tells where none lie
	Where  string  // "files" or "blocks"
}

// Marks is what the names of a sealed export tell of the key.
type Marks struct {
	Names int     // names that were tried
	P     float64 // share of permutations (this one counted in) whose strongest name is as strong; 1 without names
	Each  []Mark  // the strongest first
}

// LeastP is the p-value of [Marks] below which an export gives its key away.
const LeastP = 0.01

// permutations of the labels: enough to tell 0.01 from 0.02.
const permutations = 500

// blockLines is how many lines of a file are looked at together: about a function.
const blockLines = 20

// leastUnits: a name that stands in fewer places tells nothing of others.
const leastUnits = 4

// Marks asks whether a name that the project itself declares, or a part of a path,
// tells where entries of the key lie: which files among those of one kind and
// size, and which blocks of lines within a file. Names that ordinary code uses
// (common says so) and those that the table of renames gave are no marks: they say
// nothing that a reader could know before. Labels are permuted within kinds, and
// within files, with a fixed seed, and the strongest name of all is compared, so
// that trying many costs what it should.
func (s *Sealed) Marks(p *audit.Project, common func(name string) bool) (*Marks, error) {
	b := &battery{names: map[string]*feature{}}
	files, err := s.markFiles(p)
	if err != nil {
		return nil, err
	}
	v := &vocabulary{own: map[string]bool{}, given: map[string]bool{}, common: common}
	for _, f := range files {
		f.declares(v.own)
	}
	for _, r := range p.Renames {
		v.given[r.To] = true
		if r.Within {
			v.within = append(v.within, r.To)
		}
	}
	b.files(files, v)
	b.blocks(files, v)
	return b.marks(), nil
}

// A vocabulary says which names are tried.
type vocabulary struct {
	own    map[string]bool // the project declares them
	given  map[string]bool // by the table of renames
	within []string        // given as parts of names
	common func(name string) bool
}

// names gives what is tried of the names in the lines: whole ones, and, with a ~
// before them, the words that they are made of.
func (v *vocabulary) names(lines []string) map[string]bool {
	tried := map[string]bool{}
	seen := map[string]bool{}
	for _, l := range lines {
		if len(l) > longest || importing.MatchString(l) {
			continue
		}
		for _, n := range aName.FindAllString(l, -1) {
			if !seen[n] {
				seen[n] = true
				v.try(n, tried)
			}
		}
	}
	return tried
}

func (v *vocabulary) try(name string, tried map[string]bool) {
	if v.given[name] || !v.own[name] {
		return
	}
	rest := name
	for _, part := range v.within {
		rest = strings.ReplaceAll(rest, part, "_")
	}
	if rest == name && len(name) >= 3 && !v.common(name) {
		tried[name] = true
	}
	for _, w := range wordsOf(rest) {
		if !v.common(w) {
			tried["~"+w] = true
		}
	}
}

// longest is how long a line may be that somebody wrote: longer ones are packed
// code, whose names nobody gave.
const longest = 2000

// importing are lines that name what stands elsewhere: they are no place.
var importing = regexp.MustCompile(`^\s*(import|package|from|using|use|require|#include)\b`)

var aWord = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)

// wordsOf gives the words of three letters or more that a name is made of, in
// small letters.
func wordsOf(name string) []string {
	var words []string
	for _, w := range aWord.FindAllString(name, -1) {
		if len(w) >= 3 {
			words = append(words, strings.ToLower(w))
		}
	}
	return words
}

// tells are words that speak of flaws or of lessons: no ordinary code uses them,
// whatever other projects do.
var tells = regexp.MustCompile(`(?i)vuln|insecur|unsafe|exploit|attack|hack|inject|xss|csrf|xxe|ssrf|idor|sqli|traversal|lesson|challenge|assignment|hint|solution|solve|mitigat|tamper|spoof|bypass|payload|victim|malicious|flaw|weak|goat|dvwa|dvja|juice|owasp|secur`)

// Words gives the names that stand in the files of fsys, and the words that they
// are made of.
func Words(fsys fs.FS) (map[string]bool, error) {
	words := map[string]bool{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil || !isText(content) || len(content) > 1<<20 {
			return err
		}
		for _, l := range append(strings.Split(string(content), "\n"), name) {
			if len(l) > longest {
				continue
			}
			for _, n := range aName.FindAllString(l, -1) {
				if !words[n] && !tells.MatchString(n) {
					words[n] = true
					for _, w := range wordsOf(n) {
						words[w] = true
					}
				}
			}
		}
		return nil
	})
	return words, err
}

// A markFile is a file of the export with its labels.
type markFile struct {
	path, text string
	lines      []string
	kind       string
	entry      bool
	ranges     []audit.Range
}

// markFiles reads the files of the export that hold text, a kind at a time.
func (s *Sealed) markFiles(p *audit.Project) ([]*markFile, error) {
	entries := map[string][]audit.Range{}
	for _, k := range p.Known {
		entries[k.File] = append(entries[k.File], k.Lines)
	}
	var files []*markFile
	for _, exported := range slices.Sorted(maps.Keys(s.paths)) {
		content, err := os.ReadFile(filepath.Join(s.Dir, filepath.FromSlash(exported)))
		if err != nil {
			return nil, err
		}
		if !isText(content) || len(bytes.TrimSpace(content)) == 0 || len(content) > 1<<20 || manifests[path.Base(exported)] {
			continue
		}
		ranges, entry := entries[s.paths[exported]]
		f := &markFile{path: exported, text: string(content), lines: strings.Split(string(content), "\n"), entry: entry, ranges: ranges}
		f.kind = kindOf(f.path, f.text)
		files = append(files, f)
	}
	return bySize(files), nil
}

// roles tell files of one language apart by what the framework makes of them.
var roles = []struct {
	name string
	re   *regexp.Regexp
}{
	{"generated", regexp.MustCompile(`(?i)code generated .*do not edit`)},
	{"test", regexp.MustCompile(`@Test\b|\bdescribe\(|\bfunc Test[A-Z]|\bunittest\b|PHPUnit`)},
	{"handler", regexp.MustCompile(`@(Rest)?Controller\b|\b(Request|Response)?,? ?NextFunction\b|http\.ResponseWriter|\bHttpServletRequest\b|\bdef \w+\(request|\$_(GET|POST|REQUEST|COOKIE|SERVER|FILES)\b|extends \w+Controller\b|gin\.Context|echo\.Context`)},
	{"statements", regexp.MustCompile(`(?i)["'\x60]\s*(select|insert into|update|delete from|where|order by) |prepareStatement|createStatement|SqlNode`)},
	{"data", regexp.MustCompile(`@Entity\b|@Repository\b|@Mapper\b|extends Model\b|models\.Model|JpaRepository`)},
	{"component", regexp.MustCompile(`@Component\b|@Injectable\b|@Configuration\b|@Service\b|defineComponent`)},
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

// bySize cuts each kind in up to four of about the same size: a longer file holds
// more names and more entries, which is no mark.
func bySize(files []*markFile) []*markFile {
	kinds := map[string][]*markFile{}
	for _, f := range files {
		kinds[f.kind] = append(kinds[f.kind], f)
	}
	for _, of := range kinds {
		slices.SortStableFunc(of, func(a, b *markFile) int { return cmp.Compare(a.size(), b.size()) })
		parts := min(4, max(1, len(of)/8))
		for i, f := range of {
			f.kind += fmt.Sprint(" ", i*parts/len(of))
		}
	}
	return files
}

// size counts the lines that hold something.
func (f *markFile) size() int {
	n := 0
	for _, l := range f.lines {
		if strings.TrimSpace(l) != "" {
			n++
		}
	}
	return n
}

var (
	aName = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

	// declarations give the names that a file declares, as far as their shape shows
	// it in the languages of the projects: keyword and name, type and name, name and
	// value, attributes of markup, keys, routes.
	declarations = []*regexp.Regexp{
		regexp.MustCompile(`\b(?:class|interface|enum|struct|trait|type|func|def|function|const|let|var|namespace|record|contract|event|package)\s+\*?(\w+)`),
		regexp.MustCompile(`\bfunc \([^)]*\) (\w+)`),
		regexp.MustCompile(`\b[A-Za-z_][\w.]*(?:<[^<>]*>)?(?:\[\])?\s+(\w+)\s*[=;,):(]`),
		regexp.MustCompile(`(\w+)\s*:?=[^=>]`),
		regexp.MustCompile(`["']?\b([\w-]+)["']?\s*\??:\s`),
		regexp.MustCompile(`(?:id|name|class|for|formControlName|key)\s*=\s*["']([\w -]+)["']`),
		regexp.MustCompile("[\"'`(/]((?:[\\w-]+/)+[\\w-]+)"),
		regexp.MustCompile(`^([\w.-]+)\s*=`),
	}
)

// after are words that stand before the use of a name, where a type would stand
// before its declaration.
var after = regexp.MustCompile(`^(return|new|throw|else|case|in|of|and|or|not|await|yield|echo|print|instanceof|typeof|delete|go|defer)\s`)

// declares adds the names that the file declares, and the parts of its path.
func (f *markFile) declares(own map[string]bool) {
	of := declarations
	if path.Ext(f.path) == ".php" { // a variable has its $, and what has none is PHP's own as often as not
		of = slices.Concat(declarations[:1], []*regexp.Regexp{regexp.MustCompile(`\$(_*[a-z]\w*)`)}, declarations[5:])
	}
	inherited := false
	for _, l := range f.lines {
		if len(l) > longest {
			continue
		}
		for _, re := range of {
			for _, m := range re.FindAllStringSubmatch(l, -1) {
				if inherited || after.MatchString(m[0]) {
					continue
				}
				for _, name := range aName.FindAllString(m[1], -1) {
					own[name] = true
				}
			}
		}
		inherited = strings.Contains(l, "@Override")
	}
	for _, name := range aName.FindAllString(f.path, -1) {
		own[name] = true
	}
}

// A battery is all names, and the places that they may stand in.
type battery struct {
	strata [][]int // the units of each stratum
	labels []bool  // of every unit
	at     []int   // the stratum of every unit
	names  map[string]*feature
}

type feature struct {
	mark  Mark
	units []int
	mean  float64
	sd    float64
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

// files takes the files of each kind as units.
func (b *battery) files(files []*markFile, v *vocabulary) {
	strata := map[string]int{}
	for _, f := range files {
		if _, known := strata[f.kind]; !known {
			strata[f.kind] = len(b.strata)
			b.strata = append(b.strata, nil)
		}
		u := b.unit(strata[f.kind], f.entry)
		for n := range v.names(append([]string{f.path}, f.lines...)) {
			b.stands(n, "files", u)
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
			if !slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) != "" && !importing.MatchString(l) }) {
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

// marks compares the strongest name with the strongest under permuted labels.
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
	real := 0.0
	for _, f := range fs {
		f.mark.Units, f.mark.Chance, f.mark.Marked = len(f.units), f.mean, b.marked(f)
		f.mark.Z = (float64(f.mark.Marked) - f.mean) / f.sd
		real = max(real, math.Abs(f.mark.Z))
		m.Each = append(m.Each, f.mark)
	}
	slices.SortStableFunc(m.Each, func(x, y Mark) int { return cmp.Compare(math.Abs(y.Z), math.Abs(x.Z)) })
	rng := rand.New(rand.NewPCG(20261122, 22))
	as := 1
	for range permutations {
		b.permute(rng)
		strongest := 0.0
		for _, f := range fs {
			strongest = max(strongest, math.Abs(float64(b.marked(f))-f.mean)/f.sd)
		}
		if strongest >= real-1e-9 {
			as++
		}
	}
	m.P = float64(as) / float64(permutations+1)
	return m
}

// expect gives a feature the mean and deviation of its labelled units under
// permutation (hypergeometric in each stratum). It reports whether they can vary.
func (b *battery) expect(f *feature) bool {
	in := map[int]int{}
	for _, u := range f.units {
		in[b.at[u]]++
	}
	variance := 0.0
	for s, k := range in {
		n, labelled := float64(len(b.strata[s])), 0.0
		for _, u := range b.strata[s] {
			if b.labels[u] {
				labelled++
			}
		}
		share := labelled / n
		f.mean += float64(k) * share
		if n > 1 {
			variance += float64(k) * share * (1 - share) * (n - float64(k)) / (n - 1)
		}
	}
	f.sd = math.Sqrt(variance)
	return variance > 0.25 // below, one unit more or less is already beyond any bound
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
