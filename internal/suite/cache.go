package suite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/internal/auditor"
)

// A cache keeps what costs processor time and follows from its input alone: an entry's name
// is the hash of the input, its folder that of this executable and all that is in it. It may
// be wiped at any time; what cannot be read or written is computed. nil keeps nothing.
type cache struct {
	dir  func() string // of this executable; "" where there is no place for one
	anew bool          // what is kept is computed again
}

// keptFor is how long an executable that does not run keeps what it computed.
const keptFor = 7 * 24 * time.Hour

func newCache(anew bool) *cache { return &cache{sync.OnceValue(openCache), anew} }

func openCache() string {
	all, errDir := cacheDir()
	code, errCode := executable()
	dir := filepath.Join(all, "computed", code)
	if errDir != nil || errCode != nil || os.MkdirAll(dir, 0o700) != nil || os.Chtimes(dir, time.Time{}, time.Now()) != nil {
		return ""
	}
	forget(filepath.Dir(dir))
	return dir
}

// executable hashes the program that runs, and the variables by which its parser can be set.
var executable = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "GOT_") || strings.HasPrefix(v, "GTS_") {
			fmt.Fprintln(sum, v)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), err
})

// forget removes what executables computed that have not run for long.
func forget(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// key is "", under which nothing is kept, for input that cannot be written as JSON.
func (c *cache) key(kind string, input ...any) string {
	if c == nil {
		return ""
	}
	sum := sha256.New()
	if json.NewEncoder(sum).Encode(input) != nil {
		return ""
	}
	return kind + "-" + hex.EncodeToString(sum.Sum(nil))
}

func (c *cache) get(key string, into any) bool {
	if c == nil || c.anew || key == "" || c.dir() == "" {
		return false
	}
	b, err := os.ReadFile(filepath.Join(c.dir(), key))
	sum, text, _ := bytes.Cut(b, []byte("\n"))
	return err == nil && string(sum) == sumOf(text) && json.Unmarshal(text, into) == nil
}

// put keeps a value. Who reads meanwhile finds all of it or nothing.
func (c *cache) put(key string, v any) {
	if c == nil || key == "" || c.dir() == "" {
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		return
	}
	f, err := os.CreateTemp(c.dir(), "new-*")
	if err != nil {
		return
	}
	_, err = fmt.Fprintf(f, "%s\n%s", sumOf(text), text)
	if f.Close() != nil || err != nil || os.Rename(f.Name(), filepath.Join(c.dir(), key)) != nil {
		os.Remove(f.Name())
	}
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// The clock ends what takes the analyser's parser 10 s in one file, and then its
// answer does not follow from its input alone.
const (
	cutByClock = 10 * time.Second
	cutShort   = "the parser gave up"
)

// A cachedReviewer computes its reviews: what it said of a task, it says again.
type cachedReviewer struct {
	audit.Reviewer
	cache *cache
}

func (r cachedReviewer) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	var said audit.Review
	key := r.cache.key("review", r.Name(), task)
	if ctx.Err() == nil && r.cache.get(key, &said) {
		return said, nil
	}
	began := time.Now()
	said, err := r.Reviewer.Review(ctx, task)
	if err == nil && said.Status != audit.Errored && time.Since(began) < cutByClock {
		r.cache.put(key, said)
	}
	return said, err
}

type cachedAuditor struct {
	audit.Auditor
	cache *cache
}

func (a cachedAuditor) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	_, files, err := listed(os.DirFS(task.Dir))
	if err != nil {
		return a.Auditor.Audit(ctx, task)
	}
	var run audit.AuditRun
	key := a.cache.key("audit", a.Name(), files)
	if ctx.Err() == nil && a.cache.get(key, &run) {
		run.Report, run.Invalid = auditor.ReadReport(a.Name(), run.Raw, run.Report.Format, nil)
		return run, nil
	}
	run, err = a.Auditor.Audit(ctx, task)
	if err == nil && run.Invalid == "" && !bytes.Contains(run.Stderr, []byte(cutShort)) {
		wrote := run
		wrote.Report = audit.Report{Format: run.Report.Format}
		a.cache.put(key, wrote)
	}
	return run, err
}
