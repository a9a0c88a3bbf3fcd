package auditor_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/run/testdata/mockapi"
)

func readViolations(reply string) audit.Review {
	return auditor.ReadReply(&audit.ReviewTask{Files: []audit.Block{{Path: "b.go"}}}, reply)
}

func TestReadViolations(t *testing.T) {
	full := audit.Violation{File: "a/b.go", Function: "f", Lines: audit.Range{Start: 12, End: 12}, Rule: 4, CWEs: []audit.CWE{862}, Why: "no check"}
	at := func(from, to int) audit.Violation {
		return audit.Violation{File: "b.go", Lines: audit.Range{Start: from, End: to}}
	}
	for _, tt := range []struct {
		name, reply string
		want        []audit.Violation
		status      audit.Status // empty: answered
		detail      string
	}{
		{"as asked", `{"violations":[{"explanation":"no check","rule":4,"file":"a/b.go","function":"f","line":12,"cwe":"CWE-862"}]}`, []audit.Violation{full}, "", ""},
		{"none", `{"violations":[]}`, nil, "", ""},
		{"fenced, after reasoning", "<think>{\"violations\":[{\"file\":\"x\"}]}</think>Here:\n```json\n{\"violations\": []}\n```", nil, "", ""},
		{"a list alone", `[{"file":"b.go","line":3}]`, []audit.Violation{at(3, 3)}, "", ""},
		{"an empty list alone", "I found nothing.\n[]", nil, "", ""},
		{"a list alone whose reason begins as a refusal does", `[{"file":"b.go","line":3,"explanation":"This request violates rule 4."}]`,
			[]audit.Violation{{File: "b.go", Lines: audit.Range{Start: 3, End: 3}, Why: "This request violates rule 4."}}, "", ""},
		{"a list alone, and brackets behind it", "I found:\n[{\"file\":\"b.go\",\"line\":3}]\nSee [2].", []audit.Violation{at(3, 3)}, "", ""},
		{"wrapped", `{"review":{"findings":[{"path":"b.go","lines":[3,5]}]}}`, []audit.Violation{at(3, 5)}, "", ""},
		{"lines in many forms", `{"issues":[{"file":"b.go:3-5"},{"file":"b.go","start_line":3,"end_line":5},{"file":"b.go","lines":"L3-L5"},{"file":"b.go#L3-L5"},{"file":"b.go","lines":{"start":3,"end":5}}]}`,
			[]audit.Violation{at(3, 5), at(3, 5), at(3, 5), at(3, 5), at(3, 5)}, "", ""},
		{"rule in words, no weakness", `{"violations":[{"file":"b.go","rule":"Rule 7: only masters","cwe":null}]}`, []audit.Violation{{File: "b.go", Rule: 7}}, "", ""},
		{"a route and a method of HTTP beside them", `{"violations":[{"file":"b.go","path":"/cart","function":"f","method":"POST","line":3,"rule":4,"requirement":"2 owners"}]}`,
			[]audit.Violation{{File: "b.go", Function: "f", Lines: audit.Range{Start: 3, End: 3}, Rule: 4}}, "", ""},
		{"a trailing comma", `{"violations":[{"file":"b.go","line":3,},]}`, []audit.Violation{at(3, 3)}, "", ""},
		{"the same list twice", `{"violations":[{"file":"b.go","line":3}]} So: {"violations":[{"file":"b.go","line":3}]}`, []audit.Violation{at(3, 3)}, "", ""},
		{"a draft and the answer", `{"violations":[]} Wait, there is one: {"violations":[{"file":"b.go","line":3}]}`, []audit.Violation{at(3, 3)}, "", ""},

		{"two lists that differ", `{"violations":[]} {"violations":[{"file":"b.go","line":3}]}`, nil, audit.Malformed, "two lists"},
		{"two lists that differ, and a change of mind elsewhere", `Wait. {"violations":[]} {"violations":[{"file":"b.go","line":3}]}`, nil, audit.Malformed, "two lists"},
		{"a list a file", `Final answer: {"a.go":{"violations":[{"file":"a.go","line":1}]},"b.go":{"violations":[{"file":"b.go","line":3}]}}`, nil, audit.Malformed, "two lists"},
		{"a draft, and a list a file", `{"violations":[]} Finally: {"a.go":{"violations":[{"file":"a.go","line":1}]},"b.go":{"violations":[{"file":"b.go","line":3}]}}`, nil, audit.Malformed, "two lists"},
		{"cut off", `{"violations":[{"file":"b.go","line":3},{"file"`, nil, audit.Malformed, "cut off"},
		{"a list cut off", `[{"file":"b.go","line":3},`, nil, audit.Malformed, "no list"},
		{"prose", "The module looks fine to me.", nil, audit.Malformed, "no list"},
		{"a verdict", `{"verdict":"good"}`, nil, audit.Malformed, "no list"},
		{"a verdict with lists of its own", `{"verdict":"good","violated_requirements":[],"cwes":[]}`, nil, audit.Malformed, "no list"},
		{"boxes to tick", "- [ ] Rule 1\n- [x] Rule 2", nil, audit.Malformed, "no list"},
		{"declined in an object", `{"explanation":"I cannot review this."}`, nil, audit.Refused, "declined"},
		{"no file", `{"violations":[{"line":3}]}`, nil, audit.Malformed, "violation 1 names no file"},
		{"a text in the list", `{"violations":["b.go is bad"]}`, nil, audit.Malformed, `violation 1 is "b.go is bad"`},
		{"empty", "", nil, audit.Malformed, "empty"},
		{"reasoning without an end", "<think>{\"violations\":[]}", nil, audit.Malformed, "ends within its reasoning: no list of violations"},
		{"declined", "I'm sorry, but I can't assist with that.", nil, audit.Refused, "declined"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := readViolations(tt.reply)
			require.Equal(t, tt.reply, r.Raw)
			if tt.status != "" {
				require.Equal(t, tt.status, r.Status, r.Violations)
				require.Contains(t, r.Detail, tt.detail)
				return
			}
			require.Equal(t, audit.Answered, r.Status, r.Detail)
			require.Equal(t, tt.want, r.Violations)
			require.Equal(t, len(tt.want) > 0, r.Verdict == audit.Bad)
		})
	}
}

// What was stored is read back; what a reply holds, whatever it is, can be stored.
func FuzzReadViolations(f *testing.F) {
	f.Add(`{"violations":[{"explanation":"no check","rule":4,"file":"a/b.go:3","function":"f","line":[1,2],"cwe":["CWE-862"]}]}`)
	f.Add(`[{"file":"b.go","lines":"99999999-1"}]`)
	f.Fuzz(func(t *testing.T, reply string) {
		r := readViolations(reply)
		require.Contains(t, []audit.Status{audit.Answered, audit.Refused, audit.Malformed}, r.Status)
		back, err := audit.ParseViolations(audit.FormatViolations(r.Violations))
		require.NoError(t, err)
		require.Len(t, back, len(r.Violations))
	})
}

// A module is one request: rules, prompt, each file with numbered lines, the schema
// of a list, and room for an answer.
func TestChatReviewsAModule(t *testing.T) {
	srv := mockapi.New(func(mockapi.Request) mockapi.Reply {
		return mockapi.Reply{Content: `{"violations":[{"explanation":"x","rule":1,"file":"a.go","function":"f","line":2,"cwe":"CWE-862"}]}`}
	})
	defer srv.Close()
	c, err := auditor.Chat(auditor.ChatConfig{Name: "m", Provider: "x", BaseURL: srv.BaseURL, Model: audit.Model{ID: "m", Priced: true, In: 1, Out: 1}})
	require.NoError(t, err)
	task := audit.ReviewTask{Spec: "1. Be good.", Prompt: "Find all.", Files: []audit.Block{{Path: "a.go", Language: "go", Code: "package a\nfunc f() {}\n"}, {Path: "b.md", Language: "md", Code: "```\n"}}}
	r, err := c.Review(context.Background(), task)
	require.NoError(t, err)
	require.Equal(t, audit.Bad, r.Verdict, r.Detail)
	require.Equal(t, []int{1}, r.Violates)
	require.Len(t, srv.Requests(), 1)
	got := srv.Requests()[0]
	require.Equal(t, "1. Be good.\n\nFind all.\n\n## a.go\n\n```go\n1| package a\n2| func f() {}\n```\n\n## b.md\n\n````md\n1| ```\n````\n\n", got.Prompt)
	var body struct {
		MaxTokens int `json:"max_tokens"`
		Format    struct {
			Schema struct{ Schema json.RawMessage } `json:"json_schema"`
		} `json:"response_format"`
	}
	require.NoError(t, json.Unmarshal(got.Body, &body))
	require.Equal(t, 16384, body.MaxTokens)
	require.Contains(t, string(body.Format.Schema.Schema), `"violations"`)
	_, most, known := c.(interface {
		Cost(audit.ReviewTask) (float64, float64, bool)
	}).Cost(task)
	require.True(t, known)
	require.Greater(t, most, 16384/1e6, "the reserve is for all that it may write")
}

func TestControlsOfModules(t *testing.T) {
	task := audit.ReviewTask{Files: []audit.Block{{Path: "a.go", Code: strings.Repeat("x\n", 12)}}}
	nothing, err := auditor.Control("control-nothing").Review(context.Background(), task)
	require.NoError(t, err)
	require.Equal(t, []any{audit.Good, 0}, []any{nothing.Verdict, len(nothing.Violations)})
	everything, err := auditor.Control("control-everything").Review(context.Background(), task)
	require.NoError(t, err)
	var lines []audit.Range
	for _, v := range everything.Violations {
		require.Len(t, v.CWEs, 3)
		lines = append(lines, v.Lines)
	}
	require.Equal(t, []audit.Range{{Start: 1, End: 5}, {Start: 6, End: 10}, {Start: 11, End: 12}}, lines)
	words, err := auditor.Control("control-words").Review(context.Background(), task)
	require.NoError(t, err)
	require.Equal(t, audit.Malformed, words.Status)
}
