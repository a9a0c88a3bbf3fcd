package auditor

import (
	"bytes"
	"encoding/json"
	"fmt"

	"assay/audit"
	"assay/internal/box"
	"assay/internal/events"
)

// usageFile is the file of $ASSAY_OUT, named by $ASSAY_USAGE, in which an agent states what
// it consumed.
const usageFile = "usage.jsonl"

// maxUsage bounds that file, in bytes.
const maxUsage = 1 << 20

// statedUsage is a line of that file: the cost and tokens of one request, or of the whole run.
type statedUsage struct {
	USD       *float64 `json:"usd"`
	TokensIn  int64    `json:"input_tokens"` // everything that the model read, cached or not
	TokensOut int64    `json:"output_tokens"`
	Model     string   `json:"model"` // that answered
}

// readUsage adds what a run stated in its file of usage to said: the sum of the lines, and the
// models that answered. It returns what is wrong with the file; "" for none and for a right one.
func readUsage(home *box.Home, said *events.AgentResult) (wrong string) {
	if !home.Wrote(usageFile) {
		return ""
	}
	text, err := home.Read(usageFile, maxUsage)
	if err != nil {
		return err.Error()
	}
	sum, n := audit.Usage{Priced: true}, 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		n++
		var u statedUsage
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&u); err != nil || u.TokensIn < 0 || u.TokensOut < 0 || u.USD != nil &&
			*u.USD < 0 {
			return fmt.Sprintf("$ASSAY_USAGE:%d: %s: expected a line like "+
				`{"usd": 0.0021, "input_tokens": 1200, "output_tokens": 340, "model": "gpt-5-mini"}`,
				n, audit.OneLine(string(line), 100))
		}
		one := audit.Usage{TokensIn: u.TokensIn, TokensOut: u.TokensOut, Turns: 1,
			Priced: u.USD != nil}
		if u.USD != nil {
			one.USD = *u.USD
		}
		sum = sum.Add(one)
		if u.Model != "" && (len(said.Served) == 0 || said.Served[len(said.Served)-1] != u.Model) {
			said.Served = append(said.Served, u.Model)
		}
	}
	if n > 0 {
		said.Usage = sum
	}
	return ""
}
