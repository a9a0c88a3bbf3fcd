package findings

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"assay/audit"
)

// Each gives what Read gives, one by one, of every report of testdata and of those whose
// tables stand last, are broken or are over the limit.
func TestEachIsRead(t *testing.T) {
	docs := map[string]string{
		"tables last": `{"runs": [{"results": [{"ruleIndex": 0, "message": {"id": "m", "arguments": ["x"]}, "locations": [{"physicalLocation": {"artifactLocation": {"index": 0}}}]}, {"kind": "pass", "ruleId": "b"}],
			"artifacts": [{"location": {"uri": "a.go", "uriBaseId": "R"}}], "originalUriBaseIds": {"R": {"uri": "file:///w/"}},
			"tool": {"driver": {"name": "t", "rules": [{"id": "a", "messageStrings": {"m": {"text": "{0} CWE-79"}}, "properties": {"security-severity": "9.1"}}]}}},
			{"tool": {"driver": {"name": "u"}}, "results": [{"ruleId": "c", "ruleIndex": 4, "level": "odd"}]}]}`,
		"a folder that is no URI": `{"runs": [{"tool": {"driver": {"name": "t"}}, "invocations": [{"workingDirectory": {"uri": "file:///a%zz"}}], "results": [{"ruleId": "r"}]}]}`,
		"breaks off":              `{"runs": [{"results": [{"ruleId": "r"}, {"ruleId": `,
		"no results":              `{"runs": [{"tool": {"driver": {"name": "t"}}}]}`,
		"plain":                   `[{"file": "a.c", "cwe": 1}, {"file": "b.c"}, 7]`,
		"text": head +
			"| ID | CWE | File |\n|---|---|---|\n| F-1 | CWE-1 | a.c:1 |\n" + tail,
		"empty": "", "neither": "hello",
		"over the limit": `{"runs": [{"results": [` + strings.Repeat(`{"ruleId": "r"},`, 30) +
			`{}]}]}`,
	}
	err := filepath.WalkDir("testdata", func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		docs[name] = string(b)
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(docs), 20)
	for name, doc := range docs {
		opt := ReadOptions{MaxFindings: 25, RuleMap: map[string][]audit.CWE{"r": {22}}}
		want, wantErr := Read(name, strings.NewReader(doc), opt)
		var fs []audit.Finding
		rest := "before it\n"
		r := strings.NewReader(rest + doc)
		_, err := r.Seek(int64(len(rest)), io.SeekStart)
		require.NoError(t, err)
		got, err := Each(name, r, opt,
			func(f audit.Finding) error { fs = append(fs, f); return nil })
		require.Empty(t, got.Findings)
		got.Findings = fs
		require.Equal(t, wantErr == nil, err == nil, name)
		if err != nil {
			require.Equal(t, wantErr.Error(), err.Error(), name)
		}
		require.Empty(t, cmp.Diff(want, got), "%s: -want +got", name)
	}
}

func TestEachStops(t *testing.T) {
	for _, enough := range []error{errors.New("enough"), io.EOF} {
		stops(t, enough)
	}
}

// stops ends the reading of each format by an error of who takes the findings, which
// says nothing about the report, whatever it is.
func stops(t *testing.T, enough error) {
	for _, doc := range []string{`{"runs": [{"results": [{"ruleId": "r"}, {"ruleId": "s"}]}]}`,
		`[{"file": "a.c"}, {"file": "b.c"}]`,
		head + "| ID | CWE | File |\n|---|---|---|\n| F-1 | CWE-1 | a.c:1 |\n| F-2 | CWE-1 | b.c:1 |\n" + tail} {
		n := 0
		rep, err := Each("r", strings.NewReader(doc), ReadOptions{},
			func(audit.Finding) error { n++; return enough })
		require.ErrorIs(t, err, enough)
		require.NotErrorIs(t, err, ErrTruncated)
		require.Empty(t, rep.CutShort)
		require.Equal(t, 1, n)
	}
}

// TestEachMemory hands over the findings of a generated file of 100 MB, whose rules come
// last, in a heap of a few MB.
func TestEachMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 100 MB twice")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	src := &peakReader{}
	n := 0
	rep, err := Each("big.sarif",
		&again{peakReader: src,
			make: func() io.Reader { return &sarifSource{size: 100 << 20, steps: 0} }},
		ReadOptions{MaxFindings: -1},
		func(f audit.Finding) error {
			require.Equal(t, audit.High, f.Severity)
			require.Len(t, f.CWEs, 1)
			n++
			return nil
		})
	require.NoError(t, err)
	require.Greater(t, n, 10_000)
	require.Greater(t, src.read, int64(200<<20))
	require.Empty(t, rep.Problems)
	t.Logf("%d findings, the heap's peak was %d MB", n, (src.peak-before.HeapAlloc)>>20)
	require.Less(t, src.peak-before.HeapAlloc, uint64(16<<20))
}

// again is a generated file that can be read from its start once more.
type again struct {
	*peakReader
	make func() io.Reader
}

func (a *again) Seek(off int64, whence int) (int64, error) {
	if off != 0 {
		return 0, errors.New("a generated file is sought at its start alone")
	}
	a.r = a.make()
	return 0, nil
}
