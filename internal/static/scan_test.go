package static

import (
	"context"
	"fmt"
	"os"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestScan prints what the analyser finds in the folder that ASSAY_SCAN names,
// with its speed: the command behind the figures of docs/static.md.
func TestScan(t *testing.T) {
	dir := os.Getenv("ASSAY_SCAN")
	if dir == "" {
		t.Skip("ASSAY_SCAN names no folder")
	}
	start := time.Now()
	RulesHash()
	loaded := time.Since(start)
	res, err := New(Options{}).Analyse(context.Background(), os.DirFS(dir))
	require.NoError(t, err)
	took := time.Since(start)
	for _, f := range res.Findings {
		fmt.Printf("%-9s %-28s %v %s:%s %s conf=%.2f\n", f.Severity, f.RuleID, f.CWEs, f.File, f.Lines, f.Function, f.Confidence)
		if os.Getenv("ASSAY_SCAN_TRACE") != "" {
			for _, s := range f.Trace {
				fmt.Printf("            %s:%s %s\n", s.File, s.Lines, s.Note)
			}
		}
	}
	count := map[string]int{}
	for _, f := range res.Findings {
		count[f.RuleID]++
	}
	ids := make([]string, 0, len(count))
	for id := range count {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return count[ids[i]] > count[ids[j]] })
	for _, id := range ids {
		fmt.Printf("%5d %s\n", count[id], id)
	}
	for i, w := range res.Warnings {
		if i < 20 {
			fmt.Println("warning:", w)
		}
	}
	fmt.Printf("%d files (%d parsed), %d bytes, %d findings, %d warnings, rules in %v, %v: %.0f files/s, %.2f MB/s\n", res.Files, res.Parsed, res.Bytes,
		len(res.Findings), len(res.Warnings), loaded.Round(time.Millisecond), took.Round(time.Millisecond), float64(res.Files)/took.Seconds(), float64(res.Bytes)/1e6/took.Seconds())
}
