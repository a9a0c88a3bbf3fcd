package fixes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/fixes"
	"assay/internal/seal"
)

// table derives all entries of the shop.
func (s *shop) table(t *testing.T) *fixes.Benchmark {
	if s.text == "" {
		table := &fixes.Benchmark{Name: "shop", Repository: "shop"}
		_, refused := s.add(t, table, entries)
		require.Empty(t, refused)
		s.text = table.Format()
	}
	table, _, err := fixes.Read(fstest.MapFS{"fixtures/fixes/shop.md": {Data: []byte(s.text)}},
		"fixtures/fixes/shop.md")
	require.NoError(t, err)
	return table
}

func (s *shop) fetch(t *testing.T) fixes.Fetch {
	cache := t.TempDir()
	return func(ctx context.Context, p *audit.Project) (*seal.Clone, error) {
		here := *p
		here.Repository = s.dir
		return seal.Fetch(ctx, &here, cache, "")
	}
}

// TestViews lists the targets of both views and exports the pool and one change.
func TestViews(t *testing.T) {
	s := theShop(t)
	table := s.table(t)
	pool, left := table.Targets(fixes.Pool)
	require.Len(t, pool, 2)
	require.Equal(t, []string{"F11: its place is another one at the pin"}, left)
	require.Equal(t, "shop", pool[0].Name())
	require.Equal(t, "shop.mended", pool[1].Name())
	counted, reported := pool[0].Entries()
	require.Len(t, counted, 11)
	require.Empty(t, reported)
	counted, _ = pool[1].Entries()
	require.Len(t, counted, 10, "the twin of F01 is contested")

	changes, left := table.Targets(fixes.Change)
	require.Len(t, left, 11)
	require.Equal(t, "F01: nobody knows the change that brought it: fill Introduced", left[0])
	require.Equal(t, []string{"shop.F10", "shop.F10.mended"},
		[]string{changes[0].Name(), changes[1].Name()})

	dir := filepath.Join(t.TempDir(), "src")
	sealed, err := pool[0].Export(context.Background(), dir, s.fetch(t))
	require.NoError(t, err)
	require.Contains(t, sealed.Tree, "pay.go")
	require.NoFileExists(t, filepath.Join(dir, ".git"))
	text, err := os.ReadFile(filepath.Join(dir, "pay.go"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "amount < 0", "the tree before the first fix")
}

// TestChangeExport holds that a change shows its two commits and nothing else.
func TestChangeExport(t *testing.T) {
	s := theShop(t)
	changes, _ := s.table(t).Targets(fixes.Change)
	for _, x := range changes {
		t.Run(x.Name(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "src")
			sealed, err := x.Export(context.Background(), dir, s.fetch(t))
			require.NoError(t, err)
			in := &shop{t: t, dir: dir}
			require.Equal(t, "change\nbase", in.git("log", "--format=%s", "--all", "--reflog"))
			require.Equal(t, sealed.Task.Head+"\n"+sealed.Task.Base, in.git("log", "--format=%H"))
			require.Equal(t, "change", in.git("branch", "--show-current"))
			require.Equal(t, sealed.Task.Base, in.git("rev-parse", "origin/HEAD"))
			require.Empty(t, in.git("status", "--porcelain"))
			require.Empty(t, in.git("remote"))
			require.Empty(t, in.git("tag"))
			require.Empty(t, in.git("reflog", "--all"))
			all := strings.Fields(in.git("cat-file", "--batch-all-objects",
				"--batch-check=%(objectname)"))
			require.Len(t, strings.Split(in.git("rev-list", "--objects", "--all"), "\n"), len(all),
				"no other object")
			require.NoFileExists(t, filepath.Join(dir, ".git", "logs"))
			require.Equal(t, sealed.Task.Diff, in.git("diff", "origin/HEAD...")+"\n")
			for _, said := range s.commits {
				require.NotContains(t, sealed.Task.Diff, said)
			}
		})
	}
	require.Equal(t, 2, len(changes))
}
