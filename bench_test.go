package assay

import (
	"flag"
	"os"
	"testing"

	"assay/audit/audittest"
)

var suite = audittest.New(flag.CommandLine)

func TestMain(m *testing.M) { os.Exit(suite.Main(m)) }

// TestBench asks every chosen reviewer every chosen case.
func TestBench(t *testing.T) { audittest.Bench(t, suite) }

// TestVerify holds every case against reality.
func TestVerify(t *testing.T) { audittest.Verify(t, suite) }
