package auditor_test

import (
	"strings"
	"testing"

	"assay/audit"
	"assay/audit/auditor"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const (
	good = "good"
	bad  = "bad"
	no   = "malformed"
	not  = "refused"
)

// shapes are replies as models give them, each built after a behaviour that is
// documented where source says, or that we add (ours). want is the verdict, or the status of a reply
// without one.
var shapes = []struct {
	name, source, reply, want string
	violates                  []int
	cwes                      []audit.CWE
}{
	// The form that was asked for.
	{"as asked", "OpenAI, Structured Outputs guide", `{"explanation":"fine","verdict":"good","violated_requirements":[],"cwes":[]}`, good, nil, nil},
	{"bad with lists", "OpenAI, Structured Outputs guide", `{"explanation":"no tenant","verdict":"bad","violated_requirements":[2,5],"cwes":["CWE-639","CWE-284"]}`, bad, []int{2, 5}, []audit.CWE{639, 284}},
	{"many lines", "OpenAI, JSON mode: indented output", "{\n  \"verdict\": \"bad\",\n  \"explanation\": \"x\"\n}\n", bad, nil, nil},
	{"leading white space", "Ollama, API docs: format json may write white space first", "\n\n   \t{\"verdict\":\"good\"}", good, nil, nil},
	{"byte order mark", "RFC 8259, section 8.1: a parser may ignore one", "\ufeff{\"verdict\":\"good\"}", good, nil, nil},
	{"fields in another order", "Gemini API, structured output: properties come in an order of the model's", `{"cwes":[],"verdict":"good","explanation":"x"}`, good, nil, nil},
	{"further fields", "OpenAI, JSON mode: no schema is held to", `{"verdict":"bad","severity":"high","notes":null,"confidence":0.8}`, bad, nil, nil},

	// Fences.
	{"fence json", "GitHub, langchain-ai/langchain issue 23297", "```json\n{\"verdict\":\"bad\"}\n```", bad, nil, nil},
	{"fence without language", "GitHub, crewAIInc/crewAI pull request 4641", "```\n{\"verdict\":\"good\"}\n```", good, nil, nil},
	{"fence and prose", "GitHub, dspy-community/dspy-template-adapter issue 2", "Here is my assessment:\n\n```json\n{\"verdict\":\"bad\"}\n```\n\nLet me know if you need more.", bad, nil, nil},
	{"tilde fence", "CommonMark 0.31, fenced code blocks", "~~~json\n{\"verdict\":\"good\"}\n~~~", good, nil, nil},
	{"open fence", "ours: the closing fence is missing", "```json\n{\"verdict\":\"good\"}", good, nil, nil},
	{"fence of code, then answer", "GitHub, NVIDIA-NeMo/labs-OO-Agents pull request 238", "The query is\n```sql\nSELECT '{' FROM t\n```\nso:\n{\"verdict\":\"bad\"}", bad, nil, nil},

	// Text around.
	{"text before", "Anthropic docs, increase output consistency: preamble", "Sure! Here is the JSON:\n{\"verdict\":\"good\"}", good, nil, nil},
	{"text after", "Anthropic docs, increase output consistency: epilogue", "{\"verdict\":\"good\"}\n\nThis query is safe since it filters by tenant.", good, nil, nil},
	{"braces in the prose", "ours: code quoted in an answer", "The placeholder ${name} is pasted in; so {\"verdict\":\"bad\"}", bad, nil, nil},
	{"stray brace in the prose", "ours: code quoted in an answer", "if (x) { return; \n\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"code object before", "ours: code quoted in an answer", "func f() { return 1 }\n{\"verdict\":\"good\"}", good, nil, nil},

	// Reasoning.
	{"think", "mistral.rs documentation, module think_tags", "<think>\nIt looks {\"verdict\":\"good\"} but no.\n</think>\n\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"think without opening", "Hugging Face, Qwen/QwQ-32B discussion 19", "hmm, good?\n</think>\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"empty think", "Qwen3 README: empty think block without thinking", "<think>\n\n</think>\n\n{\"verdict\":\"good\"}", good, nil, nil},
	{"think never ends", "mistral.rs documentation, module think_tags: an unclosed one is reasoning", "<think>\nFirst, {\"verdict\":\"good\"} may be", no, nil, nil},
	{"think and nothing", "vLLM docs, reasoning outputs: empty content", "<think>bad</think>", no, nil, nil},
	{"thinking tag", "Anthropic docs, let Claude think: <thinking> and <answer>", "<thinking>maybe good</thinking><answer>bad</answer>", bad, nil, nil},
	{"reflection", "Reflection 70B model card: <reflection>", "<reflection>{\"verdict\":\"good\"}</reflection>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"magistral", "Mistral, Magistral model card: [THINK]", "[THINK]good, or?[/THINK]{\"verdict\":\"bad\"}", bad, nil, nil},
	{"cohere", "Cohere, Command A Reasoning: START_THINKING", "<|START_THINKING|>good?<|END_THINKING|>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"kimi", "Moonshot, Kimi-VL-Thinking model card", "◁think▷good?◁/think▷{\"verdict\":\"bad\"}", bad, nil, nil},
	{"reason tag", "Open WebUI documentation, reasoning models: default tags", "<reason>good?</reason>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"thought tag", "Open WebUI documentation, reasoning models: default tags", "<thought>{\"verdict\":\"good\"}</thought>\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"begin of thought", "Open WebUI documentation, reasoning models: default tags", "<|begin_of_thought|>{\"verdict\":\"good\"}<|end_of_thought|>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"harmony", "OpenAI, harmony response format: channels", "<|channel|>analysis<|message|>{\"verdict\":\"good\"}<|end|><|start|>assistant<|channel|>final<|message|>{\"verdict\":\"bad\"}<|return|>", bad, nil, nil},
	{"harmony, analysis alone", "OpenAI, harmony response format: cut off before final", "<|channel|>analysis<|message|>I would say {\"verdict\":\"good\"}", no, nil, nil},

	// Broken syntax.
	{"single quotes", "jsonrepair README: single quotes", `{'verdict': 'bad', 'explanation': 'x'}`, bad, nil, nil},
	{"single quotes and apostrophe", "Python's repr: double quotes where an apostrophe is", `{'verdict': 'bad', 'explanation': "it's open"}`, bad, nil, nil},
	{"apostrophe in single quotes", "ours: small models write Python by hand", `{'explanation': 'it's open', 'verdict': 'bad'}`, bad, nil, nil},
	{"Python constants", "jsonrepair README: True, False, None", `{"verdict": "bad", "exploitable": True, "patch": None}`, bad, nil, nil},
	{"trailing comma", "jsonrepair README: trailing commas", `{"verdict":"bad","violated_requirements":[1,2,],}`, bad, []int{1, 2}, nil},
	{"missing comma", "jsonrepair README: missing commas", "{\"verdict\":\"bad\"\n\"explanation\":\"x\"}", bad, nil, nil},
	{"unquoted names", "jsonrepair README: missing quotes around keys", `{verdict: "good", explanation: "x"}`, good, nil, nil},
	{"comments", "jsonrepair README: comments", "{\n// judged\n\"verdict\":\"good\" /* sure */\n}", good, nil, nil},
	{"new lines within a string", "ours: OpenAI forum: literal newlines in JSON strings", "{\"verdict\":\"bad\",\"explanation\":\"first\nsecond\n\tthird\"}", bad, nil, nil},
	{"curly quotation marks", "jsonrepair README: special quotes", `{“verdict”: “bad”}`, bad, nil, nil},
	{"invalid escape", "RFC 8259, section 7: \\d is no escape", `{"verdict":"bad","explanation":"matches \d+ and C:\temp"}`, bad, nil, nil},
	{"quoted code with braces", "ours: code quoted in an answer", `{"verdict":"bad","explanation":"the text ${id} is pasted; see {x}"}`, bad, nil, nil},
	{"escaped quotes", "RFC 8259, section 7", `{"verdict":"good","explanation":"says \"bad\" {"}`, good, nil, nil},
	{"JSON of JSON", "ours: LangChain issue tracker: double-encoded JSON", `"{\"verdict\":\"bad\"}"`, bad, nil, nil},

	{"ellipsis", "jsonrepair README: ellipsis in arrays", `{"verdict":"bad","violated_requirements":[2, 5, ...]}`, bad, []int{2, 5}, nil},
	{"function call", "jsonrepair README: JSONP", `callback({"verdict":"bad"});`, bad, nil, nil},
	{"MongoDB numbers", "jsonrepair README: MongoDB data types", `{"verdict":"bad","violated_requirements":[NumberLong(2)]}`, bad, []int{2}, nil},
	{"joined strings", "jsonrepair README: concatenated strings", "{\"explanation\":\"one \" +\n \"two\",\"verdict\":\"bad\"}", bad, nil, nil},
	{"escaped throughout", "jsonrepair README: escaped quotes around names", `{\"verdict\": \"bad\"}`, bad, nil, nil},
	{"no-break spaces", "jsonrepair README: special white space", "{\u00a0\"verdict\":\u00a0\"bad\"\u00a0}", bad, nil, nil},
	{"missing bracket", "jsonrepair README: missing closing brackets", `{"verdict":"bad","violated_requirements":[2,5}`, bad, []int{2, 5}, nil},
	{"quotes within quotes", "jsonrepair README: missing escape characters", `{"explanation":"the column "owner" is open","verdict":"bad"}`, bad, nil, nil},

	// Several objects.
	{"draft, then answer", "ours: self-correction in chain of thought", "{\"verdict\":\"good\"}\nWait, the tenant is missing.\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"array of one", "ours: Gemini API forum: arrays around objects", `[{"verdict":"bad"}]`, bad, nil, nil},
	{"the last does not fit", "ours: answers followed by metadata", "{\"verdict\":\"bad\"}\n{\"tokens\": 12}", bad, nil, nil},
	{"schema echoed first", "ours: small models repeat the schema", "{\"verdict\": \"good\" or \"bad\"}\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"schema echoed alone", "ours: small models repeat the schema", `{"verdict": "good|bad", "explanation": "..."}`, no, nil, nil},
	{"wrapped", "ours: Gemini API forum: wrapper objects", `{"evaluation": {"verdict": "bad", "cwes": ["CWE-89"]}}`, bad, nil, []audit.CWE{89}},
	{"JSON lines", "jsonrepair README: newline delimited JSON", "{\"step\":1}\n{\"step\":2}\n{\"verdict\":\"good\"}", good, nil, nil},

	// Cut off.
	{"cut within a string", "OpenAI, finish_reason length", `{"verdict":"bad","explanation":"the qu`, no, nil, nil},
	{"cut before the brace", "OpenAI, finish_reason length", `{"verdict":"bad","explanation":"the query."`, no, nil, nil},
	{"cut within a string that holds a brace", "OpenAI, finish_reason length", `{"verdict":"bad","explanation":"as in {x} and }`, no, nil, nil},
	{"cut second object", "OpenAI, finish_reason length", "{\"verdict\":\"good\"}\nNo:\n{\"verdict\":\"b", no, nil, nil},
	{"cut wrapper", "OpenAI, finish_reason length", `{"evaluation": {"verdict":"good"}, "notes": "but`, no, nil, nil},
	{"cut single quotes", "ours: small models write Python by hand", `{'verdict': 'bad', 'explanation': 'as in } and`, no, nil, nil},
	{"a brace and nothing", "OpenAI, JSON mode: white space until the limit", "{\n\n\n\n\n", no, nil, nil},

	// Verdicts.
	{"capitals", "ours: models write labels as they like", `{"verdict":"BAD"}`, bad, nil, nil},
	{"ornament", "ours: ChatGPT style: bold and emoji", `{"verdict":"✅ **Good**"}`, good, nil, nil},
	{"vulnerable", "ours: CWE and SAST wording", `{"verdict":"vulnerable"}`, bad, nil, nil},
	{"non-compliant", "ours: audit wording", `{"verdict":"Non-Compliant"}`, bad, nil, nil},
	{"not vulnerable", "ours: CWE and SAST wording", `{"verdict":"not vulnerable"}`, good, nil, nil},
	{"boolean field", "ours: classifier prompts: is_vulnerable", `{"is_vulnerable": true, "explanation":"x"}`, bad, nil, nil},
	{"boolean field, other way", "ours: classifier prompts: secure", `{"secure": true}`, good, nil, nil},
	{"another name", "ours: models rename fields", `{"Final Verdict":"bad","reasoning":"x"}`, bad, nil, nil},
	{"hedged", "ours: models hedge", `{"verdict":"mostly good"}`, no, nil, nil},
	{"both", "ours: models hedge", `{"verdict":"good/bad"}`, no, nil, nil},
	{"undecided", "ours: models hedge", `{"verdict":"unknown"}`, no, nil, nil},
	{"null", "ours: models hedge", `{"verdict":null}`, no, nil, nil},
	{"contradicts itself", "ours: models hedge", `{"verdict":"good","vulnerable":true}`, no, nil, nil},
	{"twice in one object", "RFC 8259, section 4: names should be unique", `{"verdict":"good","verdict":"bad"}`, no, nil, nil},
	{"number", "ours: ratings instead of labels", `{"verdict":1}`, no, nil, nil},
	{"empty object", "OpenAI, JSON mode", `{}`, no, nil, nil},

	// Lists as models write them.
	{"requirements as text", "ours: models quote the item", `{"verdict":"bad","violates":["Requirement 2: only one's own, within 30 days","R5"]}`, bad, []int{2, 5}, nil},
	{"requirements as objects", "ours: models nest", `{"verdict":"bad","violated_requirements":[{"id":3,"why":"x"},{"number":"4"}]}`, bad, []int{3, 4}, nil},
	{"requirements in one text", "ours: models join", `{"verdict":"bad","violations":"2, 5 and 7"}`, bad, []int{2, 5, 7}, nil},
	{"weaknesses in six ways", "ours: vendors' spellings of CWE", `{"verdict":"bad","cwes":["cwe-89","CWE 79: XSS","CWE_022",502,{"id":"CWE-639"},"CWE-89"]}`, bad, nil, []audit.CWE{89, 79, 22, 502, 639}},
	{"weaknesses in one text", "ours: models join", `{"verdict":"bad","cwe":"CWE-89 (SQL injection), CWE-639"}`, bad, nil, []audit.CWE{89, 639}},

	// No object.
	{"one word", "ours: classifier prompts", "bad", bad, nil, nil},
	{"one word with stop", "ours: classifier prompts", "**Good.**", good, nil, nil},
	{"verdict line", "ours: Markdown answers", "**Verdict:** BAD\n\nThe tenant is missing (CWE-639).", bad, nil, []audit.CWE{639}},
	{"verdict heading", "ours: Markdown answers", "## Verdict: good\nFine.", good, nil, nil},
	{"YAML", "ours: models asked for JSON answer in YAML", "verdict: bad\nexplanation: no tenant\n", bad, nil, nil},
	{"element", "Anthropic docs, use XML tags", "<verdict>bad</verdict><explanation>x</explanation>", bad, nil, nil},
	{"two lines that disagree", "ours: self-correction", "Verdict: good\n\nOn reflection...\n\nVerdict: bad", no, nil, nil},
	{"prose", "ours: chat models", "The query is vulnerable to injection.", no, nil, nil},
	{"line that hedges", "ours: chat models", "Verdict: probably bad", no, nil, nil},

	// Refusals, and nothing.
	{"sorry", "apiyi.com documentation, 2026-09-18: refusals come as a sentence with 200 and finish_reason stop", "I'm sorry, but I can't help with that.", not, nil, nil},
	{"cannot assist", "OpenRouter SDK documentation, OpenAIResponsesRefusalContent", "I cannot assist with analysing code for vulnerabilities.", not, nil, nil},
	{"typographic apostrophe", "ours: ChatGPT style", "I can’t help with finding exploits.", not, nil, nil},
	{"unable", "Anthropic docs, handle refusals", "I'm unable to review this code.", not, nil, nil},
	{"refusal field", "OpenAI, Structured Outputs guide: refusal", `{"refusal":"I cannot judge this."}`, not, nil, nil},
	{"refusal in Chinese", "ours: Qwen model cards", "抱歉，我无法协助。", not, nil, nil},
	{"apology with an answer", "ours: models apologise for format", "I'm sorry for the confusion.\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"empty", "ours: vLLM and Ollama issue trackers: empty content", "", no, nil, nil},
	{"white space", "Ollama, API docs: white space without end", " \n\t\n ", no, nil, nil},
}

func TestReadAnswer(t *testing.T) {
	documented := 0
	for _, s := range shapes {
		if !strings.HasPrefix(s.source, "ours: ") {
			documented++
		}
	}
	require.GreaterOrEqual(t, documented, 60)
	seen := map[string]bool{}
	for _, s := range shapes {
		require.False(t, seen[s.name], "two shapes named %s", s.name)
		seen[s.name] = true
		t.Run(s.name, func(t *testing.T) {
			for _, reply := range []string{s.reply, strings.ReplaceAll(s.reply, "\n", "\r\n")} {
				r := auditor.ReadAnswer(reply)
				got := string(r.Status)
				if r.Status == audit.Answered {
					got = string(r.Verdict)
					require.Empty(t, r.Detail)
				} else {
					require.NotEmpty(t, r.Detail, "who gives no verdict is told why")
					require.Empty(t, r.Verdict)
				}
				require.Equal(t, s.want, got, "%s: %s", s.source, r.Detail)
				require.Empty(t, cmp.Diff(s.violates, r.Violates), "-want +got")
				require.Empty(t, cmp.Diff(s.cwes, r.CWEs), "-want +got")
				require.Equal(t, reply, r.Raw)
			}
		})
	}
}

// Every prefix of an answer is malformed or, from its last brace on, the answer:
// a cut never turns one verdict into the other, and never makes one up.
func TestNoPrefixIsAnswered(t *testing.T) {
	for _, whole := range []string{
		`{"verdict":"bad","explanation":"uses ${x} and {y}, \"quoted\" }","violated_requirements":[2],"cwes":["CWE-89"]}`,
		"```json\n{\n  \"explanation\": \"a } b\",\n  \"verdict\": \"bad\"\n}",
		`{'verdict': 'bad', 'explanation': 'a } b', 'cwes': ['CWE-1']}`,
		`{\"verdict\": \"bad\", \"explanation\": \"a } b\"}`,
		`"{\"verdict\": \"bad\", \"explanation\": \"a } b\"}`,
	} {
		require.Equal(t, audit.Bad, auditor.ReadAnswer(whole).Verdict, whole)
		for i := range len(whole) {
			r := auditor.ReadAnswer(whole[:i])
			require.Equal(t, audit.Malformed, r.Status, "%q", whole[:i])
		}
	}
}

func TestLongReplies(t *testing.T) {
	require.Equal(t, audit.Malformed, auditor.ReadAnswer(strings.Repeat("x", 2<<20)).Status)
	for _, unit := range []string{"{", "}", "{\"", "'", "<think>", "[", "{}", "{'a':"} {
		auditor.ReadAnswer(strings.Repeat(unit, 200_000/len(unit)))
	}
}

func FuzzReadAnswer(f *testing.F) {
	for _, s := range shapes {
		f.Add(s.reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		r := auditor.ReadAnswer(reply)
		switch r.Status {
		case audit.Answered:
			if r.Verdict != audit.Good && r.Verdict != audit.Bad {
				t.Fatalf("answered without a verdict: %q", reply)
			}
		case audit.Refused, audit.Malformed:
			if r.Verdict != "" || r.Detail == "" {
				t.Fatalf("no answer, and a verdict or no reason: %+v", r)
			}
		default:
			t.Fatalf("status %q", r.Status)
		}
		if r.Confidence < 0 || r.Confidence > 1 {
			t.Fatalf("confidence %v", r.Confidence)
		}
		for _, v := range r.Violates {
			if v < 1 {
				t.Fatalf("requirement %d", v)
			}
		}
	})
}
