package record

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// some gives a few of our own baselines, the small ones: they are records too, but
// for what others state.
func some(tb testing.TB) map[string][]byte {
	names, err := filepath.Glob("../../fixtures/baselines/*/*.json")
	require.NoError(tb, err)
	small := map[string][]byte{}
	for _, n := range names {
		b, err := os.ReadFile(n)
		require.NoError(tb, err)
		if len(b) < 16<<10 && len(small) < 8 {
			small[filepath.ToSlash(n)] = b
		}
	}
	require.NotEmpty(tb, small)
	return small
}

// readAs reads bytes in all the ways in which a record's file is read.
func readAs(b []byte) error {
	fsys := fstest.MapFS{"a/p.json": {Data: b}, "bench/m/p.json": {Data: b},
		"stated/p.json": {Data: b}}
	if r, err := Read(fsys, "a/p.json"); err == nil {
		_ = r.Text() // what can be read can be told
	}
	_, err := Baseline(fsys, ".", "a", "p")
	_, err2 := ReadBench(fsys, ".", "m", "p")
	_, _ = ReadStated(fsys, ".", "p")
	if err == nil {
		return nil
	}
	return err2
}

// TestACutRecord, wherever it is cut, is an error with the file's name.
func TestACutRecord(t *testing.T) {
	for name, b := range some(t) {
		if strings.Contains(name, "/stated/") {
			continue // no record: figures of others
		}
		_, err := Read(fstest.MapFS{"a/p.json": {Data: b}}, "a/p.json")
		require.NoError(t, err, name)
		whole := len(bytes.TrimSpace(b))
		for end := 0; end < whole; end += 1 + whole/200 {
			fsys := fstest.MapFS{"a/p.json": {Data: b[:end]}}
			_, err := Read(fsys, "a/p.json")
			require.ErrorContains(t, err, "a/p.json", "%s cut at %d", name, end)
			_, err = ReadBench(fstest.MapFS{"bench/m/p.json": {Data: b[:end]}}, ".", "m", "p")
			require.Error(t, err, "%s cut at %d", name, end)
		}
	}
}

// FuzzRead: whatever stands in the place of a record or a baseline, it is read or
// refused with the file's name.
func FuzzRead(f *testing.F) {
	for _, b := range some(f) {
		f.Add(b)
		var doc map[string]any
		if json.Unmarshal(b, &doc) == nil {
			for k := range doc {
				doc[k] = nil
				if less, err := json.Marshal(doc); err == nil {
					f.Add(less)
				}
				break
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := readAs(b); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Fatal("an error that says nothing")
		}
	})
}

// FuzzTranscripts: whatever stands in the place of what a run wrote, it is read or
// refused with the folder's name, and nothing that is packed grows without bound.
func FuzzTranscripts(f *testing.F) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(`{"type":"thread.started"}`))
	require.NoError(f, errors.Join(err, z.Close()))
	for _, facts := range []string{
		`{"name":"trial-01","trial":1,"last":true,"kept":[{"name":"events","file":"events.jsonl.gz","size":3}]}`,
		`{"name":"trial-01","kept":[{"name":"report","file":"report.txt"},{"name":"stdout","file":"../run.json"}]}`,
		`{"name":"..","started":"2026-01-02T03:04:05Z","kept":[{"file":"a/../b.gz"},null,{}]}`,
	} {
		f.Add([]byte(facts), packed.Bytes())
	}
	dir := f.TempDir()
	name := filepath.Join(dir, "r.txt")
	run := filepath.Join(dir, "r.transcript", "trial-01")
	require.NoError(f, os.MkdirAll(run, 0o700))
	f.Fuzz(func(t *testing.T, facts, stream []byte) {
		require.NoError(t, os.MkdirAll(run, 0o700)) // another worker has a folder of its own
		for file, b := range map[string][]byte{"run.json": facts, "report.txt": stream,
			"events.jsonl.gz": stream} {
			require.NoError(t, os.WriteFile(filepath.Join(run, file), b, 0o600))
		}
		ts, err := ReadTranscripts(name)
		if err != nil {
			require.ErrorContains(t, err, "trial-01")
			return
		}
		for i := range ts {
			for _, k := range ts[i].Kept {
				require.LessOrEqual(t, len(ts[i].Text(k.Name)), 2*maxStream+len(stream))
			}
		}
	})
}
