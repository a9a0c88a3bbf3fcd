package assay

import (
	"flag"
	"os"
	"testing"

	suites "assay/internal/suite"
)

var suite = suites.New(flag.CommandLine)

func TestMain(m *testing.M) { os.Exit(suite.Main(m)) }

// TestBench asks every chosen reviewer every chosen case.
func TestBench(t *testing.T) { suites.Bench(t, suite) }

// TestVerify holds every case against reality.
func TestVerify(t *testing.T) { suites.Verify(t, suite) }
