package suite

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"assay/internal/record"
)

// figures gives all that a run says of recordings, a planted project and cases.
func (h *house) figures(args ...string) string {
	h.t.Helper()
	s := h.suite(append(args, "-model", "static")...)
	play(h.t, "TestRegression", s.Regression)
	f := play(h.t, "TestBench", s.Bench)
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(h.t, err)
	require.Len(h.t, rs, 2)
	var trials []record.Trial
	for _, r := range rs {
		require.NotNil(h.t, r.Trials[0].Result, r.Trials[0].Invalid)
		r.Trials[0].Seconds = 0
		trials = append(trials, r.Trials...)
	}
	require.NotEmpty(h.t, f.attrs)
	text, err := json.Marshal([]any{trials, f.attrs})
	require.NoError(h.t, err)
	for _, name := range []string{"records", "results.db"} {
		require.NoError(h.t, os.RemoveAll(h.path(name)))
	}
	return string(text)
}

// entries gives what the cache below dir holds.
func entries(t *testing.T, dir string) []string {
	names, err := filepath.Glob(filepath.Join(dir, "computed", "*", "*"))
	require.NoError(t, err)
	return names
}

// TestWhatIsKeptChangesNothing: a run says the same with a cache that is empty, full,
// wiped, broken or no folder, and reads what is kept: a lie in it is believed.
func TestWhatIsKeptChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the analyser reads a project six times")
	}
	h := newHouse(t)
	dir := t.TempDir()
	t.Setenv("ASSAY_CACHE", dir)
	h.demo(33)
	h.record(found(3))
	h.corpus(1)
	require.NoError(t, os.CopyFS(h.path("fixtures/planted/marina"), os.DirFS("../../fixtures/planted/marina")))
	cold := h.figures()
	kinds := map[string]int{}
	for _, name := range entries(t, dir) {
		kind, _, _ := strings.Cut(filepath.Base(name), "-")
		kinds[kind]++
	}
	require.Equal(t, map[string]int{"audit": 1, "review": 6, "chance": 2}, kinds)
	require.Equal(t, cold, h.figures(), "warm")

	lie := func(text []byte) []byte {
		text = bytes.Replace(text, []byte(`"mean":`), []byte(`"mean":1`), 1)
		return bytes.Replace(text, []byte(`"Verdict":"good"`), []byte(`"Verdict":"bad"`), 1)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"empty":   func([]byte) []byte { return nil },
		"altered": lie,
	} {
		edit(t, dir, change)
		require.Equal(t, cold, h.figures(), name)
	}
	edit(t, dir, func(b []byte) []byte {
		_, text, _ := bytes.Cut(b, []byte("\n"))
		text = lie(text)
		return []byte(sumOf(text) + "\n" + string(text))
	})
	require.NotEqual(t, cold, h.figures())
	require.Equal(t, cold, h.figures("-force"))
	require.NoError(t, os.RemoveAll(dir))
	require.Equal(t, cold, h.figures(), "wiped")
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	require.Equal(t, cold, h.figures(), "a file is where the folder should be")
}

// edit changes every entry below dir.
func edit(t *testing.T, dir string, change func([]byte) []byte) {
	for _, name := range entries(t, dir) {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, change(b), 0o600))
	}
}

// TestAnotherExecutableMisses: what one build computed is nothing to another, and of
// the folders of many builds those that ran last stay.
func TestAnotherExecutableMisses(t *testing.T) {
	if dir := os.Getenv("ASSAY_TEST_PUT"); dir != "" {
		t.Setenv("ASSAY_CACHE", dir)
		c := newCache(false)
		key, there := c.key("k", 1), 0
		t.Log("there:", c.get(key, &there))
		c.put(key, 1)
		return
	}
	self, err := os.Executable()
	require.NoError(t, err)
	code, err := os.ReadFile(self)
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "other.test")
	require.NoError(t, os.WriteFile(other, append(code, 0), 0o700))
	dir := t.TempDir()
	run := func(name string, more ...string) string {
		cmd := exec.Command(name, "-test.run", "^TestAnotherExecutableMisses$", "-test.v")
		cmd.Env = append(append(os.Environ(), "ASSAY_TEST_PUT="+dir), more...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	require.Contains(t, run(self), "there: false")
	require.Contains(t, run(self), "there: true")
	require.Contains(t, run(self, "GOT_GLR_MAX_STACKS=1"), "there: false")
	require.Contains(t, run(other), "there: false")
	long := filepath.Join(dir, "computed", "ran-long-ago")
	require.NoError(t, os.Mkdir(long, 0o700))
	then := time.Now().Add(-keptFor - time.Hour)
	require.NoError(t, os.Chtimes(long, then, then))
	require.Contains(t, run(other), "there: true")
	require.NoDirExists(t, long)
	require.Contains(t, run(self), "there: true", "what ran lately is kept")
}

// TestManyWriteOneEntry: who reads while others write finds what one of them wrote.
func TestManyWriteOneEntry(t *testing.T) {
	t.Setenv("ASSAY_CACHE", t.TempDir())
	c := newCache(false)
	key := c.key("k", 1)
	c.put(key, "")
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 50 {
				c.put(key, strings.Repeat("x", w*10_000+i))
			}
		})
		all.Go(func() {
			for range 50 {
				var got string
				assert.True(t, c.get(key, &got))
			}
		})
	}
	all.Wait()
	require.Len(t, entries(t, os.Getenv("ASSAY_CACHE")), 1, "nothing half written is left")
}
