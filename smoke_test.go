package assay

import "testing"

// TestSmoke audits one Java class: five planted flaws, five checks.
func TestSmoke(t *testing.T) { suites.Smoke(t) }
