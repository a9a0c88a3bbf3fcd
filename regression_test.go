package assay

import (
	"testing"

	"assay/audit/audittest"
)

// TestRegression holds every project's auditors against its answer key.
func TestRegression(t *testing.T) { audittest.Regression(t, suite) }
