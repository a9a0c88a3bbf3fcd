package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/score"
	"assay/internal/report"
	"assay/internal/store"
)

// pulled is a run in which an agent lost what it had, with a name and titles that
// would be markup.
func pulled() *report.Pull {
	at := func(line int) audit.Pos {
		return audit.Pos{File: "fixtures/projects/dvja.md",
			Line: line}
	}
	return &report.Pull{Verdict: audit.Fail, Replays: 55,
		Same: []string{"static on club (WARN: nothing of the key was found)",
			"static on the cases"}, Link: "https://ci.example/run/1#artifacts",
		Moved: []report.Moved{
			{Who: "my-agent on dvja", Verdict: audit.Fail,
				Says: "recall 61.2 %, was 70.1 %: a drop of 8.9 points (3.1 to 14.8), settled",
				Took: "$1.20, 12m3s", Pos: at(1),
				Lost: []report.LostEntry{{"DVJA-12", "SQL injection in the search", at(31)},
					{"DVJA-3", "<script>alert(1)</script> | @everyone #1", at(22)},
					{"DVJA-7", "", at(26)}, {"DVJA-9", "", at(28)}, {"DVJA-10", "", at(29)}}},
			{Who: "evil\n### FAKE", Verdict: audit.Invalid,
				Says: "the run proves nothing: it crashed, 50% through",
				Pos:  audit.Pos{File: "elsewhere.md", Line: 3}},
			{Who: "gpt on the cases", Verdict: audit.Warn,
				Says: "balanced accuracy 80.0 %, was 82.0 %: a drop of 2.0 points (-1.0 to 5.0), not settled: 2 more trials", Took: "$0.40",
				Lost: []report.LostEntry{{"shop/q-03-bad", "",
					audit.Pos{File: "tests/shop/q-03-bad.md", Line: 1}}}},
			{Who: "better on dvja", Verdict: audit.Pass,
				Says: "recall 71.2 %, was 70.1 %: a gain of 1.1 points (0.2 to 2.0)"},
		}}
}

// inRepository calls every file but one by its name.
func inRepository(p audit.Pos) string {
	if p.File == "elsewhere.md" {
		return ""
	}
	return "sub/" + p.File
}

// TestPullIsTold: what a pull request is told is what the golden files hold, byte by
// byte. ASSAY_UPDATE=1 writes them.
func TestPullIsTold(t *testing.T) {
	p := pulled()
	for name, write := range map[string]func(io.Writer) error{
		"pull.md":     p.Markdown,
		"pull.github": func(w io.Writer) error { return p.GitHub(w, inRepository) },
		"pull.gitlab": func(w io.Writer) error { return p.GitLab(w, inRepository) },
	} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		file := filepath.Join("testdata", name)
		if os.Getenv("ASSAY_UPDATE") != "" {
			require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), b.String(), file)
	}
	var b bytes.Buffer
	require.NoError(t, p.GitLab(&b, inRepository))
	var issues []struct{ Fingerprint string }
	require.NoError(t, json.Unmarshal(b.Bytes(), &issues))
	seen := map[string]bool{}
	for _, i := range issues {
		require.False(t, seen[i.Fingerprint], "GitLab drops what has the same fingerprint")
		seen[i.Fingerprint] = true
	}
	b.Reset()
	require.NoError(t, p.SARIF(&b, inRepository))
	r, err := findings.Read("pull.sarif", bytes.NewReader(b.Bytes()), findings.ReadOptions{})
	require.NoError(t, err)
	require.Len(t, r.Findings, 4,
		"three that were lost, and the case; what is in no file is left out")
	require.Equal(t, "sub/fixtures/projects/dvja.md", r.Findings[0].File)
	require.Equal(t, 31, r.Findings[0].Lines.Start)
}

// TestPullAsItIsSeen renders the comment as GitHub's Markdown does, in a browser:
// the names of others are no markup, and what was lost is a list.
func TestPullAsItIsSeen(t *testing.T) {
	b := browser(t)
	var text, html bytes.Buffer
	require.NoError(t, pulled().Markdown(&text))
	require.NoError(t, goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert(text.Bytes(),
		&html))
	file := filepath.Join(t.TempDir(), "comment.html")
	require.NoError(t,
		os.WriteFile(file,
			[]byte("<!doctype html><meta charset=utf-8><body style='max-width:880px'>"+
				html.String()), 0o644))
	b.open(t, file, 900)
	count := func(selector string) int {
		return eval[int](t, b, "document.querySelectorAll('"+
			selector+"').length")
	}
	require.Equal(t, 1, count("h1, h2, h3"), "one head, whatever anybody is called")
	require.Zero(t, count("script, img, table"))
	require.Equal(t, 4+1, count("li"), "three that were lost and the rest counted, and one case")
	require.Equal(t, 4, count("strong"))
	require.Equal(t, "https://ci.example/run/1#artifacts",
		eval[string](t, b, "document.querySelector('a').href"))
	require.Equal(t, 1, count("a"))
	seen := eval[string](t, b, "document.body.innerText")
	require.Contains(t, seen,
		"FAIL my-agent on dvja: recall 61.2 %, was 70.1 %: a drop of 8.9 points (3.1 to 14.8), settled ($1.20, 12m3s)")
	require.Contains(t, seen, "<script>alert(1)</script>")
	require.LessOrEqual(t, eval[int](t, b, "document.body.scrollHeight"), 900, "it is one screen")
}

// TestPullOf: records and results become the comment: a drop with its interval and
// what was lost, what stayed in a line.
func TestPullOf(t *testing.T) {
	in := sample(t)
	in.Held = report.Held{Fixtures: os.DirFS("../.."),
		Deterministic: func(string) bool { return false }}
	p, err := report.PullOf(&in, "")
	require.NoError(t, err)
	require.NotEmpty(t, slicesOf(p))
	var b strings.Builder
	require.NoError(t, p.Markdown(&b))
	require.True(t, strings.HasPrefix(b.String(), report.PullMark+"\n### Assay: "))
	require.NotContains(t, b.String(), "[Report]")
	j := score.Judgement{Verdict: score.AsRecorded}
	in.Records[0].Judgement, in.Records, in.Results = j, in.Records[:1], nil
	p, err = report.PullOf(&in, "")
	require.NoError(t, err)
	require.Equal(t, 1, p.Replays)
	b.Reset()
	require.NoError(t, p.Markdown(&b))
	require.Equal(t,
		report.PullMark+"\n### Assay: PASS\n\nNothing changed.\n\nUnchanged: 1 recording.\n",
		b.String())
	in.Records[0].Control = "reads no code"
	p, err = report.PullOf(&in, "")
	require.NoError(t, err)
	b.Reset()
	require.NoError(t, p.Markdown(&b))
	require.Contains(t, b.String(), "Unchanged: 1 record of controls.\n")
}

func slicesOf(p *report.Pull) (all []string) {
	for _, m := range p.Moved {
		all = append(all, m.Who)
	}
	return append(all, p.Same...)
}

// What could not be read stands in the comment and its annotations: it may be the record
// that fails.
func TestPullTellsWhatCouldNotBeRead(t *testing.T) {
	p, err := report.PullOf(&report.SiteInput{Notes: []string{"a.json: unexpected end of JSON input"}},
		"")
	require.NoError(t, err)
	require.Equal(t, audit.Warn, p.Verdict)
	at := func(audit.Pos) string { return "" }
	var comment, github, gitlab bytes.Buffer
	require.NoError(t, p.Markdown(&comment))
	require.Contains(t, comment.String(), "\nNote: a.json: unexpected end of JSON input\n")
	many := report.Pull{Notes: slices.Repeat(p.Notes, 25)}
	comment.Reset()
	require.NoError(t, many.Markdown(&comment))
	require.Equal(t, 20, strings.Count(comment.String(), "\nNote: "))
	require.Contains(t, comment.String(), "\nand 5 notes more\n")
	require.NoError(t, p.GitHub(&github, at))
	require.Equal(t, "::warning title=Assay%3A WARN::note: a.json: unexpected end of JSON input\n",
		github.String())
	require.NoError(t, p.GitLab(&gitlab, at))
	require.Contains(t, gitlab.String(),
		`"description": "note: a.json: unexpected end of JSON input"`)
}

// Who answered as many cases as there are, one of them gone since, was not asked every
// case: it is not judged, as Bench would not judge it.
func TestAnswersToCasesThatAreGone(t *testing.T) {
	corpus := readCorpus(t)
	byID := report.CasesOf(corpus.Apps)
	var evs []store.Evaluation
	for i, c := range corpus.Cases() {
		e := mockModels[0].answer(c, 0.5, 0)
		if i == 0 {
			e.TestFile, e.Query = "tests/"+c.App+"/gone-01-good.md", "gone"
			e.Expected = audit.Good
		}
		evs = append(evs, e)
	}
	in := report.SiteInput{Results: answered(t, evs, report.Key{Cases: byID}), Apps: corpus.Apps,
		Held: report.Held{Fixtures: fstest.MapFS{},
			Deterministic: func(string) bool { return false }}}
	p, err := report.PullOf(&in, "")
	require.NoError(t, err)
	require.Empty(t, p.Moved)
	require.Equal(t, []string{fmt.Sprintf("%s on the cases (asked %d of %d: not judged)",
		mockModels[0].name, len(byID)-1, len(byID))}, p.Same)
}
