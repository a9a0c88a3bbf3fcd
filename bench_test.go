package assay

import (
	"os"
	"testing"
)

var suites = New()

func TestMain(m *testing.M) { os.Exit(suites.Main(m)) }

// TestBench asks every chosen reviewer every chosen case.
func TestBench(t *testing.T) { suites.Bench(t) }

// TestVerify holds every case against reality.
func TestVerify(t *testing.T) { suites.Verify(t) }
