package auditor_test

import (
	"os"
	"testing"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"

	"github.com/stretchr/testify/require"
)

// Every line of models.md names a reviewer that can be asked, and says its price.
func TestModelsOfTheRepository(t *testing.T) {
	models, err := fixture.ReadModels(os.DirFS("../.."), "fixtures/models.md")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(models), 12)
	d := auditor.Registry{Models: models, Budget: 5, Getenv: func(name string) string {
		if name == "ASSAY_BASE_URL" {
			return ""
		}
		return "key"
	}}
	for _, m := range models {
		r, err := d.Reviewer(m.Name)
		require.NoError(t, err)
		require.True(t, m.Priced, m.Pos)
		expected, most, known := r.(interface {
			Cost(audit.ReviewTask) (float64, float64, bool)
		}).Cost(task)
		require.True(t, known)
		require.Less(t, expected, most, m.Pos)
		require.Less(t, most, 1.0, "%s: one trial reserves less than a dollar", m.Pos)
	}
	prompt, err := fixture.ReadPrompt(os.DirFS("../.."), "fixtures/prompts", "evaluation-prompt")
	require.NoError(t, err)
	for _, word := range []string{"verdict", "explanation", "violated_requirements", "cwes",
		"good", "bad"} {
		require.Contains(t, prompt, word)
	}
}
