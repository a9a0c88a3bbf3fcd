package findings

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestMaxFindings: reading ends at the limit, in every format, with an error that
// names it and what was read until then.
func TestMaxFindings(t *testing.T) {
	fs := make([]audit.Finding, 12)
	for i := range fs {
		fs[i] = audit.Finding{CWEs: []audit.CWE{89}, File: fmt.Sprintf("f%d.go", i)}
	}
	var text, sarif bytes.Buffer
	require.NoError(t, WriteText(&text, TextReport{Findings: fs}))
	require.NoError(t, WriteSARIF(&sarif, "t", "1", fs))
	for name, doc := range map[string]string{"text": text.String(), "sarif": sarif.String(),
		"json": "[" + strings.Repeat(`{"file": "a.c", "cwe": 1},`, 11) +
			`{"file": "a.c", "cwe": 1}]`} {
		t.Run(name, func(t *testing.T) {
			rep, err := Read("r", strings.NewReader(doc), ReadOptions{MaxFindings: 10})
			require.ErrorContains(t, err,
				"more than 10 findings: reading ended at this limit (Options.MaxFindings)")
			require.Len(t, rep.Findings, 10)
			require.NotEmpty(t, rep.Findings[9].CWEs, "what was read until then is whole")
			for _, max := range []int{12, 0, -1} {
				rep, err = Read("r", strings.NewReader(doc), ReadOptions{MaxFindings: max})
				require.NoError(t, err)
				require.Len(t, rep.Findings, 12)
			}
		})
	}
}

// TestMaxRuns: the tables of all runs are held, so that there is a limit on them.
func TestMaxRuns(t *testing.T) {
	for _, more := range []string{"", ",{}"} {
		doc := `{"runs": [{"tool": {"driver": {"name": "t"}}, "results": [{"ruleId": "r"}]}` +
			strings.Repeat(",{}", maxRuns-1) + more + `]}`
		rep, err := Read("r", strings.NewReader(doc), ReadOptions{})
		require.Equal(t, "t, ", rep.Tool)
		require.Len(t, rep.Findings, 1)
		if more == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "r:1: the report holds more than 10000 runs")
		}
	}
}

// TestSARIFFlood reads a file of 200,000 findings, 50 MB, as it would come from an
// auditor that ran wild: taking them up ends at the limit, long before the memory does.
func TestSARIFFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB")
	}
	for name, limit := range map[string]int{"default": 0, "results that are no findings": -1} {
		t.Run(name, func(t *testing.T) {
			result := `{"ruleId":"r","message":{"text":"m %d"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/f%d.go"},"region":{"startLine":7}}}],"properties":{"severity":"HIGH","cwe":"CWE-89","pad":"` + strings.Repeat("x", 60) + `"}},`
			if limit < 0 {
				result = strings.Replace(result, `{"ruleId":"r"`,
					`{"kind":"pass","ruleId":"r%[1]d"`, 1)
			}
			src := &again{peakReader: &peakReader{},
				make: func() io.Reader { return &flood{result: result, left: 50 << 20} }}
			rep, err := Read("flood.sarif", src, ReadOptions{MaxFindings: limit})
			if limit == 0 {
				require.ErrorContains(t, err, "more than 100000 findings")
				require.Len(t, rep.Findings, DefaultMaxFindings)
			} else {
				require.NoError(t, err)
				require.Empty(t, rep.Findings)
			}
			t.Logf("read %d MB, the heap's peak was %d MB", src.read>>20, src.peak>>20)
			require.Less(t, src.peak, uint64(200<<20))
			runtime.KeepAlive(rep)
		})
	}
}

// A flood generates a SARIF file of about left bytes as it is read.
type flood struct {
	result string
	left   int
	n      int
	rest   []byte
}

func (f *flood) Read(p []byte) (int, error) {
	if len(f.rest) == 0 {
		switch {
		case f.left < 0:
			return 0, io.EOF
		case f.n == 0:
			f.rest = []byte(
				`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[`)
		case f.left == 0:
			f.rest, f.left = []byte(`null]}]}`), -1
		}
		for f.n++; len(f.rest) < 64<<10 && f.left > 0; f.n++ {
			f.rest = fmt.Appendf(f.rest, f.result, f.n, f.n)
		}
		f.left = min(f.left, max(0, f.left-len(f.rest)))
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// TestCutShort: a caller can tell that a report shows an early end.
func TestCutShort(t *testing.T) {
	const row = "| ID | CWE | File |\n|---|---|---|\n| F-1 | CWE-1 | a.c:1 |\n"
	stats := func(n string) string { return strings.Replace(head, "see below", "findings="+n, 1) }
	for name, tc := range map[string]struct{ doc, want string }{
		"whole":                 {stats("1") + row + tail, ""},
		"no STATS":              {head + row + tail, ""},
		"more than there are":   {stats("7") + row + tail, "STATS says 7 findings, 1 were read"},
		"fewer than there are":  {stats("0") + row + tail, "STATS says 0 findings, 1 were read"},
		"no SENTINEL":           {stats("1") + row, "truncated"},
		"JSON breaks off":       {`[{"file": "a.c"`, "truncated"},
		"SARIF breaks off":      {`{"runs": [{"results": [{"ruleId": "r"}`, "truncated"},
		"JSON whole":            {`[{"file": "a.c"}]`, ""},
		"text after SENTINEL":   {stats("1") + row + tail + "x", ""},
		"no report, no finding": {"hello", ""},
	} {
		t.Run(name, func(t *testing.T) {
			rep, _ := Read("r", strings.NewReader(tc.doc), ReadOptions{})
			if tc.want == "" {
				require.Empty(t, rep.CutShort)
			} else {
				require.Contains(t, rep.CutShort, tc.want)
			}
		})
	}
}
