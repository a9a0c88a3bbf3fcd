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
// documented where source says. want is the verdict, or the status of a reply
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
	{"fence json", "Gemini API forum: Markdown fences around JSON", "```json\n{\"verdict\":\"bad\"}\n```", bad, nil, nil},
	{"fence without language", "Llama 3 model cards: code in fences", "```\n{\"verdict\":\"good\"}\n```", good, nil, nil},
	{"fence and prose", "LangChain, JsonOutputParser: finds JSON within Markdown", "Here is my assessment:\n\n```json\n{\"verdict\":\"bad\"}\n```\n\nLet me know if you need more.", bad, nil, nil},
	{"tilde fence", "CommonMark 0.31, fenced code blocks", "~~~json\n{\"verdict\":\"good\"}\n~~~", good, nil, nil},
	{"open fence", "LangChain issue tracker: the closing fence is missing", "```json\n{\"verdict\":\"good\"}", good, nil, nil},
	{"fence of code, then answer", "chain of thought prompting: code is quoted first", "The query is\n```sql\nSELECT '{' FROM t\n```\nso:\n{\"verdict\":\"bad\"}", bad, nil, nil},

	// Text around.
	{"text before", "Anthropic docs, increase output consistency: preamble", "Sure! Here is the JSON:\n{\"verdict\":\"good\"}", good, nil, nil},
	{"text after", "Anthropic docs, increase output consistency: epilogue", "{\"verdict\":\"good\"}\n\nThis query is safe since it filters by tenant.", good, nil, nil},
	{"braces in the prose", "code quoted in an answer", "The placeholder ${name} is pasted in; so {\"verdict\":\"bad\"}", bad, nil, nil},
	{"stray brace in the prose", "code quoted in an answer", "if (x) { return; \n\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"code object before", "code quoted in an answer", "func f() { return 1 }\n{\"verdict\":\"good\"}", good, nil, nil},

	// Reasoning.
	{"think", "DeepSeek-R1 README: <think> before the answer", "<think>\nIt looks {\"verdict\":\"good\"} but no.\n</think>\n\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"think without opening", "DeepSeek-R1 chat template: the prompt holds <think>", "hmm, good?\n</think>\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"empty think", "Qwen3 README: empty think block without thinking", "<think>\n\n</think>\n\n{\"verdict\":\"good\"}", good, nil, nil},
	{"think never ends", "DeepSeek-R1 README: endless reasoning", "<think>\nFirst, {\"verdict\":\"good\"} may be", no, nil, nil},
	{"think and nothing", "vLLM docs, reasoning outputs: empty content", "<think>bad</think>", no, nil, nil},
	{"thinking tag", "Anthropic docs, let Claude think: <thinking> and <answer>", "<thinking>maybe good</thinking><answer>bad</answer>", bad, nil, nil},
	{"reflection", "Reflection 70B model card: <reflection>", "<reflection>{\"verdict\":\"good\"}</reflection>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"magistral", "Mistral, Magistral model card: [THINK]", "[THINK]good, or?[/THINK]{\"verdict\":\"bad\"}", bad, nil, nil},
	{"cohere", "Cohere, Command A Reasoning: START_THINKING", "<|START_THINKING|>good?<|END_THINKING|>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"kimi", "Moonshot, Kimi-VL-Thinking model card", "◁think▷good?◁/think▷{\"verdict\":\"bad\"}", bad, nil, nil},
	{"harmony", "OpenAI, harmony response format: channels", "<|channel|>analysis<|message|>{\"verdict\":\"good\"}<|end|><|start|>assistant<|channel|>final<|message|>{\"verdict\":\"bad\"}<|return|>", bad, nil, nil},
	{"harmony, analysis alone", "OpenAI, harmony response format: cut off before final", "<|channel|>analysis<|message|>I would say {\"verdict\":\"good\"}", no, nil, nil},

	// Broken syntax.
	{"single quotes", "jsonrepair README: single quotes", `{'verdict': 'bad', 'explanation': 'x'}`, bad, nil, nil},
	{"single quotes and apostrophe", "Python's repr: double quotes where an apostrophe is", `{'verdict': 'bad', 'explanation': "it's open"}`, bad, nil, nil},
	{"apostrophe in single quotes", "small models write Python by hand", `{'explanation': 'it's open', 'verdict': 'bad'}`, bad, nil, nil},
	{"Python constants", "jsonrepair README: True, False, None", `{"verdict": "bad", "exploitable": True, "patch": None}`, bad, nil, nil},
	{"trailing comma", "jsonrepair README: trailing commas", `{"verdict":"bad","violated_requirements":[1,2,],}`, bad, []int{1, 2}, nil},
	{"missing comma", "jsonrepair README: missing commas", "{\"verdict\":\"bad\"\n\"explanation\":\"x\"}", bad, nil, nil},
	{"unquoted names", "jsonrepair README: missing quotes around keys", `{verdict: "good", explanation: "x"}`, good, nil, nil},
	{"comments", "jsonrepair README: comments", "{\n// judged\n\"verdict\":\"good\" /* sure */\n}", good, nil, nil},
	{"new lines within a string", "OpenAI forum: literal newlines in JSON strings", "{\"verdict\":\"bad\",\"explanation\":\"first\nsecond\n\tthird\"}", bad, nil, nil},
	{"curly quotation marks", "jsonrepair README: special quotes", `{“verdict”: “bad”}`, bad, nil, nil},
	{"invalid escape", "RFC 8259, section 7: \\d is no escape", `{"verdict":"bad","explanation":"matches \d+ and C:\temp"}`, bad, nil, nil},
	{"quoted code with braces", "code quoted in an answer", `{"verdict":"bad","explanation":"the text ${id} is pasted; see {x}"}`, bad, nil, nil},
	{"escaped quotes", "RFC 8259, section 7", `{"verdict":"good","explanation":"says \"bad\" {"}`, good, nil, nil},
	{"JSON of JSON", "LangChain issue tracker: double-encoded JSON", `"{\"verdict\":\"bad\"}"`, bad, nil, nil},

	// Several objects.
	{"draft, then answer", "self-correction in chain of thought", "{\"verdict\":\"good\"}\nWait, the tenant is missing.\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"array of one", "Gemini API forum: arrays around objects", `[{"verdict":"bad"}]`, bad, nil, nil},
	{"the last does not fit", "answers followed by metadata", "{\"verdict\":\"bad\"}\n{\"tokens\": 12}", bad, nil, nil},
	{"schema echoed first", "small models repeat the schema", "{\"verdict\": \"good\" or \"bad\"}\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"schema echoed alone", "small models repeat the schema", `{"verdict": "good|bad", "explanation": "..."}`, no, nil, nil},
	{"wrapped", "Gemini API forum: wrapper objects", `{"evaluation": {"verdict": "bad", "cwes": ["CWE-89"]}}`, bad, nil, []audit.CWE{89}},
	{"JSON lines", "jsonrepair README: newline delimited JSON", "{\"step\":1}\n{\"step\":2}\n{\"verdict\":\"good\"}", good, nil, nil},

	// Cut off.
	{"cut within a string", "OpenAI, finish_reason length", `{"verdict":"bad","explanation":"the qu`, no, nil, nil},
	{"cut before the brace", "OpenAI, finish_reason length", `{"verdict":"bad","explanation":"the query."`, no, nil, nil},
	{"cut within a string that holds a brace", "OpenAI, finish_reason length", `{"verdict":"bad","explanation":"as in {x} and }`, no, nil, nil},
	{"cut second object", "OpenAI, finish_reason length", "{\"verdict\":\"good\"}\nNo:\n{\"verdict\":\"b", no, nil, nil},
	{"cut wrapper", "OpenAI, finish_reason length", `{"evaluation": {"verdict":"good"}, "notes": "but`, no, nil, nil},
	{"cut single quotes", "small models write Python by hand", `{'verdict': 'bad', 'explanation': 'as in } and`, no, nil, nil},
	{"a brace and nothing", "OpenAI, JSON mode: white space until the limit", "{\n\n\n\n\n", no, nil, nil},

	// Verdicts.
	{"capitals", "models write labels as they like", `{"verdict":"BAD"}`, bad, nil, nil},
	{"ornament", "ChatGPT style: bold and emoji", `{"verdict":"✅ **Good**"}`, good, nil, nil},
	{"vulnerable", "CWE and SAST wording", `{"verdict":"vulnerable"}`, bad, nil, nil},
	{"non-compliant", "audit wording", `{"verdict":"Non-Compliant"}`, bad, nil, nil},
	{"not vulnerable", "CWE and SAST wording", `{"verdict":"not vulnerable"}`, good, nil, nil},
	{"boolean field", "classifier prompts: is_vulnerable", `{"is_vulnerable": true, "explanation":"x"}`, bad, nil, nil},
	{"boolean field, other way", "classifier prompts: secure", `{"secure": true}`, good, nil, nil},
	{"another name", "models rename fields", `{"Final Verdict":"bad","reasoning":"x"}`, bad, nil, nil},
	{"hedged", "models hedge", `{"verdict":"mostly good"}`, no, nil, nil},
	{"both", "models hedge", `{"verdict":"good/bad"}`, no, nil, nil},
	{"undecided", "models hedge", `{"verdict":"unknown"}`, no, nil, nil},
	{"null", "models hedge", `{"verdict":null}`, no, nil, nil},
	{"contradicts itself", "models hedge", `{"verdict":"good","vulnerable":true}`, no, nil, nil},
	{"twice in one object", "RFC 8259, section 4: names should be unique", `{"verdict":"good","verdict":"bad"}`, no, nil, nil},
	{"number", "ratings instead of labels", `{"verdict":1}`, no, nil, nil},
	{"empty object", "OpenAI, JSON mode", `{}`, no, nil, nil},

	// Lists as models write them.
	{"requirements as text", "models quote the item", `{"verdict":"bad","violates":["Requirement 2: only one's own, within 30 days","R5"]}`, bad, []int{2, 5}, nil},
	{"requirements as objects", "models nest", `{"verdict":"bad","violated_requirements":[{"id":3,"why":"x"},{"number":"4"}]}`, bad, []int{3, 4}, nil},
	{"requirements in one text", "models join", `{"verdict":"bad","violations":"2, 5 and 7"}`, bad, []int{2, 5, 7}, nil},
	{"weaknesses in six ways", "vendors' spellings of CWE", `{"verdict":"bad","cwes":["cwe-89","CWE 79: XSS","CWE_022",502,{"id":"CWE-639"},"CWE-89"]}`, bad, nil, []audit.CWE{89, 79, 22, 502, 639}},
	{"weaknesses in one text", "models join", `{"verdict":"bad","cwe":"CWE-89 (SQL injection), CWE-639"}`, bad, nil, []audit.CWE{89, 639}},

	// No object.
	{"one word", "classifier prompts", "bad", bad, nil, nil},
	{"one word with stop", "classifier prompts", "**Good.**", good, nil, nil},
	{"verdict line", "Markdown answers", "**Verdict:** BAD\n\nThe tenant is missing (CWE-639).", bad, nil, []audit.CWE{639}},
	{"verdict heading", "Markdown answers", "## Verdict: good\nFine.", good, nil, nil},
	{"YAML", "models asked for JSON answer in YAML", "verdict: bad\nexplanation: no tenant\n", bad, nil, nil},
	{"element", "Anthropic docs, use XML tags", "<verdict>bad</verdict><explanation>x</explanation>", bad, nil, nil},
	{"two lines that disagree", "self-correction", "Verdict: good\n\nOn reflection...\n\nVerdict: bad", no, nil, nil},
	{"prose", "chat models", "The query is vulnerable to injection.", no, nil, nil},
	{"line that hedges", "chat models", "Verdict: probably bad", no, nil, nil},

	// Refusals, and nothing.
	{"sorry", "OpenAI, refusals in Structured Outputs guide", "I'm sorry, but I can't help with that.", not, nil, nil},
	{"cannot assist", "OpenAI model spec: refusals", "I cannot assist with analysing code for vulnerabilities.", not, nil, nil},
	{"typographic apostrophe", "ChatGPT style", "I can’t help with finding exploits.", not, nil, nil},
	{"unable", "Anthropic docs, handle refusals", "I'm unable to review this code.", not, nil, nil},
	{"refusal field", "OpenAI, Structured Outputs guide: refusal", `{"refusal":"I cannot judge this."}`, not, nil, nil},
	{"refusal in Chinese", "Qwen model cards", "抱歉，我无法协助。", not, nil, nil},
	{"apology with an answer", "models apologise for format", "I'm sorry for the confusion.\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"empty", "vLLM and Ollama issue trackers: empty content", "", no, nil, nil},
	{"white space", "Ollama, API docs: white space without end", " \n\t\n ", no, nil, nil},
}

func TestReadAnswer(t *testing.T) {
	require.GreaterOrEqual(t, len(shapes), 60)
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
