package auditor

import (
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
	verdictKeys     = set("verdict", "result", "label", "answer", "classification", "assessment", "decision", "judgment", "judgement", "evaluation", "finalverdict", "actualresult")
	badWhenTrue     = set("vulnerable", "isvulnerable", "insecure", "isinsecure", "bad", "isbad", "hasvulnerability")
	goodWhenTrue    = set("secure", "issecure", "safe", "issafe", "compliant", "iscompliant", "good", "isgood")
	explanationKeys = set("explanation", "reason", "reasoning", "rationale", "analysis", "justification", "why", "details")
	violatesKeys    = set("violates", "violated", "violations", "violatedrequirements", "violatedrequirement", "requirementsviolated", "requirementviolated", "brokenrequirements")
	cweKeys         = set("cwe", "cwes", "cweid", "cweids", "weakness", "weaknesses")
	confidenceKeys  = set("confidence", "certainty", "probability", "confidencescore")
	refusalKeys     = set("refusal", "refused")
)

// The words of a verdict. Anything else, "mostly good" say, is no verdict.
var verdictWords = map[audit.Label]map[string]bool{
	audit.Good: set("good", "secure", "safe", "compliant", "pass", "passed", "passes", "ok", "satisfied", "not vulnerable", "no violation", "no violations"),
	audit.Bad: set("bad", "insecure", "unsafe", "vulnerable", "noncompliant", "non-compliant", "not compliant", "fail", "failed", "fails",
		"violation", "violated", "violates", "not secure", "not safe"),
}

// VerdictWords gives the words that are read as a verdict, sorted.
func VerdictWords(l audit.Label) []string {
	var out []string
	for w := range verdictWords[l] {
		out = append(out, w)
	}
	slices.Sort(out)
	return out
}

// ornaments are what models put around a word.
const ornaments = " \t\r\n*_`'\"“”‘’.!,;:()[]<>✅❌✔✗✘⚠️🟢🔴"

// verdictWord reads one word of the list, without regard to case and ornaments.
func verdictWord(s string) audit.Label {
	s = strings.ToLower(strings.Join(strings.Fields(strings.Trim(s, ornaments)), " "))
	for l, words := range verdictWords {
		if words[s] {
			return l
		}
	}
	return ""
}

var (
	verdictLine    = regexp.MustCompile(`(?im)^[\s>#*_\-•]*(?:final\s+)?(?:verdict|answer|result|classification|assessment)[\s*_]*[:=：][ \t]*(.*)$`)
	verdictHeading = regexp.MustCompile(`(?im)^[\s>#*_]*(?:final\s+)?verdict[\s*_]*\n+[ \t]*(\S.*)$`)
	verdictElement = regexp.MustCompile(`(?is)<(verdict|answer|result)>(.*?)</(?:verdict|answer|result)>`)
)

// readLines reads an answer that is no JSON: lines "Verdict: bad", a word below
// the heading "Verdict", elements <verdict>bad</verdict>, or one word alone. Several have to agree: without the
// form of an object nobody can tell the draft from the answer.
func readLines(text string) *audit.Review {
	if l := verdictWord(text); l != "" {
		return &audit.Review{Status: audit.Answered, Verdict: l}
	}
	found := audit.Label("")
	var said []string
	for _, m := range verdictLine.FindAllStringSubmatch(text, -1) {
		said = append(said, m[1])
	}
	for _, m := range verdictHeading.FindAllStringSubmatch(text, -1) {
		said = append(said, m[1])
	}
	for _, m := range verdictElement.FindAllStringSubmatch(text, -1) {
		said = append(said, m[2])
	}
	for _, s := range said {
		l := verdictWord(s)
		if l == "" || found != "" && l != found {
			return nil
		}
		found = l
	}
	if found == "" {
		return nil
	}
	return &audit.Review{Status: audit.Answered, Verdict: found, Explanation: text, CWEs: unique(cwes(text))}
}

// refusal matches how a reply begins whose author declines to judge. It is asked
// only when the reply holds no verdict.
var refusal = regexp.MustCompile(`(?i)^\W*(?:(?:i['’]m|i am) (?:very |really )?sorry\b|sorry,? (?:but )?i\b|i apologi[sz]e\b|` +
	`(?:i['’]m sorry,? but )?i (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|decline|am not able to|['’]m not able to|am unable to)\b|` +
	`i['’]m (?:unable|not able|not comfortable)\b|unfortunately,? i (?:can['’]?t|cannot|am unable|['’]m unable)\b|` +
	`as an ai\b|my guidelines\b|this request (?:violates|has been blocked)\b|抱歉|很抱歉|对不起|我无法|lo siento\b|je suis désolé|es tut mir leid)`)

func refuses(text string) bool { return refusal.MatchString(text[:min(len(text), 400)]) }

// reasoning elements hold what a model thought before it answered.
var reasoning = regexp.MustCompile(`(?is)<(think|thinking|thought|reason|reasoning|reflection|scratchpad)>.*?</(?:think|thinking|thought|reason|reasoning|reflection|scratchpad)>`)

var (
	reasoningEnd  = regexp.MustCompile(`(?i)</(?:think|thinking|thought|reason|reasoning|reflection|scratchpad)>`)
	reasoningOpen = regexp.MustCompile(`(?i)^\s*<(?:think|thinking|thought|reason|reasoning|reflection|scratchpad)>`)
	otherMarks    = [][2]string{{"[THINK]", "[/THINK]"}, {"◁think▷", "◁/think▷"}, {"<|START_THINKING|>", "<|END_THINKING|>"}, {"<seed:think>", "</seed:think>"},
		{"<|begin_of_thought|>", "<|end_of_thought|>"}}
)

// harmony marks the answer among the channels of a reply in gpt-oss's format.
const harmony = "<|channel|>final<|message|>"

// withoutReasoning drops what precedes the answer. open says that the reasoning
// never came to its end.
func withoutReasoning(text string) (rest string, open bool) {
	if i := strings.LastIndex(text, harmony); i >= 0 {
		text = text[i+len(harmony):]
		text, _, _ = strings.Cut(text, "<|")
	} else if strings.HasPrefix(text, "<|channel|>analysis") {
		return "", true
	}
	for _, m := range otherMarks {
		if begin := strings.Index(text, m[0]); begin >= 0 {
			end := strings.LastIndex(text, m[1])
			if end < begin {
				if strings.TrimSpace(text[:begin]) == "" {
					return "", true
				}
				continue
			}
			text = text[:begin] + text[end+len(m[1]):]
		}
	}
	text = reasoning.ReplaceAllString(text, "")
	// Some templates put the opening mark into the prompt.
	if all := reasoningEnd.FindAllStringIndex(text, -1); all != nil {
		text = text[all[len(all)-1][1]:]
	}
	if reasoningOpen.MatchString(text) {
		return "", true
	}
	return strings.TrimSpace(text), false
}
