package auditor_test

import (
	"strings"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func readAnswer(reply string) audit.Review { return auditor.ReadReply(reply) }

func TestReadAnswer(t *testing.T) {
	documented := 0
	for _, s := range shapes {
		require.NotEmpty(t, s.source, s.name)
		if strings.HasPrefix(s.source, "https://") {
			documented++
		}
	}
	require.GreaterOrEqual(t, documented, 60, "shapes whose source can be looked up")
	seen := map[string]bool{}
	for _, s := range shapes {
		require.False(t, seen[s.name], "two shapes named %s", s.name)
		seen[s.name] = true
		t.Run(s.name, func(t *testing.T) {
			for _, reply := range []string{s.reply, strings.ReplaceAll(s.reply, "\n", "\r\n")} {
				r := readAnswer(reply)
				got := string(r.Status)
				if r.Status == audit.Answered {
					got = string(r.Verdict)
					require.Empty(t, r.Detail)
				} else {
					require.NotEmpty(t, r.Detail, "who gives no verdict is told why")
					require.Empty(t, r.Verdict)
				}
				require.True(t, means(s.want, got), "want %s, got %s: %s: %s", s.want, got,
					s.source, r.Detail)
				require.Empty(t, cmp.Diff(s.violates, r.Violates), "-want +got")
				require.Empty(t, cmp.Diff(s.cwes, r.CWEs), "-want +got")
				require.Equal(t, reply, r.Raw)
			}
		})
	}
}

// Every prefix of an answer is malformed or, from its last brace on, the answer:
// a cut never turns one verdict into the other, and never makes one up.
func TestNoPrefixIsAnswered(t *testing.T) {
	for _, whole := range []string{
		`{"verdict":"bad","explanation":"uses ${x} and {y}, \"quoted\" }","violated_requirements":[2],"cwes":["CWE-89"]}`,
		"```json\n{\n  \"explanation\": \"a } b\",\n  \"verdict\": \"bad\"\n}",
		`{'verdict': 'bad', 'explanation': 'a } b', 'cwes': ['CWE-1']}`,
	} {
		require.Equal(t, audit.Bad, readAnswer(whole).Verdict, whole)
		for i := range len(whole) {
			r := readAnswer(whole[:i])
			require.Equal(t, audit.Malformed, r.Status, "%q", whole[:i])
		}
	}
}

func TestLongReplies(t *testing.T) {
	require.Equal(t, audit.Malformed, readAnswer(strings.Repeat("x", 2<<20)).Status)
	for _, unit := range []string{"{", "}", "{\"", "'", "<think>", "[", "{}", "{'a':"} {
		readAnswer(strings.Repeat(unit, 200_000/len(unit)))
	}
}

// No reply takes long to read: one that was made for it would hold a run up. The
// slowest of these took three minutes once.
func TestHostileReplies(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: megabytes of each")
	}
	const n = 1 << 20
	for name, reply := range map[string]string{
		"nested":               strings.Repeat(`{"a":`, n/6) + strings.Repeat("}", n/6),
		"nested, to be mended": strings.Repeat(`{'a':`, n/6) + strings.Repeat("}", n/6),
		"arrays": `{"verdict":` + strings.Repeat("[", n/2-20) + strings.Repeat(
			"]", n/2-20) + "}",
		"arrays to be mended": `{'verdict':` + strings.Repeat("[", n/2-20) + strings.Repeat(
			"]", n/2-20) + "}",
		"many to be mended": strings.Repeat("{x}", n/3),
		"quotes":            `{"explanation":"` + strings.Repeat(`"a" `, n/4-10) + `"}`,
		"closing":           `{"verdict":"b}` + strings.Repeat(`"}`, n/2-20),
		"braces":            strings.Repeat("{ ", n/2),
		"reasoning":         strings.Repeat("<think>", n/7),
		"verdict lines":     strings.Repeat("verdict: \n", n/11),
		"verdict headings":  strings.Repeat("verdict\n\n", n/9),
		"sentences":         strings.Repeat("The fragment is good. The fragment is bad. ", n/44),
		"requirements":      strings.Repeat("violates requirement 1, ", n/25),
		"lists":             "violations:\n" + strings.Repeat("- 1\n", n/5),
		"escapes":           `"` + strings.Repeat(`\"{`, n/3-2) + `"`,
		"texts":             strings.Repeat(`{"a":"`, n/10),
	} {
		t.Run(name, func(t *testing.T) {
			done := make(chan audit.Review, 1)
			go func() { done <- readAnswer(reply) }()
			select {
			case r := <-done:
				require.Equal(t, audit.Malformed, r.Status)
			case <-time.After(time.Minute):
				t.Fatal("it takes more than a minute")
			}
		})
	}
}

// What has to be mended is read where it stands at the end alone: mending a megabyte of
// objects takes half a minute.
func TestMendingIsBounded(t *testing.T) {
	broken, rest := `{'verdict': 'bad'}`, ` {"tokens": "`+strings.Repeat("x", 40<<10)+`"}`
	require.Equal(t, audit.Bad, readAnswer(broken).Verdict)
	require.Equal(t, audit.Bad, readAnswer(broken+strings.ReplaceAll(rest, "{", "")).Verdict,
		"prose is no object")
	require.Equal(t, audit.Bad, readAnswer(strings.ReplaceAll(broken, "'", `"`)+rest).Verdict)
	require.Equal(t, audit.Malformed, readAnswer(broken+rest).Status)
}

func FuzzReadAnswer(f *testing.F) {
	for _, s := range shapes {
		f.Add(s.reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		r := readAnswer(reply)
		switch r.Status {
		case audit.Answered:
			if r.Verdict != audit.Good && r.Verdict != audit.Bad {
				t.Fatalf("answered without a verdict: %q", reply)
			}
		case audit.Refused, audit.Malformed:
			if r.Verdict != "" || r.Detail == "" {
				t.Fatalf("no answer, and a verdict or no reason: %+v", r)
			}
		default:
			t.Fatalf("status %q", r.Status)
		}
		if r.Confidence < 0 || r.Confidence > 1 {
			t.Fatalf("confidence %v", r.Confidence)
		}
		for _, v := range r.Violates {
			if v < 1 {
				t.Fatalf("requirement %d", v)
			}
		}
	})
}

// What stands beside a verdict is read in the forms in which models give it.
func TestWhatStandsBesideAVerdict(t *testing.T) {
	for said, want := range map[string]float64{`0.9`: 0.9, `90`: 0.9, `"90%"`: 0, `"high"`: 0,
		`-1`: 0, `101`: 0, `null`: 0} {
		r := readAnswer(`{"verdict":"bad","confidence":` + said + `}`)
		require.Equal(t, audit.Bad, r.Verdict, said)
		require.InDelta(t, want, r.Confidence, 1e-12, said)
	}
	r := readAnswer(`{"verdict":"bad","explanation":["no tenant","no owner"],"cwe":"639"}`)
	require.Equal(t, `["no tenant","no owner"]`, r.Explanation)
	require.Equal(t, []audit.CWE{639}, r.CWEs)
	r = readAnswer(`{"first":{"verdict":"bad"},"second":{"verdict":"good"}}`)
	require.Contains(t, r.Detail, "several verdicts that contradict one another")
	r = readAnswer(`{"verdict":"bad","Verdict":"good"}`)
	require.Equal(t, audit.Malformed, r.Status)
	r = readAnswer(`{"verdict":"good","vulnerable":true}`)
	require.Contains(t, r.Detail, "fields give verdicts that contradict one another",
		"good is one of the words")
	r = readAnswer("[THINK]it is {\"verdict\":\"good\"}, or")
	require.Contains(t, r.Detail, "ends within its reasoning")
}
