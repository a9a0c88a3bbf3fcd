package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/cwe"
	"assay/internal/suite"
)

type importCmd struct {
	source
	Project string `arg:"" help:"Name of a project of fixtures/projects; what it holds stays."`
	File    string `arg:"" help:"SARIF (results that are suppressed, or of another kind than fail, become decoys), a ground-truth.json of RealVuln, or CSV." type:"existingfile"`
}

// Help returns the help text.
func (c *importCmd) Help() string {
	return `A CSV has a heading. Its columns, in any order, other ones are passed over:

    path, file or name      a path of the project, or a file's name without its ending
    line, lines             12 or 12-18; without them the function stands for them
    function                its name
    cwe, category           89, CWE-89, or a short word like sqli
    true, vulnerable, real  true: an entry; false: a decoy
    severity, title, why    optional

An entry with neither lines nor function is its whole file.`
}

// An imported is a row of a file that becomes an entry or a decoy of a key.
type imported struct {
	pos                   audit.Pos
	vulnerable            bool
	path, function, lines string
	cwes                  []audit.CWE
	severity, title, why  string
}

// Run adds the rows of the file to the key. If one of them cannot be used it adds none.
func (c *importCmd) Run() error {
	fsys, err := suite.Checkout(c.Root)
	if err != nil {
		return err
	}
	var p *audit.Project
	page, err := suite.Page(fsys, c.Project)
	if err == nil {
		p, _, err = fixture.LintProject(fsys, page)
	}
	if p == nil || p.Tree == nil {
		return fmt.Errorf("%w\nexpected a project: assay new project %s", err, c.Project)
	}
	dims, err := fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
	if err != nil {
		return err
	}
	rows, root, err := c.rows(p)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s holds nothing to import: expected results with a CWE and a file",
			c.File)
	}
	old, err := fs.ReadFile(fsys, page)
	if err != nil {
		return err
	}
	known, decoys, from, err := written(p, dims, pathsUnder(root, rows, p.Tree), rows)
	if err != nil {
		return err
	}
	text, err := addRows(string(old), "Known Vulnerabilities", known)
	if err == nil {
		text, err = addRows(text, "Decoys", decoys)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	if err := c.checked(page, text, from); err != nil {
		return err
	}
	fmt.Printf("%s\nrows: %d known vulnerabilities, %d decoys\n",
		filepath.Join(c.Root, filepath.FromSlash(page)), len(known), len(decoys))
	return (&lintCmd{Root: c.Root, out: stdout, fsys: fsys}).project(page)
}

// checked writes the page unless it has errors, which it returns with the positions in the
// imported file.
func (c *importCmd) checked(page, text string, from map[string]audit.Pos) error {
	lines := strings.Split(text, "\n")
	return replaceChecked(filepath.Join(c.Root, filepath.FromSlash(page)), text,
		func(dir fs.FS, file string) error {
			beside := os.DirFS(filepath.Join(c.Root, "fixtures/projects"))
			_, err := fixture.ReadProject(suite.Overlay{First: dir, Second: beside}, file)
			var all fixture.Errors
			errors.As(err, &all)
			for _, e := range all {
				if n := e.Pos.Line; e.Pos.File == file && n > 0 && n <= len(lines) {
					e.Pos = cmp.Or(from[lines[n-1]], e.Pos)
				}
			}
			return err
		})
}

// rows returns the rows of the file and, of SARIF, the root that the report names.
func (c *importCmd) rows(p *audit.Project) (rows []imported, root string, err error) {
	f, err := os.Open(c.File)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	text := bufio.NewReader(transform.NewReader(f, unicode.BOMOverride(encoding.Nop.NewDecoder())))
	head, err := text.Peek(4096)
	if err != nil && err != io.EOF {
		return nil, "", err
	}
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		b, err := io.ReadAll(io.LimitReader(text, findings.MaxText))
		if err != nil {
			return nil, "", err
		}
		if gjson.GetBytes(b, "findings.#.is_vulnerable").Exists() &&
			!gjson.GetBytes(b, "runs").Exists() {
			rows, err := truthRows(c.File, b)
			return rows, "", err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, "", err
		}
		return sarifRows(c.File, f)
	}
	b, err := io.ReadAll(io.LimitReader(text, findings.MaxText+1))
	if err == nil && len(b) > findings.MaxText {
		err = fmt.Errorf("%s: the CSV has more than %d MB: expected a key", c.File,
			findings.MaxText>>20)
	}
	if err != nil {
		return nil, "", err
	}
	rows, err = csvRows(c.File, b, p.Tree)
	return rows, "", err
}

// sarifRows returns the results of a SARIF report and its root. Suppressed results and those of
// another kind than fail are decoys. Of results that differ in columns only, which a key does
// not hold, it returns the first and prints the others.
func sarifRows(name string, r io.ReadSeeker) (rows []imported, root string, err error) {
	seen := map[string]bool{}
	var twice []audit.Problem
	options := findings.ReadOptions{Format: findings.SARIF, AllKinds: true}
	report, err := findings.Each(name, r, options, func(f audit.Finding) error {
		row := imported{pos: f.Pos, vulnerable: f.Suppressed == "", path: f.File,
			function: f.Function,
			lines:    f.Lines.String(), cwes: f.CWEs, severity: f.Severity.String(),
			title: cmp.Or(f.Title, f.RuleID), why: cmp.Or(f.Suppressed, f.Description)}
		id := fmt.Sprintf("%t %q %q %s %v %q", row.vulnerable, row.path, row.function, row.lines,
			row.cwes, row.title)
		if seen[id] {
			twice = append(twice, audit.Problem{Pos: f.Pos,
				What: "an earlier result has the same lines, CWEs and title: it is one entry"})
		} else {
			seen[id], rows = true, append(rows, row)
		}
		return nil
	})
	printProblems(stdout, append(report.Problems, twice...))
	return rows, report.Root, err
}

// pathsUnder returns how paths of rows become paths of the project: relative to root or, since a
// tool may name its folder of sources, to the folder above it below which most of them exist.
func pathsUnder(root string, rows []imported, tree audit.Tree) *score.Paths {
	best, most := score.NewPaths(tree, nil, nil), -1
	for ; strings.Trim(root, "/.") != ""; root = path.Dir(root) {
		paths, fit := score.NewPaths(tree, nil, []string{root}), 0
		for _, r := range rows {
			if _, err := paths.Resolve(r.path); err == nil {
				fit++
			}
		}
		if fit > most {
			best, most = paths, fit
		}
	}
	return best
}

// printProblems prints each problem once, at its first place, with the number of repetitions: a
// tool usually has the same problem in every result.
func printProblems(to io.Writer, problems []audit.Problem) {
	times := map[string]int{}
	for _, p := range problems {
		times[p.What]++
	}
	for _, p := range problems {
		if n := times[p.What]; n > 1 {
			fmt.Fprintf(to, "noted: %s: %s (and %d more like it)\n", p.Pos,
				audit.OneLine(p.What, 0), n-1)
		} else if n == 1 {
			fmt.Fprintf(to, "noted: %s: %s\n", p.Pos, audit.OneLine(p.What, 0))
		}
		delete(times, p.What)
	}
}

// columns maps the columns of a CSV to the names that its heading may have for them.
var columns = map[string][]string{
	"path":       {"path", "file", "filename", "name", "test name", "uri"},
	"lines":      {"line", "lines", "start line"},
	"function":   {"function", "method"},
	"cwe":        {"cwe", "cwes"},
	"category":   {"category", "type"},
	"vulnerable": {"true", "vulnerable", "real", "real vulnerability", "label", "expected"},
	"severity":   {"severity"},
	"title":      {"title", "message"},
	"why":        {"why", "reason", "evidence", "description"},
}

// csvRows returns the rows of a CSV, separated by commas, semicolons or tabs. It fails with all
// rows that it cannot read.
func csvRows(name string, b []byte, tree audit.Tree) ([]imported, error) {
	r := csv.NewReader(bytes.NewReader(b))
	first, _, _ := bytes.Cut(bytes.TrimLeft(b, "\r\n"), []byte("\n"))
	for _, other := range ";\t" {
		if bytes.Count(first, []byte(string(other))) > bytes.Count(first, []byte(string(r.Comma))) {
			r.Comma = other
		}
	}
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, r.Comma != '\t'
	heading, err := r.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s is empty: expected a heading and rows", name)
	}
	if err != nil {
		return nil, brokenCSV(name, err)
	}
	at := map[string]int{}
	for column, words := range columns {
		at[column] = slices.IndexFunc(heading, func(cell string) bool {
			return slices.Contains(words, strings.ToLower(strings.Trim(cell, "# \t")))
		})
	}
	if at["path"] < 0 || at["vulnerable"] < 0 || at["cwe"] < 0 && at["category"] < 0 {
		return nil, fmt.Errorf("%s:1: the heading is %q: expected columns path (or name), "+
			"cwe (or category), and true; see assay import --help", name, heading)
	}
	stems := map[string]string{} // files by their name without its ending; "" if several have it
	for file := range tree {
		stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
		if _, twice := stems[stem]; twice {
			file = ""
		}
		stems[stem] = file
	}
	var rows []imported
	var errs []error
	for {
		line, err := r.Read()
		if err == io.EOF {
			return rows, errors.Join(errs...)
		}
		if err != nil {
			return nil, brokenCSV(name, err)
		}
		number, _ := r.FieldPos(0)
		cell := func(column string) string {
			if n := at[column]; n >= 0 && n < len(line) {
				return strings.TrimSpace(line[n])
			}
			return ""
		}
		row := imported{pos: audit.Pos{File: name, Line: number}, path: cell("path"),
			function: cell("function"), lines: cell("lines"), severity: cell("severity"),
			title: cell("title"), why: cell("why")}
		if _, ok := tree[row.path]; !ok && stems[row.path] != "" {
			row.path = stems[row.path]
		}
		var ok bool
		if row.vulnerable, ok = labels[strings.ToLower(cell("vulnerable"))]; !ok {
			errs = append(errs, fmt.Errorf("%s: the label is %q: expected true or false", row.pos,
				cell("vulnerable")))
		}
		if row.cwes, err = weaknesses(cmp.Or(cell("cwe"), cell("category"))); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", row.pos, err))
		}
		rows = append(rows, row)
	}
}

// brokenCSV returns an error of the CSV reader with its position.
func brokenCSV(name string, err error) error {
	var at *csv.ParseError
	if errors.As(err, &at) {
		return fmt.Errorf(
			"%s:%d: column %d: %w: expected CSV, with a quote within quotes written twice",
			name, at.Line, at.Column, at.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// labels maps the words of the column "true" to whether the code is vulnerable.
var labels = map[string]bool{"true": true, "yes": true, "1": true, "bad": true, "vulnerable": true,
	"false": false, "no": false, "0": false, "good": false, "safe": false}

// categories maps the words that benchmarks use for weaknesses to CWEs.
var categories = map[string]audit.CWE{"sqli": 89, "xss": 79, "cmdi": 78, "pathtraver": 22,
	"traversal": 22, "ldapi": 90, "xpathi": 643, "crypto": 327, "hash": 328, "weakrand": 330,
	"trustbound": 501, "securecookie": 614, "csrf": 352, "ssrf": 918, "xxe": 611, "redirect": 601,
	"deserialization": 502, "codeinjection": 94, "idor": 639, "upload": 434, "secrets": 798}

var notLetter = regexp.MustCompile(`[^a-z]`)

// weaknesses returns the CWEs that "89", "CWE-89, CWE-564" or a category names. It fails for
// other words, for an unknown number and for an empty text.
func weaknesses(s string) ([]audit.CWE, error) {
	if w, ok := categories[notLetter.ReplaceAllString(strings.ToLower(s), "")]; ok {
		return []audit.CWE{w}, nil
	}
	var ws []audit.CWE
	for _, word := range strings.FieldsFunc(s,
		func(r rune) bool { return strings.ContainsRune(" ,;/|", r) }) {
		w, err := audit.ParseCWE(word)
		if err != nil || !cwe.Known(int(w)) {
			return nil, fmt.Errorf("%q is not a CWE: expected a number like CWE-89, or one of %s",
				word, strings.Join(slices.Sorted(maps.Keys(categories)), ", "))
		}
		ws = append(ws, w)
	}
	if len(ws) == 0 {
		return nil, errors.New("no CWE: expected one")
	}
	return ws, nil
}

// written returns rows as lines of the tables of entries and decoys, numbered after those of the
// key, and the position from which each line was imported. It fails for rows without a file of
// the project, a CWE or a dimension.
func written(p *audit.Project, dims map[audit.CWE]audit.Dimension, paths *score.Paths,
	rows []imported) (known, decoys []string, from map[string]audit.Pos, err error) {
	from = map[string]audit.Pos{}
	var errs []error
	prefix := strings.ToUpper(p.Name) + "-"
	lastKnown := last(p.Vulnerabilities, prefix, func(k audit.Vulnerability) string { return k.ID })
	lastDecoy := last(p.Decoys, prefix+"D", func(d audit.Decoy) string { return d.ID })
	for _, r := range rows {
		file, err := paths.Resolve(r.path)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w: expected a path of %s.tree.tsv",
				r.pos, err, p.Name))
			continue
		case len(r.cwes) == 0:
			errs = append(errs, fmt.Errorf("%s: the result in %s has no CWE: expected one",
				r.pos, r.path))
			continue
		}
		dimension := dims[r.cwes[0]]
		if dimension == "" {
			errs = append(errs, fmt.Errorf("%s: %v has no dimension: add it to dimensions.md",
				r.pos, r.cwes[0]))
			continue
		}
		title := cmp.Or(r.title, cwe.Name(int(r.cwes[0])))
		why := cmp.Or(r.why, "imported from "+filepath.Base(r.pos.String()))
		cells := []string{"", string(dimension), audit.JoinCWEs(r.cwes),
			cmp.Or(r.severity, audit.Medium.String()), file, r.function, r.lines, "",
			title, why, ""}
		if r.vulnerable {
			cells[0] = fmt.Sprintf("%s%d", prefix, lastKnown+len(known)+1)
			known = append(known, tableRow(cells))
			from[known[len(known)-1]] = r.pos
			continue
		}
		cells[0] = fmt.Sprintf("%sD%d", prefix, lastDecoy+len(decoys)+1)
		decoys = append(decoys, tableRow(slices.Concat(cells[:3], cells[4:7], cells[8:10])))
		from[decoys[len(decoys)-1]] = r.pos
	}
	return known, decoys, from, errors.Join(errs...)
}

// last returns the highest number after prefix among the IDs of entries, 0 if there is none.
func last[E any](entries []E, prefix string, id func(E) string) (highest int) {
	for _, e := range entries {
		if number, ok := strings.CutPrefix(id(e), prefix); ok {
			n, _ := strconv.Atoi(number) // 0 for a name
			highest = max(highest, n)
		}
	}
	return highest
}

// tableRow returns a line of a table, with each cell on one line of at most 300 characters.
func tableRow(cells []string) string {
	for i, c := range cells {
		cells[i] = audit.OneLine(c, 300)
	}
	return strings.TrimSpace(fixture.TableRow(cells...))
}

// addRows returns the page with rows added to the first table of a section. It fails if the section
// or its table is missing.
func addRows(page, section string, rows []string) (string, error) {
	if len(rows) == 0 {
		return page, nil
	}
	lines := strings.Split(page, "\n")
	at := slices.IndexFunc(lines,
		func(l string) bool { return strings.TrimSpace(l) == "# "+section })
	if at < 0 {
		return "", fmt.Errorf("no section %q: expected it with the table of entries", "# "+section)
	}
	end := -1
	for i := at + 1; i < len(lines); i++ {
		isRow := strings.HasPrefix(strings.TrimSpace(lines[i]), "|")
		if end >= 0 && !isRow || strings.HasPrefix(lines[i], "# ") {
			break
		}
		if isRow {
			end = i
		}
	}
	if end < 0 {
		return "", fmt.Errorf(
			"the section %q holds no table: expected one with the heading of entries", "# "+section)
	}
	return strings.Join(slices.Insert(lines, end+1, rows...), "\n"), nil
}
