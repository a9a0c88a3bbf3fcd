package proof_test

import (
	"fmt"
	"os"
	"strings"
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

// docs/proving-cases.md shows what the words alone give.
func TestBagOfTokensIsShown(t *testing.T) {
	if os.Getenv("ASSAY_APP") != "" {
		t.Skip("ASSAY_APP: one application alone")
	}
	var rows []string
	for _, f := range proof.BagOfTokens(corpora(t)) {
		rows = append(rows, fmt.Sprintf("| %s | %d | %d | %.2f | %.1f %% |\n", f.App, f.Goods+f.Bads, f.TrainedOn, f.AUC, 100*f.Balanced))
	}
	page, err := os.ReadFile("../../docs/proving-cases.md")
	require.NoError(t, err)
	if table := strings.Join(rows, ""); !strings.Contains(string(page), table) {
		t.Errorf("docs/proving-cases.md shows another table for the bag of tokens: expected\n%s", table)
	}
}
