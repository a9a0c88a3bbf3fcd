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
		"violation", "violated", "violates", "not secure", "not safe", "not good", "not ok"),
}

// ornaments are what models put around a word.
const ornaments = " \t\r\n*_`'\"“”‘’.!,;:()[]<>✅❌✔✗✘⚠️🟢🔴"

func verdictWord(s string) audit.Label {
	s = strings.ToLower(strings.Join(strings.Fields(strings.Trim(s, ornaments)), " "))
	for l, words := range verdictWords {
		if words[s] {
			return l
		}
	}
	return ""
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

var (
	outsideLine     = regexp.MustCompile(`(?im)^[\s>#*_\-•]*(?:final\s+)?verdict[\s*_]*[:=：][ \t]*(.*)$`)
	verdictSentence = regexp.MustCompile(`(?i)\b(?:the|this)\s+(?:code|fragment|query|statement|snippet|case|handler|function|implementation|sql|module|program|verdict|answer)\s+is\s+[*_]*(not\s+)?[*_"]*(good|bad)[*_"]*(?:$|[.!:;,\n(]|\s+[-–—(]|\s+(?:because|since)\b)`)
	unsure          = regexp.MustCompile(`(?i)\b(?:if|whether|unless|says?|said|claims?|think|would|might|may|could|perhaps|probably)\b[^.;\n]*$`)
)

// readSentences reads sentences like "The fragment is bad." that agree; "" where
// there is none, one is not sure, or two contradict.
func readSentences(text string) audit.Label {
	found := audit.Label("")
	for _, m := range verdictSentence.FindAllStringSubmatchIndex(text, maxListed) {
		l := audit.Label(strings.ToLower(text[m[4]:m[5]]))
		if m[2] >= 0 {
			if l == audit.Bad { // "not bad"
				return ""
			}
			l = audit.Bad
		}
		if found != "" && l != found || unsure.MatchString(text[max(0, m[0]-200):m[0]]) || caveat.MatchString(strings.ToLower(restOfSentence(text[m[5]:]))) {
			return ""
		}
		found = l
	}
	return found
}

func restOfSentence(s string) string {
	if i := strings.IndexAny(s, ".!\n"); i >= 0 {
		return s[:i]
	}
	return s
}

var (
	requirementsLine = regexp.MustCompile(`(?i)^[\s>#*_\-•]*(?:violated[ _-]?(?:requirements?|rules?)|(?:requirements?|rules?)[ _-](?:that are )?violated|violates|violations?|broken[ _-](?:requirements?|rules?))[\s*_]*(?:[:=：][\s*_]*(.*))?$`)
	listItem         = regexp.MustCompile(`^\s*(?:[-*•]|\d+[.)])\s`)
	spokenForms      = []*regexp.Regexp{
		regexp.MustCompile(`(?i)\b(?:violates?|violating|breaks?|breaking)\s+(?:the\s+)?(?:requirements?|rules?)\s+(\d+(?:\s*(?:,|and|&)\s*\d+)*)`),
		regexp.MustCompile(`(?i)\b(?:requirements?|rules?)\s+(\d+(?:\s*(?:,|and|&)\s*\d+)*)\s+(?:is|are)\s+(?:violated|broken|not met|not satisfied)`),
	}
	denied = regexp.MustCompile(`(?i)\b(?:no|not|neither|nor|never|if|whether|would|could|might|n['’]t)\b[^.;\n]*$`)
)

// spoken gives the requirements that sentences say are violated.
func spoken(text string) (ns []int) {
	for _, form := range spokenForms {
		for _, m := range form.FindAllStringSubmatchIndex(text, maxListed) {
			if !denied.MatchString(text[max(0, m[0]-60):m[0]]) {
				ns = append(ns, numbers(strings.ReplaceAll(text[m[2]:m[3]], "&", ","))...)
			}
		}
	}
	return ns
}

// requirements gives what a text without an object says is violated: a line
// "Violated requirements: 1, 4", the list below such a line, or else sentences.
func requirements(text string) (ns []int) {
	said, listing := false, false
	for line := range strings.Lines(text) {
		m := requirementsLine.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case m != nil:
			said = true
			ns = append(ns, numbers(strings.Trim(m[1], "[]* \r"))...)
			listing = strings.Trim(m[1], "* ") == ""
		case listing && listItem.MatchString(line):
			ns = append(ns, number(line)...)
		case strings.TrimSpace(line) != "":
			listing = false
		}
		if len(ns) > maxListed {
			break
		}
	}
	if !said {
		ns = spoken(text)
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

var (
	verdictLine    = regexp.MustCompile(`(?im)^[\s>#*_\-•]*(?:final\s+)?(?:verdict|answer|result|classification|assessment)[\s*_]*[:=：][ \t]*(.*)$`)
	verdictHeading = regexp.MustCompile(`(?im)^[\s>#*_]*(?:final\s+)?verdict[\s*_]*\n+[ \t]*(\S.*)$`)
	verdictElement = regexp.MustCompile(`(?is)<(?:verdict|answer|result)>(.*?)</(?:verdict|answer|result)>`)
)

// readLines reads an answer that is no JSON: lines "Verdict: bad", a word below
// the heading "Verdict", elements <verdict>bad</verdict>, sentences "The fragment is
// bad.", or one word alone. Several have to agree: without the
// form of an object nobody can tell the draft from the answer.
func readLines(text string) *audit.Review {
	if l := verdictWord(text); l != "" {
		return &audit.Review{Status: audit.Answered, Verdict: l}
	}
	found := audit.Label("")
	var said []string
	for _, form := range []*regexp.Regexp{verdictLine, verdictHeading, verdictElement} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			said = append(said, m[1])
		}
	}
	for _, s := range said {
		l := verdictPhrase(s)
		if l == "" || found != "" && l != found {
			return nil
		}
		found = l
	}
	if found == "" {
		found = readSentences(text)
	}
	if found == "" {
		return nil
	}
	return consistent(&audit.Review{Status: audit.Answered, Verdict: found, Explanation: text, Violates: requirements(text), CWEs: unique(cwes(text))})
}

// refusal matches how a reply begins whose author declines to judge: not what the
// author cannot find or see, but what it will not do. It is asked only when the
// reply holds no verdict.
var refusal = regexp.MustCompile(`(?i)^\W*(?:` +
	`(?:[^.!?\n]{0,80}?[\s,;])?(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|have to decline|decline|am not able|['’]m not able|am unable|refuse)(?: to)? ` +
	`(?:help with|assist|comply|fulfil+|support|review|judge|analy[sz]e|evaluate|assess|audit|do (?:that|this)|continue|participate|engage|process|discuss|provide|answer|respond|complete|perform|with|to)\b|` +
	`(?:[^.!?\n]{0,80}?[\s,;])?i['’]m (?:unable|not able|not comfortable) (?:to )?(?:help|assist|comply|fulfil+|support|review|judge|analy[sz]e|evaluate|assess|audit|do|continue|participate|engage|process|discuss|provide|answer|respond|complete|perform|with)|` +
	`(?:i|we) (?:must |have to )?(?:decline|refuse)\b|(?:i['’]m|i am) (?:very |really )?sorry,? but (?:i|this|that)\b.{0,40}(?:policy|guidelines|not allowed)|` +
	`as an ai\b|(?:it|this|that) (?:is|goes) against my guidelines|my guidelines\b|this request (?:violates|has been blocked)\b|抱歉|很抱歉|对不起|我无法|lo siento\b|je suis désolé|es tut mir leid)`)

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
