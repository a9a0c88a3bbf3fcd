package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/suite"
)

type triageCmd struct {
	Project string   `arg:"" help:"Name of a project of fixtures/projects."`
	Root    string   `help:"Folder with fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Records []string `help:"Records whose findings are reviewed; default: the newest of each auditor below records/." type:"existingfile"`
	Source  string   `help:"A sealed export of the project, as assay fetch writes it, for the code around a finding; default: the clone that a live run or assay fetch brought, if there is one." type:"existingdir"`
	By      string   `help:"Who rules." env:"USER"`
	Out     string   `help:"File of reviews that rows are added to; default: fixtures/projects/<project>.reviews.md." type:"path"`
	Serve   string   `help:"Ask in a browser, at this address of this machine." placeholder:"127.0.0.1:PORT"`
}

// Run shows findings for review without the auditor's name, which could bias the ruling.
func (c *triageCmd) Run(ctx context.Context) error {
	fsys, err := suite.Checkout(c.Root)
	if err != nil {
		return err
	}
	dims, err := fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
	if err != nil {
		return err
	}
	_, p, err := suite.Project(fsys, c.Project)
	if err != nil {
		return err
	}
	if p.Planted {
		return fmt.Errorf(
			"%s is planted: its reviews name files and functions as source/ does, whatever a draw calls them: write them into fixtures/planted/<project>/reviews.md", c.Project)
	}
	out := c.Out
	if out == "" {
		out = filepath.Join(c.Root, "fixtures/projects", c.Project+".reviews.md")
	} else if p.Reviews, err = fixture.ReadReviews(audit.PlainFiles(os.DirFS(filepath.Dir(out))), filepath.Base(out), p); err != nil {
		return err
	}
	rs, err := c.records()
	if err != nil {
		return err
	}
	t := &triage{project: p, dims: dims, by: cmp.Or(c.By, "a reader"),
		in: bufio.NewReader(os.Stdin), to: stdout}
	if c.Source != "" {
		export, err := os.OpenRoot(c.Source)
		if err != nil {
			return err
		}
		defer export.Close()
		t.source = func(name string) ([]byte,
			error) {
			return export.ReadFile(filepath.FromSlash(name))
		}
	} else if clone := suite.Held(ctx, p); clone != nil {
		t.source = func(name string) ([]byte, error) { return clone.File(ctx, name) }
	}
	before, err := t.rescore(rs)
	if err != nil {
		return err
	}
	if c.Serve != "" {
		err = t.serve(ctx, c.Serve, before, out)
	} else {
		err = t.run(ctx, before, out)
	}
	if err != nil {
		return err
	}
	after, err := t.rescore(rs)
	if err != nil {
		return err
	}
	t.sum(before, after, out)
	return nil
}

// rescore scores the records again with the present reviews.
func (t *triage) rescore(rs []*record.Record) ([]*record.Record, error) {
	out := make([]*record.Record, len(rs))
	for i, r := range rs {
		var err error
		if out[i], err = report.Rescore(r, t.project, t.dims, r.Goals); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// records returns the named records, or the newest valid one of each auditor.
func (c *triageCmd) records() ([]*record.Record, error) {
	var rs []*record.Record
	if len(c.Records) > 0 {
		for _, name := range c.Records {
			r, err := readRecord(name)
			if err != nil {
				return nil, err
			}
			rs = append(rs, r)
		}
		return rs, nil
	}
	all, err := record.ReadAll(under(c.Root, "records"))
	if err != nil {
		fmt.Fprintln(stderr, err)
	}
	newest := map[string]*record.Record{}
	for _, r := range all {
		if r.Suite == "Regression" && r.Project == c.Project && len(r.Counting()) > 0 {
			newest[r.Auditor] = r
		}
	}
	for _, name := range slices.Sorted(maps.Keys(newest)) {
		rs = append(rs, newest[name])
	}
	if len(rs) == 0 {
		return nil, fmt.Errorf("%s: none of Regression on %s: expected one, or --records",
			under(c.Root, "records"), c.Project)
	}
	return rs, nil
}

type triage struct {
	project *audit.Project
	dims    map[audit.CWE]audit.Dimension
	by      string
	source  func(path string) ([]byte, error) // nil without an export and a clone
	in      *bufio.Reader
	to      io.Writer
}

var errStop = errors.New("stop")

// run asks about the findings on the terminal.
func (t *triage) run(ctx context.Context, rs []*record.Record, out string) error {
	restore := keystrokes(os.Stdin)
	defer restore()
	cs := report.Candidates(rs)
	for i, c := range cs {
		if score.Ruled(t.project, t.dims, &c) {
			continue // by a row of this sitting
		}
		fmt.Fprintf(t.to, "\n%d of %d\n%s", i+1, len(cs), report.Show(&c))
		fmt.Fprint(t.to, t.code(&c))
		v, err := t.ask(ctx, &c)
		switch {
		case errors.Is(err, errStop):
			return nil
		case err != nil:
			return err
		case v == nil:
			continue
		}
		if err := t.add(out, v); errors.Is(err, errNoRow) {
			fmt.Fprintln(t.to, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// ask asks for the ruling on one finding. It returns nil if the finding is skipped.
func (t *triage) ask(ctx context.Context, c *score.Scored) (*audit.FindingReview, error) {
	near := report.Nearest(c, t.project)
	for i, k := range near {
		fmt.Fprintf(t.to, "  %d  %s %s:%s %s\n", i+1, k.ID, k.File, k.Lines, k.Title)
	}
	for {
		fmt.Fprint(t.to, "[t]rue, [f]alse, [a]rguable, ")
		if len(near) > 0 {
			fmt.Fprintf(t.to, "[1-%d] the same flaw as that entry, ", len(near))
		}
		fmt.Fprint(t.to, "[s]kip, [q]uit: ")
		key, err := t.key(ctx)
		if err != nil {
			return nil, errStop
		}
		fmt.Fprintf(t.to, "%c\n", key)
		if key == 'q' {
			return nil, errStop
		}
		if v, err := t.answer(c, near, key); err == nil {
			return v, nil
		}
	}
}

// key passes over blanks and line ends. After an interrupt the next key is no ruling any more.
func (t *triage) key(ctx context.Context) (rune, error) {
	for {
		pressed := make(chan rune, 1)
		go func() {
			defer close(pressed)
			if r, _, err := t.in.ReadRune(); err == nil {
				pressed <- r
			}
		}()
		select {
		case r, ok := <-pressed:
			if !ok || r == 4 || ctx.Err() != nil { // ^D
				return 0, errStop
			}
			if r > ' ' && r < 127 {
				return unicode.ToLower(r), nil
			}
		case <-ctx.Done():
			return 0, errStop
		}
	}
}

// code returns the source around a finding.
func (t *triage) code(s *score.Scored) string {
	if t.source == nil || s.Path == "" {
		return ""
	}
	b, err := t.source(s.Path)
	if err != nil {
		return fmt.Sprintf("the source has no such file: %v\n", err)
	}
	return report.Around(string(b), s.Finding.Lines)
}

// errNoRow says that a row cannot be read back (a range of 200 lines), and is left out.
var errNoRow = errors.New("no row")

// add adds a row to the file of reviews.
func (t *triage) add(out string, v *audit.FindingReview) error {
	b, err := os.ReadFile(out)
	page := string(b)
	if errors.Is(err, fs.ErrNotExist) {
		page, err = fmt.Sprintf(
			"# Reviews\n\nWhat auditors reported of %s beside its key, and what people ruled.\n\n%s", t.project.Title, fixture.FormatReviews(nil)), nil
	}
	if err == nil {
		page, err = addRows(page, "Reviews", []string{strings.TrimSpace(fixture.FormatReview(v))})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", out, err)
	}
	var bad error
	err = replaceChecked(out, page, func(dir fs.FS, name string) error {
		var rows []audit.FindingReview
		if rows, bad = fixture.ReadReviews(dir, name, t.project); bad == nil {
			t.project.Reviews = rows
		}
		return bad
	})
	if bad != nil {
		return fmt.Errorf("%w: %w", errNoRow, bad)
	}
	return err
}

// sum prints the precision before and after the reviews.
func (t *triage) sum(before, after []*record.Record, out string) {
	for k, r := range after {
		for i, tr := range r.Trials {
			if tr.Invalid == "" {
				m := tr.Result.Metrics
				fmt.Fprintf(t.to,
					"%s, trial %d: precision %v; with these reviews %v, %d still open\n", r.Name(),
					i+1,
					before[k].Trials[i].Result.Metrics.Precision, m.Precision, m.Unmatched.Open+
						m.WrongLocation.Open)
			}
		}
	}
	fmt.Fprintf(t.to, "%d rows in %s\n", len(t.project.Reviews), out)
}
