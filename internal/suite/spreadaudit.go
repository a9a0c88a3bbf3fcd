package suite

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/run/river"
	"assay/internal/seal"
)

// A remote is an audit as a worker hands it back.
type remote struct {
	Dir string // of the export there: the report may name it
	Run audit.AuditRun
	Err string // the auditor could not be started
}

// remoteAudit carries out an audit for somebody else: an export of its own, the
// auditor's own deadline and process group.
func (e *env) remoteAudit(ctx context.Context, t river.AuditTask) (b []byte, err error) {
	p, err := fixture.ReadProject(e.root.holdings(), path.Join("fixtures/projects", t.Project+".md"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	dir, err := e.directory()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	var entry audit.AuditorEntry
	for _, a := range dir.Auditors {
		if a.Name == t.Auditor {
			entry = a
		}
	}
	if seal.Hash(p) != t.Export || entryHash(entry) != t.Entry {
		return nil, fmt.Errorf("%w: %s on %s is another audit here: give every worker the commit and fixtures of the plan", river.ErrOther, t.Auditor, t.Project)
	}
	tmp, err := os.MkdirTemp("", "assay-audit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	clone, err := seal.Fetch(ctx, p, cache, environment("ASSAY_MIRROR"))
	if err != nil {
		return nil, err
	}
	sealed, err := clone.Export(ctx, filepath.Join(tmp, "src"))
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := sealed.Remove(); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}()
	r := remote{Dir: sealed.Dir}
	asked, err := dir.Auditor(t.Auditor)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	if r.Run, err = asked.Audit(ctx, audit.AuditTask{Dir: sealed.Dir}); err != nil {
		r.Err = err.Error()
	}
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(r)
	return out.Bytes(), err
}

// entryHash identifies what an auditor's section says: a worker with another one
// would run another auditor.
func entryHash(a audit.AuditorEntry) string {
	a.Pos = audit.Pos{}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", a))
	return hex.EncodeToString(sum[:])
}

// spreadAudits opens the PostgreSQL of live audits where workers are there; nil
// where this process runs them itself.
func (r *regression) spreadAudits(t T) {
	dsn := r.suite.db(r.env)
	if len(r.env.cfg.Auditors) == 0 {
		return
	}
	there, err := river.Present(context.Background(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !there {
		return
	}
	if r.workers, err = river.Open(context.Background(), dsn); err != nil {
		t.Fatal(err)
	}
	r.id = time.Now().UTC().Format("20060102T150405Z") + "-" + rand.Text()[:8]
	t.Cleanup(func() {
		if err := r.workers.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
}

// An awaited is the audits of one leaf, under way with workers.
type awaited struct {
	results []chan remote
}

// send leaves all trials of a leaf to workers at once; nil where this process
// runs them itself.
func (h *evaluation) send(t T) {
	if h.workers == nil || h.replay || h.static {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	if at, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastMinute))
	}
	if err := h.env.uncached(); err != nil {
		cancel()
		t.Fatal(err)
	}
	h.away = &awaited{}
	t.Cleanup(cancel)
	for i := range h.candidate.trials {
		result := make(chan remote, 1)
		h.away.results = append(h.away.results, result)
		task := river.AuditTask{Run: h.id, Project: h.project.Name, Auditor: h.candidate.name, Trial: i, Export: seal.Hash(h.project), Entry: entryHash(h.entries[h.candidate.name])}
		go func() {
			var r remote
			b, err := h.workers.Audit(ctx, task)
			if err == nil {
				err = gob.NewDecoder(bytes.NewReader(b)).Decode(&r)
			}
			switch {
			case ctx.Err() != nil:
				r.Run.Invalid = "stopped: " + context.Cause(ctx).Error()
			case err != nil:
				r.Err = err.Error()
			}
			result <- r
		}()
	}
	t.Parallel() // the next auditor's audits are sent before these are waited for
}

// fetch waits for one trial.
func (h *evaluation) fetch(i int) (audit.AuditRun, string, error) {
	r := <-h.away.results[i]
	if r.Err != "" {
		return r.Run, r.Dir, errors.New(r.Err)
	}
	return r.Run, r.Dir, nil
}
