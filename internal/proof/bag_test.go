package proof_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/proof"
)

func TestBagOfTokens(t *testing.T) {
	told := invented(3, 10, func(bad bool, _, _ int) string {
		if bad {
			return " eval(x)"
		}
		return ""
	})
	for _, f := range proof.BagOfTokens(told) {
		require.Equal(t, 1.0, f.Balanced, "a word that only bads hold")
		require.Equal(t, 1.0, f.AUC)
		require.Equal(t, 120, f.TrainedOn)
		require.Equal(t, [2]int{20, 40}, [2]int{f.Goods, f.Bads})
	}
	commented := invented(3, 10, func(bad bool, _, _ int) string {
		if bad {
			return " -- eval\n"
		}
		return ""
	})
	for _, f := range proof.BagOfTokens(commented) {
		require.Less(t, f.Balanced, 0.7, "comments are no code")
	}
	require.Empty(t, proof.BagOfTokens(told[:1]), "nothing to learn from")
}

// docs/maintainers/proving-cases.md shows what the words alone give.
func TestBagOfTokensIsShown(t *testing.T) {
	if os.Getenv("ASSAY_APP") != "" {
		t.Skip("ASSAY_APP: one application alone")
	}
	least, most := 1.0, 0.0
	for _, f := range proof.BagOfTokens(corpora(t)) {
		least, most = min(least, f.AUC), max(most, f.AUC)
	}
	page, err := os.ReadFile("../../docs/maintainers/proving-cases.md")
	require.NoError(t, err)
	require.Contains(t, string(page), fmt.Sprintf("an AUC of %.2f to %.2f", least, most))
}
