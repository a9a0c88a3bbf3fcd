package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestTrafficInTheNotes: with whom the runs spoke is a note of the record, hosts of
// several trials together.
func TestTrafficInTheNotes(t *testing.T) {
	r := &Record{Trials: []RecordedTrial{
		{Network: []audit.Traffic{{Host: "llm.example:443", Connections: 1, Sent: 100,
			Received: 2000}, {Host: "evil.example:443", Refused: 2}}},
		{Network: []audit.Traffic{{Host: "llm.example:443", Connections: 2, Refused: 1,
			Sent: 11, Received: 22}}},
	}}
	require.Contains(t, r.Text(),
		"; network: evil.example:443 (not let through, refused 2 times), llm.example:443 (111 bytes sent, 2022 received, refused 1 times)")
	require.Len(t, r.Trials[0].Network, 2, "what is added up is left as it was")
	require.EqualValues(t, 100, r.Trials[0].Network[0].Sent)
	require.NotContains(t, (&Record{Trials: []RecordedTrial{{}}}).Text(), "network:")
}
