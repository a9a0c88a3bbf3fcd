package auditor_test

import "assay/audit"

const (
	good = "good"
	bad  = "bad"
	no   = "malformed"
	not  = "refused"

	// rarely is before the verdict of a form that is rare: the reply may be malformed, and never
	// gives the other verdict.
	rarely = "malformed or "
)

// shapes are replies as models give them, each built after a behaviour that is
// documented where source says (a thread or page with such a reply, or a
// provider's documentation), or that we add (ours). want is the verdict, or the
// status of a reply without one.
var shapes = []struct {
	name, source, reply, want string
	violates                  []int
	cwes                      []audit.CWE
}{
	// The form that was asked for.
	{"as asked", "OpenAI, Structured Outputs guide", `{"explanation":"fine","verdict":"good","violated_requirements":[],"cwes":[]}`, good, nil, nil},
	{"bad with lists", "OpenAI, Structured Outputs guide", `{"explanation":"no tenant","verdict":"bad","violated_requirements":[2,5],"cwes":["CWE-639","CWE-284"]}`, bad, []int{2, 5}, []audit.CWE{639, 284}},
	{"many lines", "https://github.com/comet-ml/opik/issues/2518", "{\n  \"verdict\": \"bad\",\n  \"explanation\": \"x\"\n}\n", bad, nil, nil},
	{"leading white space", "Ollama, API docs: format json may write white space first", "\n\n   \t{\"verdict\":\"good\"}", good, nil, nil},
	{"byte order mark", "RFC 8259, section 8.1: a parser may ignore one", "\ufeff{\"verdict\":\"good\"}", good, nil, nil},
	{"fields in another order", "Gemini API, structured output: properties come in an order of the model's", `{"cwes":[],"verdict":"good","explanation":"x"}`, good, nil, nil},
	{"further fields", "OpenAI, JSON mode: no schema is held to", `{"verdict":"bad","severity":"high","notes":null,"confidence":0.8}`, bad, nil, nil},

	// Fences.
	{"fence json", "https://github.com/langchain-ai/langchain/issues/23297", "```json\n{\"verdict\":\"bad\"}\n```", bad, nil, nil},
	{"fence without language", "https://github.com/crewAIInc/crewAI/pull/4641", "```\n{\"verdict\":\"good\"}\n```", good, nil, nil},
	{"fence and prose", "https://github.com/AkihiroSuda/vexllm/pull/3", "Here is my assessment:\n\n```json\n{\"verdict\":\"bad\"}\n```\n\nLet me know if you need more.", bad, nil, nil},
	{"tilde fence", "CommonMark 0.31, fenced code blocks", "~~~json\n{\"verdict\":\"good\"}\n~~~", good, nil, nil},
	{"open fence", "ours: the closing fence is missing", "```json\n{\"verdict\":\"good\"}", good, nil, nil},
	{"fence of code, then answer", "https://github.com/NVIDIA-NeMo/labs-OO-Agents/pull/238", "The query is\n```sql\nSELECT '{' FROM t\n```\nso:\n{\"verdict\":\"bad\"}", bad, nil, nil},

	{"two backticks", "https://github.com/opensearch-project/search-relevance/pull/90", "``json\n[{\"verdict\":\"bad\"}]\n``", bad, nil, nil},

	// Text around.
	{"text before", "https://github.com/josdejong/jsonrepair/issues/147", "Sure! Here is the JSON:\n{\"verdict\":\"good\"}", good, nil, nil},
	{"text after", "https://github.com/vinceAmstoutz/symfony-security-auditor/pull/17", "{\"verdict\":\"good\"}\n\nThis query is safe since it filters by tenant.", good, nil, nil},
	{"braces in the prose", "https://github.com/manhhailua/lorekeep/pull/192", "The placeholder ${name} is pasted in; so {\"verdict\":\"bad\"}", bad, nil, nil},
	{"stray brace in the prose", "ours: code quoted in an answer", "if (x) { return; \n\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"code object before", "ours: code quoted in an answer", "func f() { return 1 }\n{\"verdict\":\"good\"}", good, nil, nil},

	{"closing tags after", "https://github.com/web-infra-dev/midscene/pull/1576", "{\"verdict\":\"bad\"}\n</action_output>\n</action_output>\n</action_output>", bad, nil, nil},
	{"white space after", "https://github.com/ollama/ollama/issues/2577", "{\n  \"verdict\": \"good\"\n}\n\n\n\n\n\n\n\n", good, nil, nil},

	// Reasoning.
	{"think", "https://github.com/mem0ai/mem0/pull/4662", "<think>\nIt looks {\"verdict\":\"good\"} but no.\n</think>\n\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"think without opening", "https://github.com/vllm-project/vllm/issues/12999", "hmm, good?\n</think>\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"empty think", "https://github.com/vllm-project/vllm/issues/13375", "<think>\n\n</think>\n\n{\"verdict\":\"good\"}", good, nil, nil},
	{"think never ends, two verdicts", "as above; other objects stand between them", "<think>{\"verdict\":\"good\"} {\"a\":1} {\"verdict\":\"bad\"}", no, nil, nil},
	{"think never ends", "mistral.rs documentation, module think_tags: an unclosed one is reasoning", "<think>\nFirst, {\"verdict\":\"good\"} may be", no, nil, nil},
	{"think and nothing", "https://github.com/vllm-project/vllm/issues/45736", "<think>bad</think>", no, nil, nil},
	{"thinking tag", "Anthropic docs, let Claude think: <thinking> and <answer>", "<thinking>maybe good</thinking><answer>bad</answer>", rarely + bad, nil, nil},
	{"reflection", "Reflection 70B model card: <reflection>", "<reflection>{\"verdict\":\"good\"}</reflection>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"magistral", "Mistral, Magistral model card: [THINK]", "[THINK]good, or?[/THINK]{\"verdict\":\"bad\"}", bad, nil, nil},
	{"cohere", "Cohere, Command A Reasoning: START_THINKING", "<|START_THINKING|>good?<|END_THINKING|>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"kimi", "Moonshot, Kimi-VL-Thinking model card", "◁think▷good?◁/think▷{\"verdict\":\"bad\"}", bad, nil, nil},
	{"reason tag", "Open WebUI documentation, reasoning models: default tags", "<reason>good?</reason>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"thought tag", "Open WebUI documentation, reasoning models: default tags", "<thought>{\"verdict\":\"good\"}</thought>\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"begin of thought", "Open WebUI documentation, reasoning models: default tags", "<|begin_of_thought|>{\"verdict\":\"good\"}<|end_of_thought|>{\"verdict\":\"bad\"}", bad, nil, nil},
	{"harmony", "OpenAI, harmony response format: channels", "<|channel|>analysis<|message|>{\"verdict\":\"good\"}<|end|><|start|>assistant<|channel|>final<|message|>{\"verdict\":\"bad\"}<|return|>", bad, nil, nil},
	{"harmony, analysis alone", "OpenAI, harmony response format: cut off before final", "<|channel|>analysis<|message|>I would say {\"verdict\":\"good\"}", no, nil, nil},

	{"a template that opens the reasoning", "https://github.com/deepseek-ai/DeepSeek-R1/issues/352", "Alright, {\"verdict\":\"good\"} comes to mind.\n</think>\n\n{\"verdict\":\"bad\"}", bad, nil, nil},

	{"magistral, a template that opens the reasoning", "as above", "good, or?[/THINK]{\"verdict\":\"bad\"}", bad, nil, nil},
	{"a mark in the code that it quotes", "ours: the code under review writes XML", `{"explanation":"</reason> is written unescaped","verdict":"bad"}`, bad, nil, nil},
	{"a mark in the code that it quotes, fenced", "ours: as above", "```json\n{\"explanation\":\"<thinking> </reason>\",\"verdict\":\"bad\"}\n```", bad, nil, nil},
	{"a mark that it quotes, after reasoning", "ours: as above", "<think>{x}</think>{\"explanation\":\"<reason>a</reason> </reason>\",\"verdict\":\"bad\"}", rarely + bad, nil, nil},

	// Broken syntax.
	{"single quotes", "https://github.com/waybarrios/vllm-mlx/issues/63", `{'verdict': 'bad', 'explanation': 'x'}`, bad, nil, nil},
	{"single quotes and apostrophe", "Python's repr: double quotes where an apostrophe is", `{'verdict': 'bad', 'explanation': "it's open"}`, bad, nil, nil},
	{"apostrophe in single quotes", "ours: small models write Python by hand", `{'explanation': 'it's open', 'verdict': 'bad'}`, bad, nil, nil},
	{"Python constants", "https://github.com/microsoft/RD-Agent/pull/1374", `{"verdict": "bad", "exploitable": True, "patch": None}`, bad, nil, nil},
	{"trailing comma", "https://github.com/langchain-ai/langchain/pull/11965", `{"verdict":"bad","violated_requirements":[1,2,],}`, bad, []int{1, 2}, nil},
	{"missing comma", "https://github.com/josdejong/jsonrepair#readme", "{\"verdict\":\"bad\"\n\"explanation\":\"x\"}", bad, nil, nil},
	{"unquoted names", "https://github.com/josdejong/jsonrepair#readme", `{verdict: "good", explanation: "x"}`, good, nil, nil},
	{"comments", "https://github.com/josdejong/jsonrepair#readme", "{\n// judged\n\"verdict\":\"good\" /* sure */\n}", good, nil, nil},
	{"new lines within a string", "https://github.com/mem0ai/mem0/issues/2194", "{\"verdict\":\"bad\",\"explanation\":\"first\nsecond\n\tthird\"}", bad, nil, nil},
	{"curly quotation marks", "https://github.com/josdejong/jsonrepair#readme", `{“verdict”: “bad”}`, bad, nil, nil},
	{"invalid escape", "RFC 8259, section 7: \\d is no escape", `{"verdict":"bad","explanation":"matches \d+ and C:\temp"}`, bad, nil, nil},
	{"quoted code with braces", "ours: code quoted in an answer", `{"verdict":"bad","explanation":"the text ${id} is pasted; see {x}"}`, bad, nil, nil},
	{"escaped quotes", "RFC 8259, section 7", `{"verdict":"good","explanation":"says \"bad\" {"}`, good, nil, nil},
	{"JSON of JSON", "https://github.com/FoundationAgents/OpenManus/pull/989", `"{\"verdict\":\"bad\"}"`, rarely + bad, nil, nil},

	{"ellipsis", "jsonrepair README: ellipsis in arrays", `{"verdict":"bad","violated_requirements":[2, 5, ...]}`, bad, []int{2, 5}, nil},
	{"function call", "https://github.com/josdejong/jsonrepair#readme", `callback({"verdict":"bad"});`, bad, nil, nil},
	{"MongoDB numbers", "https://github.com/josdejong/jsonrepair#readme", `{"verdict":"bad","violated_requirements":[NumberLong(2)]}`, bad, []int{2}, nil},
	{"joined strings", "https://github.com/josdejong/jsonrepair#readme", "{\"explanation\":\"one \" +\n \"two\",\"verdict\":\"bad\"}", bad, nil, nil},
	{"escaped throughout", "https://github.com/josdejong/jsonrepair#readme", `{\"verdict\": \"bad\"}`, no, nil, nil},
	{"no-break spaces", "https://github.com/josdejong/jsonrepair#readme", "{\u00a0\"verdict\":\u00a0\"bad\"\u00a0}", bad, nil, nil},
	{"missing bracket", "https://github.com/josdejong/jsonrepair#readme", `{"verdict":"bad","violated_requirements":[2,5}`, bad, []int{2, 5}, nil},
	{"quotes within quotes", "https://github.com/josdejong/jsonrepair#readme", `{"explanation":"the column "owner" is open","verdict":"bad"}`, bad, nil, nil},

	{"single quotes and an escaped apostrophe", "https://github.com/langchain-ai/langchain/issues/26655", `{'explanation': 'it\'s open', 'verdict': 'bad'}`, bad, nil, nil},
	{"JSON of JSON of JSON", "https://github.com/sgl-project/sglang/pull/7863", `"\"{\\\"verdict\\\":\\\"bad\\\"}\""`, rarely + bad, nil, nil},
	{"JSON as a text within JSON", "https://github.com/juspay/neurolink/pull/1095", `{"answer_json":"{\"verdict\":\"bad\",\"violates\":[2]}"}`, no, nil, nil},
	{"JSON as a text, and a tag", "https://github.com/stanfordnlp/dspy/issues/8539", `{"json": "{\n \"explanation\": \"x\",\n \"verdict\": \"bad\"\n}\n</invoke>"}`, no, nil, nil},
	{"two quotes at a beginning", "https://github.com/EasyJailbreak/EasyJailbreak/issues/27", `{"verdict":"bad","explanation":""The query is open."}`, no, nil, nil},

	// Several objects.
	{"draft, then answer", "https://github.com/mangiucugna/json_repair/issues/103", "{\"verdict\":\"good\"}\nWait, the tenant is missing.\n{\"verdict\":\"bad\"}", rarely + bad, nil, nil},
	{"array of one", "https://github.com/caura-ai/caura/pull/1320", `[{"verdict":"bad"}]`, bad, nil, nil},
	{"the last does not fit", "ours: answers followed by metadata", "{\"verdict\":\"bad\"}\n{\"tokens\": 12}", bad, nil, nil},
	{"schema echoed first", "ours: small models repeat the schema", "{\"verdict\": \"good\" or \"bad\"}\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"schema echoed alone", "ours: small models repeat the schema", `{"verdict": "good|bad", "explanation": "..."}`, no, nil, nil},
	{"wrapped", "https://github.com/phenobarbital/ai-parrot/pull/338", `{"evaluation": {"verdict": "bad", "cwes": ["CWE-89"]}}`, bad, nil, []audit.CWE{89}},
	{"JSON lines", "https://github.com/josdejong/jsonrepair#readme", "{\"step\":1}\n{\"step\":2}\n{\"verdict\":\"good\"}", good, nil, nil},

	{"one after the other", "https://github.com/AkihiroSuda/vexllm/issues/47", "{\"verdict\":\"good\"}{\"verdict\":\"bad\"}", no, nil, nil},
	{"two on lines of their own", "https://github.com/letta-ai/letta/pull/269", "{\n  \"tool\": \"note\"\n}\n{\n  \"verdict\": \"bad\"\n}", bad, nil, nil},
	{"the same twice", "https://github.com/ConardLi/easy-dataset/pull/507", "```json\n{\"verdict\":\"bad\"}\n```\nAgain:\n```json\n{\"verdict\":\"bad\"}\n```", bad, nil, nil},
	{"wrapped in an argument", "https://github.com/stanfordnlp/dspy/issues/8539", `{"json_input": {"explanation": "x", "verdict": "bad"}}`, bad, nil, nil},
	{"wrapped in a tool", "https://github.com/spinje/pflow/issues/598", `{"json_tool_call": {"explanation": "x", "verdict": "good"}}`, good, nil, nil},
	{"wrapped in a placeholder", "https://github.com/SpringCare/VERA-MH/pull/171", `{"$PARAMETER_NAME": {"explanation": "x", "verdict": "bad"}}`, bad, nil, nil},
	{"wrapped in the name of a class", "https://github.com/lennartpollvogt/ollama-instructor/issues/6", `{"Answer": {"verdict": "bad", "explanation": "x"}}`, bad, nil, nil},
	{"array of one in a fence", "https://github.com/Pasta-Devs/Marinara-Engine/pull/4604", "```json\n[{\"verdict\":\"good\"}]\n```", good, nil, nil},
	{"a schema in place of data", "https://github.com/langchain-ai/langchain/issues/22189", `{"properties": {"verdict": {"type": "string", "enum": ["good", "bad"]}, "explanation": {"type": "string"}}, "required": ["verdict"]}`, no, nil, nil},

	// Cut off.
	{"cut within a string", "https://github.com/run-llama/llama_index/pull/22918", `{"verdict":"bad","explanation":"the qu`, no, nil, nil},
	{"cut before the brace", "https://github.com/run-llama/llama_index/pull/22918", `{"verdict":"bad","explanation":"the query."`, no, nil, nil},
	{"cut within a string that holds a brace", "OpenAI, finish_reason length", `{"verdict":"bad","explanation":"as in {x} and }`, no, nil, nil},
	{"cut second object", "https://github.com/run-llama/llama_index/pull/22918", "{\"verdict\":\"good\"}\nNo:\n{\"verdict\":\"b", no, nil, nil},
	{"cut wrapper", "https://github.com/mangiucugna/json_repair/issues/52", `{"evaluation": {"verdict":"good"}, "notes": "but`, no, nil, nil},
	{"cut single quotes", "ours: small models write Python by hand", `{'verdict': 'bad', 'explanation': 'as in } and`, no, nil, nil},
	{"a brace and nothing", "OpenAI, JSON mode: white space until the limit", "{\n\n\n\n\n", no, nil, nil},

	// Verdicts.
	{"capitals", "https://github.com/akaszubski/autonomous-dev/issues/570", `{"verdict":"BAD"}`, bad, nil, nil},
	{"ornament", "ours: ChatGPT style: bold and emoji", `{"verdict":"✅ **Good**"}`, good, nil, nil},
	{"vulnerable", "ours: CWE and SAST wording", `{"verdict":"vulnerable"}`, bad, nil, nil},
	{"non-compliant", "ours: audit wording", `{"verdict":"Non-Compliant"}`, bad, nil, nil},
	{"not vulnerable", "ours: CWE and SAST wording", `{"verdict":"not vulnerable"}`, good, nil, nil},
	{"boolean field", "ours: classifier prompts: is_vulnerable", `{"is_vulnerable": true, "explanation":"x"}`, bad, nil, nil},
	{"boolean field, other way", "ours: classifier prompts: secure", `{"secure": true}`, good, nil, nil},
	{"another name", "ours: models rename fields", `{"Final Verdict":"bad","reasoning":"x"}`, bad, nil, nil},
	{"hedged", "https://github.com/KeyValueSoftwareSystems/agent-opfor/pull/84", `{"verdict":"mostly good"}`, no, nil, nil},
	{"both", "ours: models hedge", `{"verdict":"good/bad"}`, no, nil, nil},
	{"undecided", "ours: models hedge", `{"verdict":"unknown"}`, no, nil, nil},
	{"null", "ours: models hedge", `{"verdict":null}`, no, nil, nil},
	{"contradicts itself", "ours: models hedge", `{"verdict":"good","vulnerable":true}`, no, nil, nil},
	{"twice in one object", "RFC 8259, section 4: names should be unique", `{"verdict":"good","verdict":"bad"}`, no, nil, nil},
	{"twice in an object within", "RFC 8259, section 4: names should be unique", `{"evaluation":{"verdict":"good","verdict":"bad"}}`, no, nil, nil},
	{"twice in an object of a list", "RFC 8259, section 4: names should be unique", `{"evaluations":[{"verdict":"good","verdict":"bad"}]}`, no, nil, nil},
	{"number", "ours: ratings instead of labels", `{"verdict":1}`, no, nil, nil},
	{"empty object", "OpenAI, JSON mode", `{}`, no, nil, nil},

	{"an empty object and white space", "https://github.com/ollama/ollama/issues/7603", "{}\n \n \n\n\n\n  \n\n", no, nil, nil},

	// Lists as models write them.
	{"requirements as text", "ours: models quote the item", `{"verdict":"bad","violates":["Requirement 2: only one's own, within 30 days","R5"]}`, bad, []int{2, 5}, nil},
	{"requirements as objects", "ours: models nest", `{"verdict":"bad","violated_requirements":[{"id":3,"why":"x"},{"number":"4"}]}`, bad, []int{3, 4}, nil},
	{"requirements in one text", "https://github.com/adcontextprotocol/adcp/pull/4201", `{"verdict":"bad","violations":"2, 5 and 7"}`, bad, []int{2, 5, 7}, nil},
	{"weaknesses in six ways", "ours: vendors' spellings of CWE", `{"verdict":"bad","cwes":["cwe-89","CWE 79: XSS","CWE_022",502,{"id":"CWE-639"},"CWE-89"]}`, bad, nil, []audit.CWE{89, 79, 22, 502, 639}},
	{"weaknesses in one text", "ours: models join", `{"verdict":"bad","cwe":"CWE-89 (SQL injection), CWE-639"}`, bad, nil, []audit.CWE{89, 639}},

	{"numbers that are of no requirement", "ours: models write -1 for none", `{"verdict":"good","violated_requirements":[-1, 0, 1.5, "-1"]}`, good, nil, nil},
	{"a text for a list", "https://github.com/opendatahub-io/agentic-ci/pull/74", `{"verdict":"bad","violates":"Requirement 2","cwes":"CWE-639"}`, bad, []int{2}, []audit.CWE{639}},

	{"a requirement that there is none of", "ours: models write 0 for none", "Verdict: bad\nViolated requirements:\n- 0\n- 2", bad, []int{2}, nil},

	// No object.
	{"one word", "ours: classifier prompts", "bad", bad, nil, nil},
	{"one word with stop", "ours: classifier prompts", "**Good.**", good, nil, nil},
	{"verdict line", "https://github.com/UKGovernmentBEIS/inspect_evals/pull/2396", "**Verdict:** BAD\n\nThe tenant is missing (CWE-639).", bad, nil, []audit.CWE{639}},
	{"verdict heading", "ours: Markdown answers", "## Verdict: good\nFine.", good, nil, nil},
	{"YAML", "https://github.com/evalops/diffscope/issues/28", "verdict: bad\nexplanation: no tenant\n", bad, nil, nil},
	{"element", "Anthropic docs, use XML tags", "<verdict>bad</verdict><explanation>x</explanation>", rarely + bad, nil, nil},
	{"two lines that disagree", "https://github.com/NVIDIA-NeMo/Guardrails/pull/2370", "Verdict: good\n\nOn reflection...\n\nVerdict: bad", no, nil, nil},
	{"prose", "https://github.com/mikesvoboda/nemotron-v3-home-security-intelligence/issues/498", "The query is vulnerable to injection.", no, nil, nil},
	{"line that hedges", "https://github.com/KeyValueSoftwareSystems/agent-opfor/pull/84", "Verdict: probably bad", no, nil, nil},

	{"verdict line, all in bold", "https://github.com/Chia-Network/chia-blockchain-gui/pull/3064", "Looked at it.\n\n**Verdict: bad**\n", bad, nil, nil},
	{"verdict below its heading", "https://github.com/mmnto-ai/totem/issues/102", "### Verdict\n**PASS**\n\nFine.", good, nil, nil},
	{"verdict below its bare heading", "https://github.com/mmnto-ai/totem/issues/102", "The tenant is missing.\n\nVerdict\nFAIL\n", bad, nil, nil},
	{"a word of the other kind in the reasoning", "https://github.com/OpenWebRL/OpenWebRL/issues/5", "It looks safe at first, but the filter is missing.\nFinal verdict: not safe", bad, nil, nil},
	{"disagrees within a line", "https://github.com/NVIDIA-NeMo/Guardrails/pull/2370", "Verdict: safe; Verdict: unsafe", no, nil, nil},
	{"a verdict with a caveat", "https://github.com/KeyValueSoftwareSystems/agent-opfor/pull/84", "Verdict: PASS (with caveats)", no, nil, nil},

	// Refusals, and nothing.
	{"sorry", "apiyi.com documentation, 2026-09-18: refusals come as a sentence with 200 and finish_reason stop", "I'm sorry, but I can't help with that.", not, nil, nil},
	{"cannot assist", "OpenRouter SDK documentation, OpenAIResponsesRefusalContent", "I cannot assist with analysing code for vulnerabilities.", not, nil, nil},
	{"typographic apostrophe", "ours: ChatGPT style", "I can’t help with finding exploits.", not, nil, nil},
	{"unable", "Anthropic docs, handle refusals", "I'm unable to review this code.", not, nil, nil},
	{"refusal field", "OpenAI, Structured Outputs guide: refusal", `{"refusal":"I cannot judge this."}`, not, nil, nil},
	{"refusal in Chinese", "ours: Qwen model cards", "抱歉，我无法协助。", no, nil, nil},
	{"refused within a field", "https://github.com/patrickrchao/JailbreakingLLMs/issues/2", `{"explanation":"I apologize, but I cannot help with finding vulnerabilities."}`, not, nil, nil},
	{"refused within a field, verdict null", "https://github.com/patrickrchao/JailbreakingLLMs/issues/2", `{"verdict":null,"explanation":"I can't help with that."}`, not, nil, nil},
	{"apology with an answer", "ours: models apologise for format", "I'm sorry for the confusion.\n{\"verdict\":\"bad\"}", bad, nil, nil},
	{"empty", "https://github.com/vllm-project/vllm/issues/41902", "", no, nil, nil},
	{"white space", "https://github.com/ollama/ollama/issues/4428", " \n\t\n ", no, nil, nil},
}
