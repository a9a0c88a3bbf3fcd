package findings

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"assay/audit"
)

var noPos = cmpopts.IgnoreFields(audit.Finding{}, "Pos")

func TestTextRoundTrip(t *testing.T) {
	want := []audit.Finding{
		{ID: "F-01", RuleID: "sql.concat", CWEs: []audit.CWE{89, 564}, Severity: audit.Critical,
			Dimension: audit.Injection,
			File:      "src/main/A.java", Function: "findByLogin",
			Lines: audit.Range{Start: 70, End: 74}, Title: "HQL injection | in [login] `x`",
			Description: "The parameter *login* is pasted: CWE-1 is <b>not</b> meant. File: other.java:3", Confidence: 0.8,
			Trace: []audit.Step{{File: "src/main/C.java", Lines: audit.Range{Start: 3, End: 3},
				Note: "source"}, {File: "src/main/A.java", Lines: audit.Range{Start: 70, End: 70},
				Note: "sink"}},
			Others: []audit.Step{{File: "src/main/B.java", Lines: audit.Range{Start: 9, End: 11},
				Note: "again"}}},
		{ID: "F-02", CWEs: []audit.CWE{502}, Severity: audit.High, File: `C:\app\src\__init__.py`,
			Lines: audit.Range{Start: 5, End: 5}, Title: "Pickle"},
		{ID: "F-03", CWEs: []audit.CWE{798}, File: "conf/app.yml", Title: "No severity",
			Suppressed: "test data"},
	}
	var buf bytes.Buffer
	require.NoError(t, WriteText(&buf, TextReport{Root: "/src/app", Tool: "probe", Version: "1.2",
		Coverage: []audit.Dimension{audit.Injection, audit.DataExposure}, Findings: want}))
	rep, err := Read("r.md", bytes.NewReader(buf.Bytes()), ReadOptions{})
	require.NoError(t, err, buf.String())
	if d := cmp.Diff(want, rep.Findings, noPos); d != "" {
		t.Fatalf("(-want +got)\n%s\n%s", d, buf.String())
	}
	require.Empty(t, rep.Problems)
	require.True(t, rep.Header && rep.Sentinel)
	require.Equal(t, "/src/app", rep.Root)
	require.Equal(t, "probe 1.2", rep.Tool+" "+rep.Version)
	require.Equal(t, []audit.Dimension{audit.Injection, audit.DataExposure}, rep.Coverage)
	for _, word := range []string{"HEADER START", "HEADER END", "COVERAGE", "STATS", "SENTINEL"} {
		require.Contains(t, buf.String(), word)
	}
	require.True(t, strings.HasSuffix(buf.String(), SentinelLine+"\n"))
}

// TestNotSuppressed: a column that says that nothing is withdrawn withdraws nothing.
func TestNotSuppressed(t *testing.T) {
	for _, doc := range []string{head +
		"| ID | CWE | File | Suppressed |\n|---|---|---|---|\n| F-1 | 1 | a.c:1 | No |\n| F-2 | 1 | a.c:2 | test code |\n" + tail,
		`[{"file": "a.c", "cwe_ids": ["CWE-1"], "suppressed": "false"}, {"file": "a.c", "cwe": 1, "suppressed": "test code"}]`} {
		rep, err := Read("r", strings.NewReader(doc), ReadOptions{})
		require.NoError(t, err)
		require.Empty(t, rep.Problems)
		require.Equal(t, []audit.CWE{1}, rep.Findings[0].CWEs)
		require.Equal(t, []string{"", "test code"}, []string{rep.Findings[0].Suppressed,
			rep.Findings[1].Suppressed})
	}
}

// TestTextRoundTripAny writes and reads findings whose texts are anything at all.
func TestTextRoundTripAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(anyFinding(), 0, 6).Draw(t, "findings")
		number(want)
		root := anyText.Draw(t, "root")
		roundTrip(t, TextReport{Root: root, Tool: anyText.Draw(t, "tool"),
			Version: anyText.Draw(t, "version"), Coverage: audit.Dimensions(), Findings: want})
	})
}

// TestTextRoundTripLost writes and reads what once was lost or changed, each text
// in every place that holds one.
func TestTextRoundTripLost(t *testing.T) {
	for _, s := range nastyTexts {
		t.Run(fmt.Sprintf("%.20q", s), func(t *testing.T) {
			place := audit.Step{File: s, Lines: lines(3, 3)}
			f := audit.Finding{ID: s, RuleID: s, File: s, Function: s, Title: s, Description: s,
				Suppressed: s, Lines: lines(3, 4),
				Trace: []audit.Step{place, {File: s}, {File: s, Note: s}, {Note: s},
					{File: "a.c", Lines: lines(1, 1), Note: s}}, Others: []audit.Step{place,
					{Note: s}, {Lines: lines(2, 2)}}}
			roundTrip(t, TextReport{Root: s, Tool: s, Version: s, Coverage: audit.Dimensions(),
				Findings: []audit.Finding{f, f, {ID: "F-1", Title: s}, {ID: "F-2", File: s}, f}})
		})
	}
}

// TestTextRoundTripLong: no line is too long for the reader.
func TestTextRoundTripLong(t *testing.T) {
	f := audit.Finding{ID: "F-1", CWEs: []audit.CWE{1}, File: "a.c",
		Title: strings.Repeat("long", 30_000), Description: strings.Repeat("long ", 20_000)}
	roundTrip(t, TextReport{Coverage: audit.Dimensions(), Findings: []audit.Finding{f}})
}

// roundTrip holds the writer to its word: what is read is what was written.
func roundTrip(t require.TestingT, want TextReport) {
	var buf bytes.Buffer
	require.NoError(t, WriteText(&buf, want))
	rep, err := Read("r.md", bytes.NewReader(buf.Bytes()), ReadOptions{})
	require.NoError(t, err)
	if d := cmp.Diff(want.Findings, append([]audit.Finding{}, rep.Findings...), noPos); d != "" {
		t.Errorf("(-want +got)\n%s\n%s", d, buf.String())
		t.FailNow()
	}
	require.Equal(t, []string{want.Root, want.Tool, want.Version},
		[]string{rep.Root, rep.Tool, rep.Version})
	require.True(t, rep.Header && rep.Sentinel)
	require.Empty(t, rep.CutShort)
	require.Equal(t, want.Coverage, rep.Coverage)
	// prose with a CWE in it, and no place at all are told, and harmless
	for _, p := range rep.Problems {
		require.Regexp(t, "in prose alone|names neither a file nor a CWE", p.What)
	}
}

var nastyTexts = []string{"Details", "Findings", "source/app.py", "type/index.ts",
	"status/handler.go", "also/in.go", "Makefile", "a.c:12", "a.c:12-18", "a.c, b.c:3",
	"a b/c d.go", `C:\app\new.cs`, `\\server\x`, "a|b", "`a`", "``` x",
	"```", "~~~", "x ` y", "**bold**", "# x", "x #", "- x", "1. x", "> x", "| a | b |", "|---|---|",
	"---", "a\nb", "a\r\nb", "\n", " a", "a ", "a  b", "\t", "\x00\x1b[31mred", "\x7f", "\xff\xfe",
	"\u202eevil\u202c", "\u200b", "\ufeffx",
	"é漏洞", "e\u0301", "☺\ufe0f", "\u00a0x\u3000", `"`, `"a"`, `"a":3`, `"a" b`, `\"`, `"\x`, "'",
	"none", "-", "N/A", "?", "HIGH", "[HIGH] x", "x (CWE-89)", "CWE-79", "F-01: x", "[F-01] x",
	"1.2 x", "high: x", "Injection", "D1 Injection",
	"=== SENTINEL: AUDIT COMPLETE ===", "SENTINEL", "[SENTINEL] END", "=== HEADER END ===",
	"HEADER START", "Severity: LOW", "x; CWE: 89", "x | File: a.c", "x - Line: 3", "a -> b",
	"a.c:1 → b.c:2", "com.x.A.b(String)", "a, b", "f()", "A::b",
	"[a](b.c#L3)", "[a](1)", "<b>x</b>", "<br>", "<a", "&amp;", "http://h/p?q=1", "file:///a%20b",
	"https://h/o/r/blob/main/a.c#L3", "#1", "#", "##", "01", "COVERAGE: Auth", "STATS: findings=9",
	"suppressed: x", "no", "False", "false positive", "/", "..", "\u2028",
	strings.Repeat("long ", 100)}

var anyText = rapid.OneOf(rapid.String(), rapid.SampledFrom(nastyTexts),
	rapid.Map(rapid.SliceOfN(rapid.SampledFrom(nastyTexts), 2, 3),
		func(s []string) string { return strings.Join(s, " ") }),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))

// anyFinding makes findings with any texts; numbers and words are what they may be.
func anyFinding() *rapid.Generator[audit.Finding] {
	return rapid.Custom(func(t *rapid.T) audit.Finding {
		f := findingGen("[a-z]{1,5}(/[a-z]{1,5}){0,3}(\\.[a-z]{1,4})?").Draw(t, "plain")
		for _, to := range []*string{&f.ID, &f.RuleID, &f.File, &f.Function, &f.Title,
			&f.Description, &f.Suppressed} {
			if rapid.Bool().Draw(t, "any") {
				*to = anyText.Draw(t, "text")
			}
		}
		if rapid.Bool().Draw(t, "no CWE") {
			f.CWEs = nil
		}
		f.Confidence = rapid.Float64Range(0, 1).Draw(t, "confidence")
		for i := range f.Trace {
			f.Trace[i].File, f.Trace[i].Note = anyText.Draw(t, "step"), anyText.Draw(t, "note")
		}
		for range rapid.IntRange(0, 2).Draw(t, "others") {
			f.Others = append(f.Others, audit.Step{File: anyText.Draw(t, "other"),
				Note: anyText.Draw(t, "why")})
		}
		return f
	})
}

// TestTextTruncated cuts a report at every byte before its SENTINEL: none of the
// pieces may pass for whole.
func TestTextTruncated(t *testing.T) {
	var buf bytes.Buffer
	f := audit.Finding{CWEs: []audit.CWE{89}, File: "SENTINEL.java", Lines: lines(1, 2),
		Title: "SENTINEL", Description: "=== SENTINEL",
		Trace: []audit.Step{{File: "a.c", Note: "SENTINEL"}}}
	require.NoError(t,
		WriteText(&buf, TextReport{Root: "SENTINEL", Findings: []audit.Finding{f, f}}))
	whole := buf.Bytes()
	for n := range bytes.LastIndex(whole, []byte("=== SENTINEL")) + len("=== SENTINE") {
		rep, err := Read("r.md", bytes.NewReader(whole[:n]), ReadOptions{})
		if err == nil || rep.Sentinel || n > 80 && (!errors.Is(err, ErrTruncated) ||
			rep.CutShort == "") {
			t.Fatalf("cut at %d: %v, %q", n, err, rep.CutShort)
		}
	}
}
