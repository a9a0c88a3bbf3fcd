package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/store"
)

// shard lets the house's suites run as one of several.
func (h *house) shard(index, total int) string {
	status := filepath.Join(h.t.TempDir(), "status")
	h.t.Setenv("TEST_SHARD_INDEX", fmt.Sprint(index))
	h.t.Setenv("TEST_TOTAL_SHARDS", fmt.Sprint(total))
	h.t.Setenv("TEST_SHARD_STATUS_FILE", status)
	return status
}

// leaves gives the paths of the subtests that have none below them.
func (f *fake) leaves() []string {
	if len(f.children) == 0 {
		return []string{f.name}
	}
	var all []string
	for _, c := range f.children {
		all = append(all, c.leaves()...)
	}
	return all
}

// TestShardsShareTheCases: together the shards run every subtest once, each
// reports and none gates, and each leaves a run that says which part it is.
func TestShardsShareTheCases(t *testing.T) {
	h := newHouse(t)
	h.corpus(3)
	h.reviewer(always) // fails the gate of a whole run
	whole := play(t, "TestBench", h.suite("-model", "canned").Bench)
	require.True(t, whole.Failed())

	const total = 4
	ran := map[string]int{}
	for i := range total {
		require.NoError(t, os.RemoveAll(h.path("results.db")))
		h.shard(i, total)
		s := h.suite("-model", "canned")
		f := play(t, "TestBench", s.Bench)
		require.Empty(t, f.complaints(), "a shard reports and does not gate")
		for _, name := range f.leaves() {
			if strings.Contains(name, "shop/") {
				ran[name]++
			}
		}
		var b strings.Builder
		s.summary.print(&b, view{all: true, width: screenWidth})
		require.Contains(t, b.String(), fmt.Sprintf("canned: shard %d of 4: reported, and judged by assay merge", i+1))
		st, err := store.OpenReadOnly(context.Background(), h.path("results.db"))
		require.NoError(t, err)
		runs, err := st.Runs(context.Background())
		require.NoError(t, err)
		require.NoError(t, st.Close())
		require.Len(t, runs, 1)
		require.Equal(t, fmt.Sprintf("TEST_SHARD_INDEX=%d TEST_TOTAL_SHARDS=4 go test -run Bench -model=canned", i), runs[0].Command)
	}
	require.Len(t, ran, 18)
	for name, n := range ran {
		require.Equal(t, 1, n, name)
	}
}

// TestAShardWithoutCases passes and leaves its run: that it is empty is known
// only when all of them are seen together.
func TestAShardWithoutCases(t *testing.T) {
	h := newHouse(t)
	h.corpus(1)
	h.reviewer(right)
	empty := 0
	for i := range 3 {
		require.NoError(t, os.RemoveAll(h.path("results.db")))
		h.shard(i, 3)
		f := play(t, "TestBench", h.suite("-model", "canned", "-filter", "q00-01").Bench)
		require.Empty(t, f.complaints())
		st, err := store.OpenReadOnly(context.Background(), h.path("results.db"))
		require.NoError(t, err)
		runs, err := st.Runs(context.Background())
		require.NoError(t, err)
		require.NoError(t, st.Close())
		require.Len(t, runs, 1)
		if runs[0].Planned == 0 {
			empty++
			require.False(t, runs[0].Ended.IsZero())
		}
	}
	require.Equal(t, 2, empty)
}

// TestEverySuiteIsSharded: auditors of Smoke and Regression fall into one shard
// each, whichever it is, and are judged there.
func TestEverySuiteIsSharded(t *testing.T) {
	h := newHouse(t)
	h.demo(33)
	h.record(found(22))
	h.write("canned", smokeReport())
	regressions, smokes := 0, 0
	for i := range 3 {
		h.shard(i, 3)
		f := play(t, "TestRegression", h.suite().Regression)
		if f.leaf("TestRegression/demo/canned") != nil {
			regressions++
		}
		if play(t, "TestSmoke", h.suite("-auditor", "canned").Smoke).leaf("TestSmoke/canned") != nil {
			smokes++
		}
	}
	require.Equal(t, []int{1, 1}, []int{regressions, smokes})
}

func TestShardVariables(t *testing.T) {
	h := newHouse(t)
	for _, tt := range []struct{ index, total, want string }{
		{"0", "", "TEST_TOTAL_SHARDS"}, {"", "3", "TEST_SHARD_INDEX"}, {"3", "3", "from 0 to the total less 1"}, {"-1", "3", "from 0"}, {"x", "3", "from 0"}, {"0", "0", "from 0"},
	} {
		_, err := readShard(func(name string) string {
			return map[string]string{"TEST_SHARD_INDEX": tt.index, "TEST_TOTAL_SHARDS": tt.total}[name]
		})
		require.ErrorContains(t, err, tt.want, "%+v", tt)
	}
	status := h.shard(0, 1)
	require.Zero(t, h.suite().Main(noTests{}))
	require.FileExists(t, status, "Bazel looks for it even where there is one shard")
	t.Setenv("TEST_SHARD_STATUS_FILE", filepath.Join(status, "no", "folder"))
	require.Equal(t, 2, h.suite().Main(neverRun{t}))
}

type noTests struct{}

func (noTests) Run() int { return 0 }

// TestShardsAreStable: the split is fixed. It changes for all when one of these
// changes, and every shard's cache with it.
func TestShardsAreStable(t *testing.T) {
	counts := make([]int, 5)
	for n := range 1000 {
		name := fmt.Sprintf("TestBench/m/p/shop/q%03d", n)
		in := 0
		for i := range counts {
			if (shard{i, len(counts)}).has(name) {
				counts[i]++
				in++
			}
		}
		require.Equal(t, 1, in)
	}
	require.Equal(t, []int{193, 181, 222, 179, 225}, counts)
}
