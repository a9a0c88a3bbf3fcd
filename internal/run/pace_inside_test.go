package run

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPaceHalvesOncePerBurst(t *testing.T) {
	now := time.Now()
	p := newPace(16)
	var burst []uint64
	for p.ready(now) {
		burst = append(burst, p.begin())
	}
	require.Len(t, burst, 16)
	for _, n := range burst {
		p.end(n, true, 0, now)
	}
	require.Equal(t, 8.0, p.limit, "sixteen complaints about one burst are one complaint")
	n := p.begin()
	p.end(n, true, 0, now)
	require.Equal(t, 4.0, p.limit, "one about what began since is another")
	for range 4 {
		p.end(p.begin(), false, 0, now)
	}
	require.InDelta(t, 5, p.limit, 0.2, "a full round that goes well adds one")
	for range 1000 {
		p.end(p.begin(), false, 0, now)
	}
	require.Equal(t, 16.0, p.limit, "and never more than was asked for")
	for range 100 {
		p.end(p.begin(), true, 0, now)
	}
	require.Equal(t, 1.0, p.limit, "one is always tried")
	p.end(p.begin(), true, time.Minute, now)
	require.False(t, p.ready(now.Add(59*time.Second)))
	require.True(t, p.ready(now.Add(time.Minute)))
}
