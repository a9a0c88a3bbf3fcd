package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/planted"
	"assay/internal/proof"
	"assay/internal/record"
	"assay/internal/store"
)

// damage gives a text as a bad disk, a merge or a tired hand leaves it.
func damage(rng *rand.Rand, text []byte) []byte {
	text = bytes.Clone(text)
	for range 1 + rng.IntN(3) {
		if len(text) == 0 {
			break
		}
		at := rng.IntN(len(text))
		end := min(len(text), at+1+rng.IntN(200))
		switch rng.IntN(7) {
		case 0:
			text[at] ^= 1 << rng.IntN(8)
		case 1:
			text[at] = byte(rng.IntN(256))
		case 2:
			text = text[:at]
		case 3:
			text = slices.Delete(text, at, end)
		case 4:
			text = slices.Insert(text, at, bytes.Clone(text[at:end])...)
		case 5:
			clear(text[at:end])
		case 6:
			odd := []string{"99999999999999999999", "-1", "1e999", "null", "\n", "|", "```",
				"\u202e", "\xff", "{", "[[", "\x00", "0-0", "NaN"}
			text = slices.Insert(text, at, []byte(odd[rng.IntN(len(odd))])...)
		}
	}
	return text
}

// variants is how many damaged files a test tries: with ASSAY_DAMAGE=10000 so many.
func variants(sample int) int {
	if n, err := strconv.Atoi(os.Getenv("ASSAY_DAMAGE")); err == nil {
		return n
	}
	if testing.Short() {
		return sample / 3
	}
	return sample
}

// TestDamagedFiles: of every kind of file that is read, our own are damaged by a seed,
// and read or refused in words.
func TestDamagedFiles(t *testing.T) {
	own := os.DirFS("../..")
	kinds := []struct {
		files string
		read  func(fsys fs.FS, file string) error
	}{
		{"fixtures/projects/*.*", func(fsys fs.FS, file string) error {
			name, _, _ := strings.Cut(path.Base(file), ".")
			p, err := fixture.ReadProject(fsys, "fixtures/projects/"+name+".md")
			if reviews := "fixtures/projects/" + name + ".reviews.md"; err == nil &&
				file == reviews {
				_, err = fixture.ReadReviews(fsys, reviews, p)
			}
			return err
		}},
		{"tests/*/*-0?-*.md",
			func(fsys fs.FS, file string) error {
				_,
					err := fixture.ReadCase(fsys, file)
				return err
			}},
		{"tests/*/SPEC.md",
			func(fsys fs.FS, file string) error {
				_,
					err := fixture.ReadSpec(fsys, file)
				return err
			}},
		{"fixtures/*.md", func(fsys fs.FS, file string) error {
			_, err1 := fixture.ReadGoals(fsys, file)
			_, err2 := fixture.ReadDimensions(fsys, file)
			_, err3 := fixture.ReadTriggers(fsys, file)
			_, err4 := fixture.ReadModels(fsys, file)
			_, err5 := fixture.ReadKeys(fsys, file)
			_, err6 := fixture.ReadAuditors(fsys, file)
			return errors.Join(err1, err2, err3, err4, err5, err6)
		}},
		{"fixtures/proofs.tsv",
			func(fsys fs.FS, file string) error { _, err := proof.ReadLedger(fsys); return err }},
		{"fixtures/baselines/*/*.json", func(fsys fs.FS, file string) error {
			if strings.Contains(file, "/stated/") {
				_, err := record.ReadStated(fsys, "fixtures/baselines",
					strings.TrimSuffix(path.Base(file), ".json"))
				return err
			}
			r, err := record.Read(fsys, file)
			if err == nil {
				_ = r.Text()
			}
			return err
		}},
		{"fixtures/recordings/bench/*/*.*", func(fsys fs.FS, file string) error {
			sub, err := fs.Sub(fsys, path.Dir(file))
			require.NoError(t, err)
			stem, _, _ := strings.Cut(path.Base(file), ".")
			one := fstest.MapFS{}
			for _, name := range []string{stem + ".jsonl", stem + ".provenance.json"} {
				b, err := fs.ReadFile(sub, name)
				require.NoError(t, err)
				one["bench/"+path.Base(path.Dir(file))+"/"+name] = &fstest.MapFile{Data: b}
			}
			_, err = auditor.RecordedReviewers(one, ".")
			return err
		}},
		{"fixtures/planted/*/*.md", func(fsys fs.FS, file string) error {
			_, err := planted.Read(fsys, path.Dir(file))
			return err
		}},
		{"fixtures/recordings/*/*.*", func(fsys fs.FS, file string) error {
			project, _, _ := strings.Cut(path.Base(file), ".")
			sub := fstest.MapFS{}
			beside, _ := fs.Glob(fsys, path.Dir(file)+"/"+project+".*")
			for _, f := range beside {
				b, err := fs.ReadFile(fsys, f)
				require.NoError(t, err)
				sub["tool/"+path.Base(f)] = &fstest.MapFile{Data: b}
			}
			rs, err := auditor.Recordings(sub, ".")
			for _, r := range rs {
				_, err2 := auditor.Replay(r, sub, nil).Audit(context.Background(),
					audit.AuditTask{})
				err = errors.Join(err, err2)
			}
			return err
		}},
	}
	slowest, refused := time.Duration(0), 0
	tried := variants(105)
	for i := range tried {
		rng := rand.New(rand.NewPCG(22, uint64(i)))
		k := kinds[i%len(kinds)]
		files, err := fs.Glob(own, k.files)
		require.NoError(t, err)
		file := files[rng.IntN(len(files))]
		text, err := fs.ReadFile(own, file)
		require.NoError(t, err)
		bad := damage(rng, text)
		start := time.Now()
		err = k.read(Overlay{fstest.MapFS{file: {Data: bad}}, own}, file)
		if took := time.Since(start); took > slowest {
			slowest = took
			t.Logf("variant %d: %s: %s", i, file, took.Round(time.Millisecond))
		}
		if err != nil {
			refused++
			require.NotEmpty(t, strings.TrimSpace(err.Error()), "variant %d: %s", i, file)
		}
	}
	t.Logf("%d variants, %d refused", tried, refused)
	require.Greater(t, refused, tried/10)
}

// TestDamagedTranscripts: what a run wrote is read or refused with its folder's name.
func TestDamagedTranscripts(t *testing.T) {
	run := &audit.AuditRun{Raw: []byte("=== HEADER START ===\n"),
		Stdout: []byte(strings.Repeat("looking\n", 500)), Events: []byte(`{"type":"result"}`)}
	name := filepath.Join(t.TempDir(), "r.txt")
	require.NoError(t,
		record.WriteTranscripts(name,
			[]record.Transcript{record.NewTranscript(0, 0, "", run,
				func(b []byte) []byte { return b })}))
	var files []string
	require.NoError(t, filepath.WalkDir(record.TranscriptDir(name),
		func(file string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, file)
			}
			return err
		}))
	require.NotEmpty(t, files)
	for i := range variants(60) {
		rng := rand.New(rand.NewPCG(23, uint64(i)))
		file := files[rng.IntN(len(files))]
		whole, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, damage(rng, whole), 0o600))
		if _, err := record.ReadTranscripts(name); err != nil {
			require.ErrorContains(t, err, "trial-01", "variant %d", i)
		}
		require.NoError(t, os.WriteFile(file, whole, 0o600))
	}
}

// TestDamagedResults: what can be read of a damaged database is read; one that is
// refused is left as it was, and so are its neighbours.
func TestDamagedResults(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	name := filepath.Join(dir, "results.db")
	s, err := store.Open(ctx, name)
	require.NoError(t, err)
	for i := range 40 {
		require.NoError(t,
			s.Put(ctx, store.Evaluation{Time: time.Unix(1e9, 0),
				TestFile: "tests/shop/list-01-bad.md", Model: "m", Expected: audit.Bad,
				Actual:      "good",
				Explanation: strings.Repeat("because ", 40), Run: "r", Trial: fmt.Sprint("k", i),
				App: "shop", Query: "list", Outcome: audit.OutcomeWrong, Status: audit.Answered}))
	}
	require.NoError(t, s.Close())
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	refused := 0
	for i := range variants(60) {
		rng := rand.New(rand.NewPCG(24, uint64(i)))
		bad := damage(rng, whole)
		at := filepath.Join(dir, fmt.Sprintf("bad-%d.db", i))
		require.NoError(t, os.WriteFile(at, bad, 0o600))
		read := func(open func(context.Context, string) (store.Store, error)) error {
			s, err := open(ctx, at)
			if err != nil {
				return err
			}
			_, err1 := s.Runs(ctx)
			var err2, err3 error
			for _, err2 = range s.Summaries(ctx, store.Query{}) {
			}
			for _, err3 = range s.Evaluations(ctx, store.Query{}) {
			}
			return errors.Join(err1, err2, err3, s.Close())
		}
		err := read(store.OpenReadOnly)
		after, err2 := os.ReadFile(at)
		require.NoError(t, err2)
		require.True(t, bytes.Equal(bad, after), "variant %d: reading changed it (%v)", i, err)
		if err != nil {
			refused++
			require.ErrorContains(t, err, filepath.Base(at), "variant %d", i)
		}
		if s, err := store.Open(ctx, at); err == nil {
			_ = s.Close()
			continue
		}
		after, err2 = os.ReadFile(at)
		require.NoError(t, err2)
		require.True(t, bytes.Equal(bad, after), "variant %d: it was refused, and changed", i)
	}
	require.NotZero(t, refused)
}
