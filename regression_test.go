package assay

import "testing"

// TestRegression holds every project's auditors against its answer key.
func TestRegression(t *testing.T) { suites.Regression(t) }
