package record

import (
	"bytes"
	"encoding/json"
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
	fsys := fstest.MapFS{"a/p.json": {Data: b}, "bench/m/p.json": {Data: b}, "stated/p.json": {Data: b}}
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
