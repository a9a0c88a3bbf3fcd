package score_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/cwe"
)

func realDimensions(t testing.TB) map[audit.CWE]audit.Dimension {
	t.Helper()
	m, err := fixture.ReadDimensions(os.DirFS("../.."), "fixtures/dimensions.md")
	require.NoError(t, err)
	return m
}

// Every weakness that a rule of the map's prose names lies where the prose says,
// and no number is mapped that the catalogue does not list or has withdrawn.
func TestDimensionsMap(t *testing.T) {
	m := realDimensions(t)
	require.GreaterOrEqual(t, len(m), 250)
	for c := range m {
		e, ok := cwe.Lookup(int(c))
		require.True(t, ok, "%v is not in the catalogue", c)
		require.False(t, e.Deprecated, "%v is deprecated", c)
	}
	for d, cs := range map[audit.Dimension][]audit.CWE{
		audit.Injection:       {89, 564, 78, 79, 94, 611, 917, 1336, 20, 117, 113, 90, 643, 943},
		audit.Auth:            {287, 306, 307, 352, 384, 613, 640, 862, 863, 284, 285, 269},
		audit.Crypto:          {798, 259, 321, 327, 328, 330, 338, 295, 347, 916, 759},
		audit.DataExposure:    {200, 209, 311, 312, 319, 359, 522, 532, 256},
		audit.Deserialization: {502},
		audit.SSRF:            {918},
		audit.FileOps:         {22, 23, 36, 73, 98, 434, 552},
		audit.BusinessLogic: {639, 566, 601, 915, 1321, 362, 367, 840, 841, 400, 770, 1333, 787,
			125, 416, 190, 476},
		audit.Configuration: {16, 489, 614, 1004, 942, 1021, 732, 276, 778},
		audit.SupplyChain:   {1104, 1395, 937, 494, 829},
	} {
		for _, c := range cs {
			require.Equal(t, d, m[c], "%v", c)
		}
	}
}
