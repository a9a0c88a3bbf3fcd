package static

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestFunctionName holds that a finding names the function that the source
// names, also where it is named by what it is assigned to.
func TestFunctionName(t *testing.T) {
	for code, want := range map[string]string{
		"exports.calc = (req, res) => { res.json(fs.readFileSync(req.query.x)); };":                  "calc",
		"const calc = async function (req, res) { res.json(fs.readFileSync(req.query.x)); };":        "calc",
		"module.exports = { calc(req, res) { res.json(fs.readFileSync(req.query.x)); } };":           "calc",
		"class C { calc(req, res) { res.json(fs.readFileSync(req.query.x)); } }":                     "calc",
		"module.exports = function calc() { return (req, res) => { fs.readFileSync(req.body.x); } }": "calc",
		"app.get('/x', (req, res) => { res.json(fs.readFileSync(req.query.x)); });":                  "",
	} {
		t.Run(code[:20], func(t *testing.T) {
			res, err := New(Options{}).Analyse(context.Background(), fstest.MapFS{"a.js": {Data: []byte(code)}})
			require.NoError(t, err)
			require.NotEmpty(t, res.Findings)
			require.Equal(t, "js.path-traversal", res.Findings[0].RuleID)
			require.Equal(t, want, res.Findings[0].Function, code)
		})
	}
}
