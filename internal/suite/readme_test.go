package suite

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"assay/audit/score"
	"assay/internal/auditor"
)

// TestReadmeShowsWhatIsMeasured: the summary in README.md and the tables of agents, scanners,
// patterns and controls in docs/maintainers/figures.md and recordings.md are what the suites
// say of this repository, to the letter. ASSAY_UPDATE=1 writes them.
func TestReadmeShowsWhatIsMeasured(t *testing.T) {
	t.Setenv("ASSAY_ROOT", "")
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Shipped: os.DirFS("../.."), Out: t.TempDir()})
	require.NoError(t, flags.Parse(nil))
	require.Empty(t, play(t, "TestSmoke", s.Smoke).complaints())
	regression := play(t, "TestRegression", s.Regression)
	require.Empty(t, regression.complaints())
	require.Empty(t, play(t, "TestBench", s.Bench).complaints())

	var short strings.Builder
	s.summary.print(&short, view{width: screenWidth, lines: screenLines})
	holdBlock(t, "../../README.md", "summary",
		"```\n$ go test -run 'Smoke|Regression|Bench'\nPASS\n"+strings.ReplaceAll(short.String(),
			": assay ", ": go run ./cmd/assay ")+"```\n")

	const page = "../../docs/maintainers/figures.md"
	var public, planted figures
	for _, l := range s.summary.rows("Regression") {
		switch _, err := os.Stat("../../fixtures/planted/" + l.about); {
		case l.about == "":
		case err == nil:
			planted.put(l.who, l.about, l.figures[0]+", "+l.figures[1])
		default:
			public.put(l.who, l.about+" recall", l.figures[0])
			public.put(l.who, l.about+" precision", l.figures[1])
		}
	}
	holdBlock(t, page, "recall", public.table("auditor", " recall"))
	holdBlock(t, page, "precision", public.table("auditor", " precision"))
	holdBlock(t, page, "planted", planted.table("auditor", ""))
	var corroborated figures
	for _, project := range regression.children {
		for _, who := range project.children {
			if told, ok := who.attrs["corroborated"]; ok {
				cells := strings.Split(told, " | ")
				corroborated.put(path.Base(who.name), path.Base(project.name)+" ("+cells[0]+")",
					cells[1]+", "+cells[2])
			}
		}
	}
	root, err := openRoot(os.DirFS("../.."), "", t.TempDir(), false)
	require.NoError(t, err)
	e := newEnv(Settings{}, root)
	recordings, err := e.recordings()
	require.NoError(t, err)
	holdBlock(t, page, "areas", areaTable(t, e, recordings))
	var size [2]figures // findings of each report: public, planted projects
	for project, variants := range recordings {
		for _, v := range variants {
			if r := v.replay[0]; r.Source == "" && !strings.Contains(project, ".") {
				at := 0
				if _, err := os.Stat("../../fixtures/planted/" + project); err == nil {
					at = 1
				}
				size[at].put(r.Auditor, project, fmt.Sprint(r.Findings))
				if at == 0 && r.Control == "" && r.Auditor != "patterns" {
					size[at].put(r.Auditor, "Version", r.Version)
				}
			}
		}
	}
	const kept = "../../docs/maintainers/recordings.md"
	holdBlock(t, kept, "sizes", size[0].table("auditor", ""))
	holdBlock(t, kept, "sizes of planted projects", size[1].table("auditor", ""))
	holdBlock(t, page, "corroborated", corroborated.table("auditor", ""))
	var bench figures
	for _, l := range s.summary.rows("Bench") {
		for i, name := range score.Names(score.Main(score.BenchMetrics())) {
			if l.about == "" {
				bench.put(l.who, name, l.figures[i])
			}
		}
	}
	holdBlock(t, page, "bench", bench.table("reviewer", ""))
}

// areaTable returns the recall, precision and share of right names of patterns and of each
// recorded auditor on the areas that were recorded.
func areaTable(t *testing.T, e *env, recordings map[string][]*variant) string {
	t.Helper()
	dims, err := e.dimensions()
	require.NoError(t, err)
	var f figures
	for name, variants := range recordings {
		if !strings.Contains(name, ".") {
			continue
		}
		drawn, key, err := Drawn(e.root.fixtures(), name)
		require.NoError(t, err)
		for _, v := range append(variants, e.patterns()) {
			a := v.auditor
			if a == nil {
				a = auditor.Replay(v.replay[0], e.root.fixtures(), nil)
				require.Equal(t, key.Commit, v.replay[0].Commit,
					"%s read another draw of %s", v.name, name)
			}
			run, _, err := (&target{project: key, drawn: drawn}).audit(t.Context(), a, 0, nil)
			require.NoError(t, err)
			r, err := score.Score(score.Input{Project: key, Findings: run.Report.Findings,
				Dimensions: dims})
			require.NoError(t, err)
			m := r.Metrics
			f.put(fmt.Sprintf("%s, %d", name, len(key.Vulnerabilities)), v.name,
				fmt.Sprintf("%s, %s, %s", m.Recall, m.Precision, m.Classification))
		}
	}
	return f.table("area, its vulnerabilities", "")
}

// figures are the cells of a table, by row and column.
type figures map[string]map[string]string

func (f *figures) put(row, column, cell string) {
	if *f == nil {
		*f = figures{}
	}
	if (*f)[row] == nil {
		(*f)[row] = map[string]string{}
	}
	(*f)[row][column] = cell
}

// table gives the columns that end so, without the end, in Markdown; controls stand
// last.
func (f figures) table(head, end string) string {
	columns := map[string]bool{}
	for _, row := range f {
		for c := range row {
			if strings.HasSuffix(c, end) {
				columns[c] = true
			}
		}
	}
	heads := slices.Sorted(maps.Keys(columns))
	out := "| " + head + " | " + strings.ReplaceAll(strings.Join(heads, " | "), end+" |", " |")
	out = strings.TrimSuffix(out, end) + " |\n|" + strings.Repeat("---|", len(heads)+1) + "\n"
	rows := slices.Collect(maps.Keys(f))
	slices.SortFunc(rows, func(a, b string) int {
		control := func(s string) string { return fmt.Sprint(strings.HasPrefix(s, "control-"), s) }
		return strings.Compare(control(a), control(b))
	})
	for _, row := range rows {
		out += "| " + row
		for _, c := range heads {
			out += " | " + f[row][c]
		}
		out += " |\n"
	}
	return out
}

// userPages returns README.md and the pages of docs/, which users read.
func userPages(t *testing.T) []string {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	return append([]string{"../../README.md"}, pages...)
}

// maintainerPages returns the pages of docs/maintainers/, and CONTRIBUTING.md.
func maintainerPages(t *testing.T) []string {
	pages, err := filepath.Glob("../../docs/maintainers/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	return append([]string{"../../CONTRIBUTING.md"}, pages...)
}

// generated matches a block of a page that a test writes.
var generated = regexp.MustCompile(`(?s)<!-- begin: .*?<!-- end: [^>]*-->`)

// TestUserPagesAreShort: ten pages and 8,000 words in all, generated blocks apart. A
// page has at most 150 lines, and none is wider than 132 columns but for tables and
// commands.
func TestUserPagesAreShort(t *testing.T) {
	words := 0
	pages := userPages(t)
	require.LessOrEqual(t, len(pages), 10,
		"pages for users: move one to docs/maintainers, or merge two")
	for _, page := range pages {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		text := generated.ReplaceAllString(string(b), "")
		words += len(strings.Fields(text))
		lines := strings.Split(strings.TrimSpace(text), "\n")
		require.LessOrEqual(t, len(lines), 150, "%s: more lines than a page may have", page)
		for i, l := range lines {
			if !strings.HasPrefix(l, "|") && !strings.HasPrefix(l, "    ") &&
				!strings.Contains(l, "go test ") && !strings.Contains(l, "](http") {
				require.LessOrEqual(t, utf8.RuneCountInString(l), 132,
					"%s:%d: wider than a screen", page, i+1)
			}
		}
	}
	require.LessOrEqual(t, words, 8000, "words for users to read")
}

// TestLinksLeadSomewhere: each link of a page leads to a file and a heading that exist.
func TestLinksLeadSomewhere(t *testing.T) {
	heading, link := regexp.MustCompile("(?m)^#+ (.*)$"), regexp.MustCompile(`\]\(([^)\s:]+)\)`)
	for _, page := range append(append(userPages(t), maintainerPages(t)...), "../../SECURITY.md",
		"../../CHANGELOG.md") {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			to := filepath.Join(filepath.Dir(page), file)
			if file == "" {
				to = page
			}
			if anchor == "" {
				_, err := os.Stat(to)
				require.NoError(t, err, "%s: the link %s", page, m[1])
				continue
			}
			text, err := os.ReadFile(to)
			require.NoError(t, err, "%s: the link %s", page, m[1])
			var anchors []string
			for _, h := range heading.FindAllStringSubmatch(string(text), -1) {
				anchors = append(anchors, anchorOf(h[1]))
			}
			require.Contains(t, anchors, anchor, "%s: the link %s", page, m[1])
		}
	}
}

// anchorOf returns the anchor that GitHub gives a heading.
func anchorOf(heading string) string {
	kept := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" -_", r) {
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
	return strings.ReplaceAll(kept, " ", "-")
}

// shellBlock is a block of commands, quoted one within a file that is shown whole.
var shellBlock, quoted = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$"), regexp.MustCompile(
	"(?ms)^````.*?^````$")

// shellBlocks returns the commands of each block of a page.
func shellBlocks(page []byte) (blocks []string) {
	for _, m := range shellBlock.FindAllSubmatch(quoted.ReplaceAll(page, nil), -1) {
		blocks = append(blocks, string(m[1]))
	}
	return blocks
}

// TestDocumentedTestsHaveTheirFlags: every flag of a go test line in README.md and
// docs/ is there, and every variable is one that is read.
func TestDocumentedTestsHaveTheirFlags(t *testing.T) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	define(flags)
	known := func(name string) bool {
		return flags.Lookup(name) != nil || flag.Lookup("test."+name) != nil || name == "c" ||
			name == "o" || name == "tags"
	}
	lines := 0
	for _, page := range append(userPages(t), maintainerPages(t)...) {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, block := range shellBlocks(b) {
			for _, line := range strings.Split(block, "\n") {
				_, command, ok := strings.Cut(line, "go test ")
				if !ok {
					continue
				}
				lines++
				command, _, _ = strings.Cut(command, "  #")
				for _, f := range regexp.MustCompile(
					`(?:^|\s)-([a-z]+)`).FindAllStringSubmatch(command, -1) {
					require.True(t, known(f[1]), "%s: %q has the flag -%s, which is not there",
						page, line, f[1])
				}
			}
		}
	}
	require.Greater(t, lines, 10)
}

// TestReferenceListsEveryFlag: docs/reference.md has the flags as they are defined.
// ASSAY_UPDATE=1 writes them.
func TestReferenceListsEveryFlag(t *testing.T) {
	rows := "| flag | variable | meaning |\n|---|---|---|\n"
	for _, o := range options {
		rows += fmt.Sprintf("| `-%s` | `%s` | %s |\n", o.name, variable(o.name), o.usage)
	}
	holdBlock(t, "../../docs/reference.md", "flags", rows)
}

// holdBlock holds the block of a page between its two comments to text.
func holdBlock(t *testing.T, file, name, text string) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	begin, end := fmt.Sprintf("<!-- begin: %s -->\n", name), fmt.Sprintf("<!-- end: %s -->", name)
	before, rest, ok := strings.Cut(string(b), begin)
	have, after, ok2 := strings.Cut(rest, end)
	require.True(t, ok && ok2, "%s: no block %q", file, name)
	if have == text {
		return
	}
	if os.Getenv("ASSAY_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+text+end+after), 0o644))
		return
	}
	t.Errorf("%s: the block %q shows something else: write it with ASSAY_UPDATE=1; expected\n%s",
		file, name, text)
}
