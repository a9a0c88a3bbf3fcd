package assay

import (
	"testing"

	"assay/audit/audittest"
)

// TestSmoke audits one Java class: five planted flaws, five checks.
func TestSmoke(t *testing.T) { audittest.Smoke(t, suite) }
