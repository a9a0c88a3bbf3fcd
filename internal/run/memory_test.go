package run_test

import (
	"context"
	"iter"
	"slices"
	"sync"

	"assay/audit"
	"assay/internal/store"
)

// memory is a store without a disk, which fails when told to. It keeps the first
// row of a trial of a run, as the real ones do.
type memory struct {
	mu    sync.Mutex
	kept  map[[2]string]store.Evaluation
	runs  []store.Run
	fails func(put int) error
	puts  int
}

func (m *memory) Begin(_ context.Context, r store.Run) error {
	m.runs = append(m.runs,
		r)
	return nil
}
func (m *memory) Finish(_ context.Context, r store.Run) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[len(m.runs)-1] = r
	return nil
}
func (m *memory) Put(_ context.Context, evs ...store.Evaluation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts++
	if m.fails != nil {
		if err := m.fails(m.puts); err != nil {
			return err
		}
	}
	if m.kept == nil {
		m.kept = map[[2]string]store.Evaluation{}
	}
	for _, e := range evs {
		k := [2]string{e.Run, e.Trial}
		if _, ok := m.kept[k]; !ok {
			m.kept[k] = e
		}
	}
	return nil
}
func (m *memory) rows() []store.Evaluation {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []store.Evaluation
	for _, e := range m.kept {
		out = append(out, e)
	}
	return out
}
func (m *memory) Reuse(context.Context, string, []store.Evaluation) error { return nil }
func (m *memory) Prior(_ context.Context, runs, _ []string) (map[string]store.Evaluation, error) {
	out := map[string]store.Evaluation{}
	for _, e := range m.rows() {
		of := len(runs) == 0 && e.Status == audit.Answered || slices.Contains(runs, e.Run)
		if of && e.Status != audit.Errored {
			out[e.Trial] = e
		}
	}
	return out, nil
}
func (m *memory) Spent(_ context.Context, runs []string) (sum float64, _ error) {
	for _, e := range m.rows() {
		if slices.Contains(runs, e.Run) {
			sum += e.Usage.USD
		}
	}
	return sum, nil
}
func (m *memory) Evaluations(context.Context, store.Query) iter.Seq2[store.Evaluation, error] {
	return func(yield func(store.Evaluation, error) bool) {
		for _, e := range m.rows() {
			if !yield(e, nil) {
				return
			}
		}
	}
}
func (m *memory) Attempts(context.Context, string, string) ([]audit.Attempt, error) {
	return nil,
		nil
}
func (m *memory) Errored(context.Context, []string) (map[string]store.Consumed, error) {
	return nil, nil
}
func (m *memory) Latest(context.Context) ([]store.RunVariant, error) { return nil, nil }
func (m *memory) Runs(context.Context) ([]store.Run, error) {
	newest := slices.Clone(m.runs)
	slices.Reverse(newest)
	return newest, nil
}
func (m *memory) Close() error { return nil }

func (m *memory) Summaries(ctx context.Context, q store.Query) iter.Seq2[store.Evaluation, error] {
	return m.Evaluations(ctx, q)
}

func (m *memory) PutAudit(context.Context, store.Audit) error { return nil }
func (m *memory) PriorAudits(context.Context, []string, []string) (map[string]store.Audit, error) {
	return nil, nil
}

func (m *memory) ByID(context.Context, []int64) iter.Seq2[store.Evaluation, error] {
	return func(func(store.Evaluation, error) bool) {}
}

// nothing stores nothing.
type nothing struct{ *memory }

func (nothing) Begin(context.Context, store.Run) error                  { return nil }
func (nothing) Finish(context.Context, store.Run) error                 { return nil }
func (nothing) Put(context.Context, ...store.Evaluation) error          { return nil }
func (nothing) Reuse(context.Context, string, []store.Evaluation) error { return nil }
func (nothing) Prior(context.Context, []string, []string) (map[string]store.Evaluation, error) {
	return nil, nil
}
