package main

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestGroundTruth reads RealVuln's form of a key, and what new project --key json prints.
func TestGroundTruth(t *testing.T) {
	rows, err := truthRows("g.json", []byte(`{"repo_id": "r", "findings": [
		{"id": "r-001", "is_vulnerable": true, "vulnerability_class": "sql_injection", "primary_cwe": "CWE-89",
		 "acceptable_cwes": ["CWE-89", "CWE-564"], "file": "a.py", "severity": "high",
		 "location": {"start_line": 12, "end_line": 14, "function": "find"}},
		{"id": "r-fp-001", "is_vulnerable": false, "primary_cwe": "CWE-79", "file": "b.py", "location": {"start_line": 3}}]}`))
	require.NoError(t, err)
	require.Equal(t, []imported{
		{pos: audit.Pos{File: "g.json", Line: 2}, vulnerable: true, path: "a.py", function: "find",
			lines: "12-14",
			cwes:  []audit.CWE{89, 564}, severity: "HIGH", title: "sql injection"},
		{pos: audit.Pos{File: "g.json", Line: 5}, path: "b.py", lines: "3", cwes: []audit.CWE{79},
			title: "r-fp-001"},
	}, rows)
	for doc, want := range map[string]string{
		"{\"findings\": [\n{\"id\": \"x\", \"is_vulnerable\": true, \"file\": \"a\"}]}":                           `g.json:2: finding "x": expected is_vulnerable (true or false), file, and primary_cwe`,
		"{\"findings\": [\n{\"id\": \"x\", \"is_vulnerable\": true, \"file\": \"a\", \"primary_cwe\": \"SQL\"}]}": `g.json:2: finding "x": "SQL" is no CWE`,
		"{\"findings\": [\n{\"id\": \"x\", \"is_vulnerable\": true, \"file\": 5}]}":                               "g.json:2: finding 1: json: cannot unmarshal number",
		`{"findings": [{"is_vulnerable": true}`:                                                                   "the JSON is broken or breaks off",
	} {
		_, err := truthRows("g.json", []byte(doc))
		require.ErrorContains(t, err, want)
	}

	var out bytes.Buffer
	was := stdout.To
	stdout.To = io.Writer(&out)
	defer func() { stdout.To = was }()
	for _, name := range []string{"vampi", "club@3"} {
		out.Reset()
		c := &newProjectCmd{Name: name, Key: "json"}
		c.source.Root = "../.."
		require.NoError(t, c.Run(t.Context()))
		var key truth
		require.NoError(t, json.Unmarshal(out.Bytes(), &key))
		rows, err := truthRows("key.json", out.Bytes())
		require.NoError(t, err)
		require.Len(t, rows, len(key.Findings))
		require.Greater(t, len(rows), 5)
		require.Equal(t, key.Findings[0].File, rows[0].path)
		require.Equal(t, key.Findings[0].Title, rows[0].title)
	}
}
