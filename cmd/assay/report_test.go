package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/postgres"
	"assay/internal/record"
	"assay/internal/store"
)

// A shell runs the built command in a folder of its own, as a person would.
type shell struct {
	t   *testing.T
	dir string
	bin string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: the command is not built")
	}
	bin, err := builtAssay()
	require.NoError(t, err)
	return &shell{t, t.TempDir(), bin}
}

// run gives both outputs and the exit status.
func (s *shell) run(stdin string, args ...string) (out, errs string, status int) {
	s.t.Helper()
	cmd := exec.Command(s.bin, args...)
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "ASSAY_DB=", "ASSAY_ROOT=")
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(s.t, err)
	}
	require.NotContains(s.t, e.String(), "goroutine ", "a panic")
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// ok runs what must succeed.
func (s *shell) ok(stdin string, args ...string) string {
	s.t.Helper()
	out, errs, status := s.run(stdin, args...)
	require.Zero(s.t, status, "%s%s", out, errs)
	return out
}

// fails runs what must not, and holds the message.
func (s *shell) fails(want string, args ...string) (out string) {
	s.t.Helper()
	out, errs, status := s.run("", args...)
	require.NotZero(s.t, status, "%s%s", out, errs)
	require.Contains(s.t, errs, want)
	return out
}

func (s *shell) house() string {
	if _, err := os.Stat(filepath.Join(s.dir, "fixtures")); err == nil {
		return s.dir
	}
	for _, name := range []string{"fixtures/projects", "fixtures/baselines",
		"fixtures/prompts", "tests"} {
		require.NoError(s.t, os.CopyFS(filepath.Join(s.dir, name),
			os.DirFS(filepath.Join("../..", name))))
	}
	tables, err := filepath.Glob("../../fixtures/*.md")
	require.NoError(s.t, err)
	for _, name := range tables {
		b, err := os.ReadFile(name)
		require.NoError(s.t, err)
		require.NoError(s.t, os.WriteFile(filepath.Join(s.dir, "fixtures", filepath.Base(name)), b,
			0o644))
	}
	return s.dir
}

// record writes one of Regression on go-test-bench into records/, changed at will.
func (s *shell) record(auditor string, day int, find func([]audit.Finding) []audit.Finding,
	change func(*record.Record)) string {
	s.t.Helper()
	fsys := os.DirFS(s.house())
	p, err := fixture.ReadProject(fsys, "fixtures/projects/go-test-bench.md")
	require.NoError(s.t, err)
	dims, err := fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
	require.NoError(s.t, err)
	g, err := fixture.ReadGoals(fsys, "fixtures/goals.md")
	require.NoError(s.t, err)
	goals, err := score.GoalsFor(p, g)
	require.NoError(s.t, err)
	res, err := score.Score(score.Input{Project: p, Findings: find(score.AsFindings(p)),
		Dimensions: dims, Rounds: 100})
	require.NoError(s.t, err)
	r := &record.Record{Date: time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC), Suite: "Regression",
		Project: p.Name, Auditor: auditor, Commit: p.Commit, Key: p.KeyHash,
		Score: score.Version, Goals: goals, Version: "1", Trials: []record.RecordedTrial{{Result: res}}}
	r.Judgement, err = score.Judge(score.Subject{Goals: goals, Now: record.ScoreTrials(r.Trials)},
		score.Rules{Deterministic: true})
	require.NoError(s.t, err)
	if change != nil {
		change(r)
	}
	name, err := r.Write(filepath.Join(s.dir, "records"))
	require.NoError(s.t, err)
	name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	return filepath.Join("records", name+".json")
}

func everything(fs []audit.Finding) []audit.Finding { return fs }
func half(fs []audit.Finding) []audit.Finding       { return fs[:len(fs)/2] }

func TestCompareRecords(t *testing.T) {
	s := newShell(t)
	whole, less := s.record("patterns", 1, everything, nil), s.record("patterns", 2, half, nil)
	root := "--root=" + s.house()

	out := s.fails("FAIL: ", "compare", root, whole, less)
	require.Contains(t, out, "lost")
	require.Regexp(t, `(?i)recall`, out)
	s.ok("", "compare", root, less, whole)
	asTold := func(name string) string { return strings.TrimSuffix(name, ".json") + ".txt" }
	s.ok("", "compare", root, asTold(less), asTold(whole))
	var d struct{ Lost []struct{ ID string } }
	require.NoError(t,
		json.Unmarshal([]byte(s.fails("FAIL", "compare", root, "-o", "json", whole, less)), &d))
	require.NotEmpty(t, d.Lost)

	// Records of other rules are refused, and scored again when that is asked for.
	old := s.record("patterns", 3, everything,
		func(r *record.Record) { r.Score, r.Trials[0].Result.Version = "0", "0" })
	s.fails("rescore", "compare", root, old, whole)
	s.ok("", "compare", root, "-rescore", old, whole)
	half1 := s.record("patterns", 6, half, nil)
	other := s.record("patterns", 4, everything,
		func(r *record.Record) {
			r.Key = strings.Repeat(
				"0", 64)
			r.Trials[0].Result.KeyHash = r.Key
		})
	s.fails("key", "compare", root, other, whole)
	s.ok("", "compare", root, "--rescore", other, whole)
	require.NotRegexp(t, `WARN +recall`, s.ok("", "compare", root, "--rescore", half1, half1),
		"goals that are stated for it by name hold for it")
	elsewhere := s.record("patterns", 5, everything, func(r *record.Record) { r.Project = "dvja" })
	s.fails("expected two of the same project", "compare", root, whole, elsewhere)

	s.fails("expected two of a kind", "compare", root, whole, "gpt")
	s.fails("absent.json", "compare", root, whole, "absent.json")
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "broken.json"),
		[]byte(`{"suite": 7`), 0o600))
	s.fails("broken.json", "compare", root, whole, "broken.json")
	s.fails("--rescore is for records", "compare", "--rescore", "a.db", "b.db")
}

// TestCompareAuditors: two names are compared over the projects that both audited, by
// their newest records.
func TestCompareAuditors(t *testing.T) {
	s := newShell(t)
	s.record("whole", 1, half, nil) // an older record of it does not count
	s.record("whole", 2, everything, nil)
	s.record("less", 2, half, nil)
	s.record("elsewhere", 2, everything,
		func(r *record.Record) { r.Project = "dvja"; r.Trials[0].Result.Project = "dvja" })
	s.record("broken", 2, half,
		func(r *record.Record) { r.Trials[0] = record.RecordedTrial{Invalid: "it crashed"} })

	out := s.ok("", "compare", "whole", "less")
	require.Regexp(t,
		`^less: \d+\.\d points of recall less \(\d+\.\d to \d+\.\d\), significant\nover 1 project, \d+ known vulnerabilities in \d+ files \(p \S+\)\n`, out)
	require.Regexp(t, `\nlost \(\d+\)\n  GTB-`, out)
	require.NotContains(t, out, "\nfound (")
	s.fails("less is worse than whole", "compare", "--fail-if", "worse", "whole", "less")
	s.ok("", "compare", "--fail-if", "worse", "less", "whole")
	out = s.ok("", "compare", "--fail-if", "worse", "less", "less")
	require.Contains(t, out, "less: 0.0 points of recall more or less (")
	s.fails("is inconclusive", "compare", "--strict", "less", "less")
	var d struct {
		Projects []struct{ AlsoA []struct{ ID string } }
	}
	require.NoError(t, json.Unmarshal([]byte(s.ok("", "compare", "-o", "json", "whole", "less")),
		&d))
	require.NotEmpty(t, d.Projects[0].AlsoA)

	s.fails("have no project in common", "compare", "whole", "elsewhere")
	s.fails(`no baseline of an auditor "broken": expected one of [`, "compare", "whole", "broken")
	s.record("less", 3, half,
		func(r *record.Record) { r.Score, r.Trials[0].Result.Version = "0", "0" })
	s.fails("rescore", "compare", "whole", "less")
	s.ok("", "compare", "--root="+s.house(), "--fail-if=never", "vulnetix", "gitleaks")
}

// results writes a database in which each model is right on all but some of the
// cases of twelve families.
func (s *shell) results(name string, wrong map[string]int) string {
	s.t.Helper()
	ctx := context.Background()
	st, err := store.Open(ctx, filepath.Join(s.dir, name))
	require.NoError(s.t, err)
	n := 0
	for model, least := range wrong {
		for f := range 12 {
			for number := 1; number <= 6; number++ {
				label := audit.Bad
				if number <= 2 {
					label = audit.Good
				}
				e := store.Evaluation{Time: time.Unix(1.7e9, 0), Model: model, Prompt: "p",
					Expected: label, Actual: string(label), App: "shop", Query: fmt.Sprint("q", f),
					Family:   fmt.Sprint("shop/q", f),
					TestFile: fmt.Sprintf("tests/shop/q%d-%02d-%s.md", f, number, label), Run: "r",
					Trial: fmt.Sprint(n), Outcome: audit.OutcomeCorrect, Status: audit.Answered,
					CaseHash: "h"}
				if f < least && number != 3 {
					e.Outcome, e.Actual = audit.OutcomeWrong, "neither"
				}
				n++
				require.NoError(s.t, st.Put(ctx, e))
			}
		}
	}
	require.NoError(s.t, st.Close())
	return name
}

func TestCompareReviewers(t *testing.T) {
	s := newShell(t)
	db := "--db=" + s.results("results.db", map[string]int{"strong": 0, "weak": 10, "middling": 1})
	out := s.fails("weak@p is worse than strong@p", "compare", "--fail-if", "worse", db,
		"strong", "weak")
	require.Regexp(t,
		`^weak@p: \d+\.\d points of balanced accuracy less \(\d+\.\d to \d+\.\d\), significant\nover 72 cases of 12 families that both were asked \(p \S+\)\n`, out)
	require.Regexp(t, `turned wrong \(50\)\n  shop/q0-01-good\n`, out)
	require.Regexp(t, `^strong@p: .* more .*, significant`, s.ok("", "compare", "--fail-if",
		"worse", db, "weak", "strong@p"))
	s.ok("", "compare", db, "strong", "weak")
	require.Contains(t, s.ok("", "compare", db, "strong", "middling"), "inconclusive")
	s.fails("is inconclusive", "compare", "-strict", db, "strong", "middling")
	s.fails(`expected one of "middling@p", "strong@p", "weak@p"`, "compare", db,
		"strong", "strongest")
	s.fails("absent.db", "compare", "--db=absent.db", "weak", "strong")
	require.Regexp(t, `^weak@p: 0.0 points of balanced accuracy more or less`, s.ok("", "compare", db, "weak", "weak@p"))
	s.record("weak", 1, half, nil)
	require.Contains(t, s.ok("", "report", db, "-o", "json", "--auditor=absent"),
		"none of 1 records is of --auditor")
	require.Contains(t, s.ok("", "report", db, "-o", "json", "--run=absent"),
		"results.db, --run absent: no evaluations")
	s.fails("results.db, --model absent: no evaluations", "compare", "--model=absent",
		"results.db", "results.db")

	// Two databases: each reviewer of both is compared with itself.
	s.results("before.db", map[string]int{"gpt": 0, "gone": 0})
	s.results("after.db", map[string]int{"gpt": 10, "new": 0})
	s.fails("gpt@p in after.db is worse than gpt@p in before.db", "compare", "--fail-if=worse",
		"before.db", "after.db")
	_, alone, _ := s.run("", "compare", "after.db", "before.db")
	require.Equal(t,
		"new@p stands in after.db alone: it is not compared\ngone@p stands in before.db alone: it is not compared\n", alone)
	s.fails("no reviewer with the same prompt in common", "compare", "results.db", "before.db")

	// As JSON they are one document, a list of one too.
	s.results("one.db", map[string]int{"strong": 10})
	s.results("two.db", map[string]int{"strong": 10, "weak": 10})
	for db, want := range map[string]int{"one.db": 1, "two.db": 2} {
		var all []struct{ A, B string }
		out := s.fails("strong@p in "+db+" is worse", "compare", "-o", "json", "--fail-if=worse",
			"results.db", db)
		require.NoError(t, json.Unmarshal([]byte(out), &all))
		require.Len(t, all, want)
		require.Equal(t, "strong@p in "+db, all[0].B)
	}
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "text.db"),
		[]byte("this is no database"), 0o600))
	s.fails("text.db", "compare", "text.db", "before.db")
}

// Two findings that no key holds are reviewed, one sitting after the other.
func TestTriageAtATerminal(t *testing.T) {
	s := newShell(t)
	root := "--root=" + s.house()
	p, err := fixture.ReadProject(os.DirFS(s.house()), "fixtures/projects/go-test-bench.md")
	require.NoError(t, err)
	used := map[string]bool{}
	for _, k := range p.Vulnerabilities {
		used[k.File] = true
	}
	var free []string // files that the key says nothing of
	for _, path := range slices.Sorted(maps.Keys(p.Tree)) {
		if strings.HasSuffix(path, ".go") && !used[path] && p.Tree[path].Lines > 20 {
			free = append(free, path)
		}
	}
	require.GreaterOrEqual(t, len(free), 2)
	strangers := func(fs []audit.Finding) []audit.Finding {
		for i, f := range free[:2] {
			fs = append(fs, audit.Finding{ID: fmt.Sprint("X-", i), CWEs: []audit.CWE{470}, File: f,
				Lines: audit.Range{Start: 3, End: 4}, Severity: audit.High,
				Title: fmt.Sprintf("stranger | %d \x1b[31m\n### heading", i), Description: "words"})
		}
		return fs
	}
	s.record("secret-tool", 1, strangers, nil)
	export := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(export, filepath.Dir(free[0])), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(export, free[0]),
		[]byte("one\ntwo\nthree\nfour\nfive\n"), 0o600))

	file := filepath.Join(s.dir, "go-test-bench.reviews.md")
	sit := func(keys string) string {
		return s.ok(keys, "triage", root, "--source="+export, "--out="+file, "--by=a | reader",
			"go-test-bench")
	}
	out := sit("t\nq\n")
	require.Contains(t, out, "1 of 2\n")
	require.NotContains(t, out, "\x1b")
	before, _, _ := strings.Cut(out, "precision ")
	require.NotContains(t, strings.Split(before, "secret_tool")[0], "secret",
		"who found it is not told before it is judged")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "CWE-470"))

	out += sit("?f") // a keystroke each
	require.Contains(t, out, "1 of 1\n")
	require.Contains(t, out, "three", "the lines around the finding whose file the export holds")
	require.Contains(t, out, "the source has no such file")
	require.Contains(t, out, " 0 still open")
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), `a \| reader`)
	require.NotContains(t, string(text), "\n### heading")
	require.Contains(t, sit(""), "2 rows in ", "nothing is left to ask")
	rows, err := fixture.ReadReviews(os.DirFS(s.dir), "go-test-bench.reviews.md", p)
	require.NoError(t, err)
	require.Equal(t, []audit.Ruling{audit.RuledTrue, audit.RuledFalse},
		[]audit.Ruling{rows[0].Ruling, rows[1].Ruling})

	s.fails("no-such", "triage", root, "no-such")
	s.fails("none of Regression on dvja", "triage", root, "dvja")
}

func TestReportAtATerminal(t *testing.T) {
	s := newShell(t)
	root := "--root=" + s.house()
	s.fails("no record in records and no results in results.db", "report")
	s.record("patterns", 1, half, nil)
	for format, want := range map[string]string{"text": "patterns",
		"csv": "Regression,go-test-bench,patterns", "json": `"auditor": "patterns"`,
		"benchfmt": "BenchmarkRegression/project=go-test-bench/auditor=patterns 1 ",
		"sarif":    `"version": "2.1.0"`} {
		require.Contains(t, s.ok("", "report", root, "-format", format), want, format)
	}
	s.fails("--format", "report", root, "-format", "pdf")
	for _, of := range []string{"--out=pages", "--single", "--serve=127.0.0.1:0"} {
		s.fails("-o csv goes to standard output", "report", root, "-o", "csv", of)
	}
	for _, of := range []string{"--out=pages", "--single"} {
		s.fails("--serve keeps pages in memory", "report", root, "--serve=127.0.0.1:none", of)
	}
	index := strings.TrimSpace(s.ok("", "report", root, "--out=pages"))
	require.Equal(t, "index.html", filepath.Base(index))
	require.FileExists(t, filepath.Join(s.dir, "pages", "projects", "go-test-bench.html"))
	require.Contains(t, s.ok("", "report", root), filepath.Join("reports", "20"))

	// Results that were named are read, or told: those of workers, and of a file.
	require.Contains(t, s.ok("", "report", root, "-o", "json",
		"--db=postgres://nobody@127.0.0.1:1/none"), "127.0.0.1:1")
	require.Contains(t, s.ok("", "report", root, "-o", "json", "--db=typo.db"),
		"typo.db is not there")

	// A record that cannot be read is told and hides no other.
	require.NoError(t,
		os.WriteFile(filepath.Join(s.dir, "records", "20260101T000000-regression-x-y.json"),
			[]byte("{"), 0o600))
	require.Contains(t, s.ok("", "report", root, "-o", "json"), "20260101T000000")
	s.fails("20260101T000000", "report", root, "--project=absent")
	s.fails(`is of --auditor "" and --project "absent"`, "report", root, "--project=absent")

	// A project whose key is gone is told once, however many records are of it.
	for day := range 3 {
		s.record("patterns", 2+day, half, func(r *record.Record) { r.Project = "gone" })
	}
	require.Equal(t, 1, strings.Count(s.ok("", "report", root, "-o", "text"),
		`there is no project "gone"`))

	// Results of audits alone are what agents leave: their run is told, and nothing is missing.
	audits := filepath.Join(s.dir, "audits.db")
	st, err := store.Open(t.Context(), audits)
	require.NoError(t, err)
	require.NoError(t, st.Begin(t.Context(), store.Run{ID: "r", Suite: "Regression",
		Started: time.Unix(0, 0), State: "running", Planned: 3}))
	require.NoError(t, st.Close())
	require.NotContains(t, s.ok("", "report", root, "-o", "text", "--db", audits), "no evaluations")
	page, err := os.ReadFile(filepath.Join(s.dir,
		strings.TrimSpace(s.ok("", "report", root, "--db", audits))))
	require.NoError(t, err)
	require.Contains(t, string(page),
		"Regression of 1970-01-01 00:00:00 UTC, 3 trials, has not ended")

	// A results.db that cannot be read does not hide the records either.
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "results.db"),
		[]byte("this is no database"), 0o600))
	out := s.ok("", "report", root, "-o", "json")
	require.Contains(t, out, `"auditor": "patterns"`)
	require.Contains(t, out, "file is not a database")
	require.Contains(t, s.ok("", "report", root, "-o", "text"), "file is not a database")
}

// What others may have put in a results.db: nothing panics, what can be shown is,
// and what cannot is told with its place.
func TestReportOfStrangeResults(t *testing.T) {
	s := newShell(t)
	seven := "CREATE TABLE evaluations (id INTEGER PRIMARY KEY, timestamp, test_file, model_name, expected_result, actual_result, explanation);"
	for _, c := range []struct{ name, sql, want, fails string }{
		{"empty file", "", "", "no table evaluations"},
		{"no row", seven, "", "no evaluations"},
		{"another table", "CREATE TABLE evals (id INTEGER)", "", "a database of something else"},
		{"a column short",
			"CREATE TABLE evaluations (id INTEGER PRIMARY KEY, timestamp, test_file, model_name)",
			"", "a database of something else"},
		{"other words",
			seven + "INSERT INTO evaluations VALUES (1, '', 'a/b-01-good.md', 'm', 'vulnerable', 'safe', '')", "", `expected_result "vulnerable": expected good or bad`},
		{"all NULL", seven + "INSERT INTO evaluations (id) VALUES (1), (2)", "",
			"expected good or bad"},
		{"one good row among NULLs",
			seven + "INSERT INTO evaluations (id) VALUES (1); INSERT INTO evaluations VALUES (2, NULL, 'a/b-01-good.md', 'm', 'good', 'good', NULL)", "m", ""},
		{"words of all scripts",
			seven + "INSERT INTO evaluations VALUES (1, 'soon', 'tests/shöp/😀-01-good.md', '模型 🦊', 'Good ', ' GOOD', char(8238) || char(0) || 'x')", "模型 🦊", ""},
		{"no file named",
			seven + "INSERT INTO evaluations VALUES (1, 0, '', '', 'good', 'good', ''), (2, 0, '/', 'm', 'bad', 'bad', ''), (3, 0, '..', 'm', 'bad', 'bad', ''), (4, 0, '../../../etc/passwd', 'm', 'bad', 'bad', '')", "m", ""},
		{"a later form",
			seven + "ALTER TABLE evaluations ADD trial_key; ALTER TABLE evaluations ADD outcome; ALTER TABLE evaluations ADD colour; INSERT INTO evaluations VALUES (1, '', 'a/b-01-good.md', 'm', 'good', 'good', '', 'k', 'abstained', 'red'), (2, '', 'a/b-01-good.md', 'm', 'good', 'good', '', 'k', 'correct', 'red')", "m", ""},
		{"text for numbers",
			seven + "ALTER TABLE evaluations ADD outcome; ALTER TABLE evaluations ADD usd; ALTER TABLE evaluations ADD confidence; INSERT INTO evaluations VALUES (1, '', 'a/b-01-good.md', 'm', 'good', 'good', '', 'correct', 'dear', 17), (2, '', 'a/b-03-bad.md', 'm', 'bad', 'bad', '', 'correct', 'NaN', -1)", "m", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &shell{t, t.TempDir(), s.bin}
			db, err := sql.Open("sqlite", filepath.Join(s.dir, "results.db"))
			require.NoError(t, err)
			_, err = db.Exec("PRAGMA user_version = 9; " + c.sql)
			require.NoError(t, err)
			require.NoError(t, db.Close())
			for _, format := range []string{"html", "text", "csv", "json", "benchfmt"} {
				if c.fails != "" {
					s.fails(c.fails, "report", "--format="+format)
					continue
				}
				out := s.ok("", "report", "--format="+format)
				if format == "html" {
					b, err := os.ReadFile(filepath.Join(s.dir, strings.TrimSpace(out)))
					require.NoError(t, err)
					out = string(b)
				}
				if format == "benchfmt" {
					continue // figures of few answers are undefined and left out
				}
				require.Contains(t, out, c.want, format)
			}
		})
	}
}

// What workers stored is reported from their PostgreSQL.
func TestReportOfPostgres(t *testing.T) {
	s := newShell(t)
	dsn, stop, err := postgres.Start()
	if errors.Is(err, postgres.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(stop)
	dsn = strings.Replace(dsn, "@", ":hush@", 1) // which the server does not ask for
	st, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	for _, args := range [][]string{{"report"}, {"baseline", "--bench=of-workers"},
		{"compare", "--of=reviewers", "a", "b"}} {
		_, errs, status := s.run("", append(args, "--db="+dsn)...)
		require.Equal(t, 1, status, errs)
		require.Contains(t, errs, "postgres://")
		require.NotContains(t, errs, "hush")
	}
	require.NoError(t, st.Put(t.Context(), store.Evaluation{Time: time.Unix(1.7e9, 0),
		Model: "of-workers", Prompt: "p", Expected: audit.Good, Actual: "good", App: "shop",
		Query: "q", Family: "shop/q",
		TestFile: "tests/shop/q-01-good.md", Run: "r", Trial: "1", Outcome: audit.OutcomeCorrect,
		Status: audit.Answered, CaseHash: "h"}))
	require.NoError(t, st.Close())
	require.Contains(t, s.ok("", "report", "-o", "csv", "--db="+dsn), "of-workers")
	out, errs, _ := s.run("", "compare", dsn, dsn)
	require.Contains(t, out+errs, "of-workers@p in postgres://")
	require.NotContains(t, out+errs, "hush")
}
