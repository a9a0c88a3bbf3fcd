package auditor

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// The names of fields, folded by normalKey.
var (
	verdictKeys     = set("verdict", "finalverdict", "assessment", "result", "label", "classification")
	explanationKeys = set("explanation", "reason", "reasoning", "rationale", "analysis", "why", "details")
	violatesKeys    = set("violates", "violated", "violations", "violatedrequirements", "violatedrequirement", "requirementsviolated")
	cweKeys         = set("cwe", "cwes", "cweid", "cweids", "weakness", "weaknesses")
	refusalKeys     = set("refusal", "refused")
)

// whenTrue are the fields that are true or false, and what they say when they are true.
var whenTrue = map[string]audit.Label{"vulnerable": audit.Bad, "isvulnerable": audit.Bad, "secure": audit.Good, "issecure": audit.Good, "compliant": audit.Good}

// verdictWords are the words of a verdict. Anything else, "mostly good" say, is none.
var verdictWords = map[string]audit.Label{
	"good": audit.Good, "secure": audit.Good, "safe": audit.Good, "compliant": audit.Good, "pass": audit.Good, "passed": audit.Good, "ok": audit.Good,
	"not vulnerable": audit.Good, "no violation": audit.Good, "no violations": audit.Good,
	"bad": audit.Bad, "insecure": audit.Bad, "unsafe": audit.Bad, "vulnerable": audit.Bad, "non-compliant": audit.Bad, "fail": audit.Bad, "failed": audit.Bad,
	"violation": audit.Bad, "violated": audit.Bad, "violates": audit.Bad, "not secure": audit.Bad, "not safe": audit.Bad, "not compliant": audit.Bad, "not good": audit.Bad,
}

// ornaments are what models put around a word.
const ornaments = " \t\r\n*_`'\"“”‘’.!,;:()[]<>✅❌✔✗✘⚠️🟢🔴"

func verdictWord(s string) audit.Label {
	return verdictWords[strings.ToLower(strings.Join(strings.Fields(strings.Trim(s, ornaments)), " "))]
}

// verdictPhrase reads a word of the list with a reason after it: "bad - violates
// requirement 1". A reason that takes the word back makes it none.
func verdictPhrase(s string) audit.Label {
	if l := verdictWord(s); l != "" || len(s) > 400 {
		return l
	}
	at := afterWord.FindStringIndex(s)
	if at == nil {
		return ""
	}
	l := verdictWord(s[:at[0]])
	reason := strings.ToLower(s[at[1]:])
	if l == "" || caveat.MatchString(reason) {
		return ""
	}
	for _, w := range strings.Fields(negated.ReplaceAllString(reason, " ")) {
		if other := verdictWord(w); other != "" && other != l {
			return ""
		}
	}
	return l
}

var (
	afterWord = regexp.MustCompile(`\s+[-–—]+\s+|\s*[—:;,.(]\s*|\s+(?:because|since|as)\s`)
	caveat    = regexp.MustCompile(`\b(?:but|however|except|although|though|caveats?|mostly|partly|partially|unless|otherwise|if|or|maybe|probably|possibly|verdict)\b`)
	negated   = regexp.MustCompile(`\b(?:not|no|none|never|without|nothing|nor|neither|isn['’]t|cannot)\b[^.;:,]*`)
)

// What gives a verdict without an object: a line "Verdict: bad" or what stands below such
// a heading, an element, or where there is neither a sentence that begins so.
var (
	verdictLine     = regexp.MustCompile(`(?im)^[\s>#*_\-•]*(?:final\s+)?(?:(?:verdict|assessment)[\s*_]*[:=：]|verdict[\s*_]*\n)[ \t]*(.*)$`)
	verdictElement  = regexp.MustCompile(`(?is)<(?:verdict|answer|result)>(.*?)</(?:verdict|answer|result)>`)
	verdictSentence = regexp.MustCompile(`(?im)([^.!;\n]*)\b(?:the|this) (?:code|fragment|query|statement|verdict|answer) is [*_"]*((?:not )?[*_"]*(?:good|bad)\b[^.!;\n]*)`)
)

// readText reads an answer that is no JSON, or one word alone. Several verdicts have to
// agree: without the form of an object nobody can tell the draft from the answer.
func readText(text string) *audit.Review {
	if l := verdictWord(text); l != "" {
		return &audit.Review{Status: audit.Answered, Verdict: l}
	}
	said := append(verdictLine.FindAllStringSubmatch(text, -1), verdictElement.FindAllStringSubmatch(text, -1)...)
	if len(said) == 0 {
		said = verdictSentence.FindAllStringSubmatch(text, -1)
	}
	found := audit.Label("")
	for _, m := range said {
		l := verdictPhrase(strings.Join(m[1:], " ")) // a sentence that begins otherwise, with "If" say, is none
		if l == "" || found != "" && l != found {
			return nil
		}
		found = l
	}
	if found == "" {
		return nil
	}
	return consistent(&audit.Review{Status: audit.Answered, Verdict: found, Explanation: text, Violates: requirements(text), CWEs: unique(cwes(text))})
}

var (
	requirementsLine = regexp.MustCompile(`(?i)^[\s>#*_\-•]*(?:violated[ _-]?(?:requirements?|rules?)|(?:requirements?|rules?)[ _-](?:that are )?violated|violates|violations?)[\s*_]*(?:[:=：][\s*_]*(.*))?$`)
	listItem         = regexp.MustCompile(`^\s*(?:[-*•]|\d+[.)])\s`)
)

// requirements gives what a text without an object says is violated: a line
// "Violated requirements: 1, 4", or the list below such a line.
func requirements(text string) (ns []int) {
	listing := false
	for line := range strings.Lines(text) {
		m := requirementsLine.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case m != nil:
			ns = append(ns, numbers(strings.Trim(m[1], "[]* \r"))...)
			listing = strings.Trim(m[1], "* ") == ""
		case listing && listItem.MatchString(line):
			ns = append(ns, numbers([]any{line})...)
		case strings.TrimSpace(line) != "":
			listing = false
		}
		if len(ns) > maxListed {
			break
		}
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// refusal matches how a reply begins whose author declines to judge: not what the
// author cannot find or see, but what it will not do. It is asked only when the
// reply holds no verdict.
var refusal = regexp.MustCompile(`(?i)^\W*(?:` +
	`(?:[^.!?\n]{0,80}?[\s,;])?(?:i|we) ?(?:can['’]?t|cannot|won['’]?t|will not|(?:['’]m|am) (?:unable|not able|not comfortable)(?: to)?) ` +
	`(?:help|assist|comply|fulfil+|support|review|judge|analy[sz]e|evaluate|assess|audit|do (?:that|this)|continue|participate|engage|process|discuss|provide|answer|respond|complete|perform)\b|` +
	`(?:i|we) (?:must |have to )?(?:decline|refuse)\b|as an ai\b|(?:it|this|that) (?:is|goes) against my guidelines|this request (?:violates|has been blocked)\b)`)

func refuses(text string) bool { return refusal.MatchString(text[:min(len(text), 400)]) }

// What models put around what they think before they answer, and the one pair of marks
// that it is brought to.
var (
	otherMarks = strings.NewReplacer("[THINK]", "<think>", "[/THINK]", "</think>", "◁think▷", "<think>", "◁/think▷", "</think>",
		"<|START_THINKING|>", "<think>", "<|END_THINKING|>", "</think>", "<seed:think>", "<think>", "</seed:think>", "</think>",
		"<|begin_of_thought|>", "<think>", "<|end_of_thought|>", "</think>")
	otherNames = regexp.MustCompile(`(?i)<(/?)(?:think|thinking|thought|reason|reasoning|reflection|scratchpad)>`)
	reasoning  = regexp.MustCompile(`(?s)<think>.*?</think>`)
)

// harmony marks the answer among the channels of a reply in gpt-oss's format.
const harmony = "<|channel|>final<|message|>"

// withoutReasoning drops what precedes the answer. open says that the reasoning
// never came to its end.
func withoutReasoning(text string) (rest string, open bool) {
	if i := strings.LastIndex(text, harmony); i >= 0 {
		text, _, _ = strings.Cut(text[i+len(harmony):], "<|")
	} else if strings.HasPrefix(text, "<|channel|>analysis") {
		return "", true // what is final has a channel of its own
	}
	marked := otherNames.ReplaceAllString(otherMarks.Replace(text), "<${1}think>")
	if quotesMarks(marked) {
		return text, false
	}
	marked = reasoning.ReplaceAllString(marked, "")
	if i := strings.LastIndex(marked, "</think>"); i >= 0 && !quotesMarks(marked) { // some templates put the opening mark into the prompt
		marked = marked[i+len("</think>"):]
	}
	return strings.CutPrefix(strings.TrimSpace(marked), "<think>")
}

// quotesMarks reports whether marks stand nowhere but in an object: the code that it
// speaks of may hold them.
func quotesMarks(text string) bool {
	from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	return from >= 0 && from < to && !strings.Contains(text[:from]+text[to:], "think>") && json.Valid([]byte(text[from:to+1]))
}
