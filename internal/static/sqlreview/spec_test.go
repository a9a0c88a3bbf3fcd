package sqlreview

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNumbers reads requirements in the forms that writers give them.
func TestNumbers(t *testing.T) {
	for name, text := range map[string]string{
		"list":          "## Security Requirements\n\n1. **A.** One thing.\n2. **B.** Two\n   things.\n3. **C.** Three.\n",
		"bold":          "## Security Requirements\n\n**1. A.** One thing.\n\n**2. B.** Two\nthings.\n\n**3. C.** Three.\n",
		"headings":      "## Security Requirements\n\n### 1. A\n\nOne thing.\n\n### 2. B\n\nTwo\nthings.\n\n### 3. C\n\nThree.\n",
		"bold numbers":  "## Security Requirements\n\n- **R1** One thing.\n- **R2** Two\n  things.\n- **R3** Three.\n",
		"numbers alone": "## Security Requirements\n\nR1: One thing.\n\nR2: Two\nthings.\n\nR3: Three.\n",
	} {
		items := requirementItems(text)
		if assert.Len(t, items, 3, name) {
			assert.Equal(t, 2, items[1].n, name)
			assert.Regexp(t, `Two\s+things\.`, items[1].text, name)
			assert.NotContains(t, items[1].text, "Three", name)
		}
	}
}
