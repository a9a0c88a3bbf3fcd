package assay

import (
	"testing"

	suites "assay/internal/suite"
)

// TestSmoke audits one Java class: five planted flaws, five checks.
func TestSmoke(t *testing.T) { suites.Smoke(t, suite) }
