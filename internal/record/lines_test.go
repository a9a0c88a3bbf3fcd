package record

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWriteLines(t *testing.T) {
	type finding struct {
		Rule  string   `json:"rule"`
		Lines []int    `json:"lines"`
		Empty struct{} `json:"empty"`
	}
	v := map[string]any{"a": "x {", "findings": []finding{{"a,b [", []int{1, 2}, struct{}{}}, {"c", nil, struct{}{}}}, "none": []int{}, "z": 1}
	got, err := writeLines(v, 2)
	require.NoError(t, err)
	require.Equal(t, `{
 "a": "x {",
 "findings": [
  {"rule": "a,b [", "lines": [1, 2], "empty": {}},
  {"rule": "c", "lines": null, "empty": {}}
 ],
 "none": [],
 "z": 1
}
`, string(got))
	require.True(t, json.Valid(got))
}
