package suite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFakeRunsAsTheRealOne: the order of events in a fake is that of *testing.T.
func TestFakeRunsAsTheRealOne(t *testing.T) {
	order := func(run func(f func(T))) []string {
		var events []string
		run(func(t T) {
			t.Cleanup(func() { events = append(events, "gate") })
			t.Run("a", func(t T) {
				t.Run("leaf", func(t T) {
					events = append(events, "registered")
					t.Parallel()
					events = append(events, "leaf")
				})
				t.Parallel()
			})
			events = append(events, "started")
		})
		return events
	}
	want := []string{"registered", "started", "leaf", "gate"}
	require.Equal(t, want, order(func(f func(T)) { play(t, "T", f) }))
	var got []string
	t.Run("real",
		func(t *testing.T) {
			got = order(func(f func(T)) {
				t.Run("x",
					func(t *testing.T) { f(real{t}) })
			})
		})
	require.Equal(t, want, got)
}

// A real is a *testing.T as a T.
type real struct{ *testing.T }

func (r real) Run(name string, f func(T)) bool {
	return r.T.Run(name, func(t *testing.T) { f(real{t}) })
}

func TestFakeFails(t *testing.T) {
	f := play(t, "T", func(t T) {
		t.Run("a", func(t T) { t.Fatalf("at %d", 1) })
		t.Run("b", func(t T) { t.Skipf("no") })
		t.Run("c", func(t T) { t.Parallel(); t.Error("late") })
	})
	require.True(t, f.Failed())
	require.Equal(t, []string{"T/a: at 1", "T/c: late"}, f.complaints())
	require.Equal(t, "no", f.leaf("T/b").skipped)
	require.False(t, f.leaf("T/b").Failed())
}
