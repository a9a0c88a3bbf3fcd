package report

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoFormulasInCSV: what others named is text to a spreadsheet, whichever column it is in.
func TestNoFormulasInCSV(t *testing.T) {
	f := &facts{}
	for _, name := range []string{"=HYPERLINK(1)", "+1", "-1", "@x", "\t=1", "\r=1", "a=1"} {
		f.Audits = append(f.Audits, auditFact{Suite: name, Project: name, Auditor: name})
	}
	var b bytes.Buffer
	require.NoError(t, f.csv(&b))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Greater(t, len(rows), 7)
	for _, row := range rows {
		for _, cell := range row[:4] {
			require.NotRegexp(t, `^[=+\-@\t\r]`, cell)
		}
	}
}
