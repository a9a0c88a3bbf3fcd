package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/run"
)

// TestTrafficIsKept: hosts and bytes of every run of a trial stand in its transcript,
// and of all of them together in the record.
func TestTrafficIsKept(t *testing.T) {
	spoke := func(sent int64) audit.AuditRun {
		return audit.AuditRun{Network: []audit.Traffic{{Host: "llm.example:443",
			Connections: 1, Sent: sent}}}
	}
	v := &run.Audited{Run: spoke(5), Earlier: []audit.AuditRun{spoke(7)}}
	require.Equal(t, []audit.Traffic{{Host: "llm.example:443", Connections: 2, Sent: 12}},
		trialOf(v).Network)
	ts := transcripts(0, v)
	require.Len(t, ts, 2)
	require.EqualValues(t, 7, ts[0].Network[0].Sent)
	require.EqualValues(t, 5, ts[1].Network[0].Sent)
	require.False(t, strings.Contains(ts[1].Name, "try"))
}
