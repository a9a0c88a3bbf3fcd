package rules

import (
	"testing"
	"testing/fstest"

	"assay/internal/static/lang"

	"github.com/stretchr/testify/require"
)

const soundRule = "rules:\n  - {id: a, title: T, cwe: [89], dim: Injection, sev: HIGH, lang: [go], why: W, match: [{call: \"db.Query\", arg: \"0\"}]}\n"

// TestErrorsTeach: what is wrong in a file of rules is told with the file and the rule.
func TestErrorsTeach(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown field", "rules:\n  - {id: a, colour: red}\n", "colour"},
		{"id twice", soundRule + "  - {id: a, title: T, cwe: [89], dim: Injection, sev: HIGH, lang: [go], why: W, match: [{call: \"x\"}]}\n", "rule a: the id is missing or used twice"},
		{"nothing to match", "rules:\n  - {id: b, title: T, cwe: [89], dim: Injection, sev: HIGH, lang: [go], why: W}\n", "rule b: it has nothing to match"},
		{"no such severity", "rules:\n  - {id: b, title: T, cwe: [89], dim: Injection, sev: LOUD, lang: [go], why: W, match: [{call: \"x\"}]}\n", "rule b"},
		{"no such class", "models:\n  - {kind: clean, lang: [go], class: [soap], call: \"f\"}\n", "soap"},
		{"no such kind", "models:\n  - {kind: sink, lang: [go], call: \"f\"}\n", "sink"},
		{"alternatives behind two receivers", "models:\n  - {kind: clean, lang: [go], class: [sql], call: \"a.f|b.g\"}\n", "alternatives stand behind one receiver only"},
		{"no such scope", "rules:\n  - {id: b,\n     match: [{call: \"x\", absent: {planet: \"a\"}}]}\n", `line 3: "planet" is no scope`},
		{"no such condition", "rules:\n  - {id: b,\n     match: [{call: \"x\", where: {\"0\": odd}}]}\n", `line 3: where 0: "odd": expected`},
		{"broken expression of a scope", "rules:\n  - {id: b,\n     match: [{call: \"x\", absent: {file: \"(\"}}]}\n", "line 3: error parsing regexp: missing closing )"},
		{"broken expression", "rules:\n  - {id: b, title: T, cwe: [89], dim: Injection, sev: HIGH, lang: [go], why: W, match: [{call: \"/(/.f\"}]}\n", "rule b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(fstest.MapFS{"x.yaml": {Data: []byte(tt.text)}})
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "x.yaml")
		})
	}
	_, err := Read(fstest.MapFS{})
	require.EqualError(t, err, "there are no rules: expected *.yaml")
}

// TestHash: a changed rule changes the hash, a file that a check owns as well.
func TestHash(t *testing.T) {
	a, err := Read(fstest.MapFS{"x.yaml": {Data: []byte(soundRule)}})
	require.NoError(t, err)
	same, err := Read(fstest.MapFS{"x.yaml": {Data: []byte(soundRule)}})
	require.NoError(t, err)
	require.Equal(t, a.Hash, same.Hash)
	b, err := Read(fstest.MapFS{"x.yaml": {Data: []byte(soundRule)}, "data-y.yaml": {Data: []byte("z: 1\n")}})
	require.NoError(t, err)
	require.NotEqual(t, a.Hash, b.Hash)
}

// TestModelsServeRules: a cleaner or check of which no rule of its language asks is
// dead weight.
func TestModelsServeRules(t *testing.T) {
	set, err := Load()
	require.NoError(t, err)
	asked := map[lang.Lang]Classes{}
	for _, r := range set.Rules {
		for _, l := range r.Lang {
			asked[lang.Lang(l)] |= r.Clean
		}
	}
	for l, table := range set.Tables {
		for _, patterns := range table.Guards {
			for _, p := range patterns {
				require.NotZero(t, p.Model.Class&asked[l], "%s: the check %s serves no rule", l, p.Model.Call)
				if p.Model.Class&asked[l] != 0 {
					asked[l] |= p.Model.Needs
				}
			}
		}
	}
	for l, table := range set.Tables {
		for _, patterns := range table.Cleans {
			for _, p := range patterns {
				require.NotZero(t, p.Model.Class&asked[l], "%s: the cleaner %s serves no rule", l, p.Model.Call)
			}
		}
	}
}
