package auditor

import (
	"encoding/json"
	"regexp"
	"strings"

	"assay/audit"
)

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
