package auditor

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// verdicts reads a verdict on a case: an object with one of the words of verdictWords.
// Without any object, a line "Verdict: bad", a <verdict> element, a sentence "The
// fragment is bad." or a reply of that one word answers too. A verdict good that names
// requirements that are violated is malformed.
var verdicts = &question{
	wanted: "verdict", members: readVerdict, text: readText, beside: otherVerdict, open: true,
	clash:       "it gives two verdicts that contradict each other",
	clashWithin: "the JSON object holds several verdicts that contradict one another",
	none:        "no JSON object and no verdict line: ",
}

// The names of fields, folded by normalKey; of several the first counts.
var (
	verdictKeys     = []string{"assessment", "classification", "finalverdict", "label", "result", "verdict"}
	explanationKeys = []string{"analysis", "details", "explanation", "rationale", "reason", "reasoning", "why"}
	violatesKeys    = []string{"requirementsviolated", "violated", "violatedrequirement", "violatedrequirements", "violates", "violations"}
	cweKeys         = []string{"cwe", "cweid", "cweids", "cwes", "weakness", "weaknesses"}
	refusalKeys     = []string{"refusal", "refused"}
)

// whenTrue are the fields that are true or false, and what they say when they are true.
var whenTrue = map[string]audit.Label{"vulnerable": audit.Bad, "isvulnerable": audit.Bad, "secure": audit.Good, "issecure": audit.Good, "compliant": audit.Good}

// readVerdict reads an object's own members; nil when they give no verdict, or
// contradict one another.
func readVerdict(f fields) (*audit.Review, string) {
	verdict, problem := verdictOf(f)
	if v := f.first(refusalKeys).String(); verdict == "" && strings.TrimSpace(v) != "" && v != "false" {
		return declined(v), ""
	}
	if verdict == "" {
		return nil, problem
	}
	return consistent(&audit.Review{Status: audit.Answered, Verdict: verdict, Explanation: f.first(explanationKeys).String(),
		Violates: requirements(f, violatesKeys), CWEs: cwes(f.items(cweKeys, cweMembers...)), Confidence: confidence(f["confidence"].Num)}), ""
}

// consistent puts the requirements of an answer in order, and makes one malformed that
// says good and names what is violated.
func consistent(r *audit.Review) *audit.Review {
	slices.Sort(r.Violates)
	r.Violates = slices.Compact(r.Violates)
	if r.Verdict != audit.Good || len(r.Violates) == 0 {
		return r
	}
	return malformed("the verdict is good, and requirement %d is named as violated", r.Violates[0])
}

// verdictOf gives the verdict that all verdict fields agree on, or says why there is none.
func verdictOf(f fields) (verdict audit.Label, problem string) {
	var good, bad, unknown bool
	for _, name := range verdictKeys {
		v, there := f[name]
		if !there {
			continue
		}
		l := verdictPhrase(v.Str)
		good, bad = good || l == audit.Good, bad || l == audit.Bad
		unknown = unknown || name == "verdict" && l == "" // other fields cannot mend it
	}
	for name, l := range whenTrue {
		if v := f[name]; v.IsBool() {
			isGood := v.Bool() == (l == audit.Good)
			good, bad = good || isGood, bad || !isGood
		}
	}
	switch v := f.first(verdictKeys); {
	case good && bad && !unknown:
		return "", "the JSON object's fields give verdicts that contradict one another"
	case good && !unknown:
		return audit.Good, ""
	case bad && !unknown:
		return audit.Bad, ""
	case v.Exists():
		return "", fmt.Sprintf("the verdict %s is none of the words %s", firstLine(v.String()), strings.Join(slices.Sorted(maps.Keys(verdictWords)), ", "))
	}
	return "", "the JSON object holds no verdict"
}

// toldIn gives the verdicts that a text gives in such forms; "" for what is none.
func toldIn(text string, forms ...*regexp.Regexp) (told []audit.Label) {
	for _, form := range forms {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			told = append(told, verdictPhrase(strings.Join(m[1:], " "))) // a sentence that begins otherwise, with "If" say, is none
		}
	}
	return told
}

// otherVerdict reports whether a verdict line contradicts an answer.
func otherVerdict(text string, answer *audit.Review) bool {
	return slices.ContainsFunc(toldIn(text, verdictLine), func(l audit.Label) bool { return l != "" && l != answer.Verdict })
}

// readText reads an answer that is no JSON, or one word alone. Several verdicts have to
// agree: without the form of an object nobody can tell the draft from the answer.
func readText(text string) *audit.Review {
	if l := verdictWord(text); l != "" {
		return &audit.Review{Status: audit.Answered, Verdict: l}
	}
	told := toldIn(text, verdictLine, verdictElement)
	if len(told) == 0 {
		told = toldIn(text, verdictSentence)
	}
	if told = slices.Compact(told); len(told) != 1 || told[0] == "" {
		return nil
	}
	r := &audit.Review{Status: audit.Answered, Verdict: told[0], Explanation: text, CWEs: cwes([]string{text})}
	for _, m := range violatedText.FindAllStringSubmatch(text, -1) {
		r.Violates = append(r.Violates, numbers(listed.Split(strings.Trim(m[1], "[]* \r"), maxListed))...)
		r.Violates = append(r.Violates, numbers(strings.Split(m[2], "\n"))...)
	}
	return consistent(r)
}

// What gives a verdict without an object: a line "Verdict: bad" or what stands below such
// a heading, an element, or where there is neither a sentence that begins so.
var (
	verdictLine     = regexp.MustCompile(`(?im)^[\s>#*_\-•]*(?:final\s+)?(?:(?:verdict|assessment)[\s*_]*[:=：]|verdict[\s*_]*\n)[ \t]*(.*)$`)
	verdictElement  = regexp.MustCompile(`(?is)<(?:verdict|answer|result)>(.*?)</(?:verdict|answer|result)>`)
	verdictSentence = regexp.MustCompile(`(?im)([^.!;\n]*)\b(?:the|this) (?:code|fragment|query|statement|verdict|answer) is [*_"]*((?:not )?[*_"]*(?:good|bad)\b[^.!;\n]*)`)
)

// violatedText finds what a text without an object says is violated: a line "Violated
// requirements: 1, 4", or the list below such a line.
var violatedText = regexp.MustCompile(`(?im)^[\s>#*_\-•]*(?:violated[ _-]?(?:requirements?|rules?)|(?:requirements?|rules?)[ _-](?:that are )?violated|violates|violations?)[ \t*_]*` +
	`(?:[:=：][ \t*_]*([^\s*].*)|[:=：]?[ \t*_]*((?:\s*\n\s*(?:[-*•]|\d+[.)])\s.*)+))$`)

// requirements reads what members name: 2, "R2", "2, 5 and 7", {"id": 2}.
func requirements(f fields, names []string) (ns []int) {
	for _, name := range names {
		all := items(f[name], "number", "id", "requirement", "requirement_number", "requirement_id")
		if f[name].Type == gjson.String { // of a list each is one, whatever commas its text holds
			all = listed.Split(f[name].Str, maxListed)
		}
		ns = append(ns, numbers(all)...)
	}
	return ns
}

var (
	firstNumber = regexp.MustCompile(`^\W*(?i:r|req|requirement|rule|sr|no|nr)?[\s.#_-]*(\d{1,4})\b`)
	listed      = regexp.MustCompile(`[,;\n]|\band\b`)
	satisfied   = regexp.MustCompile(`(?i)\b(?:not (?:violated|broken|applicable)|is satisfied|satisfied$|is met|no violation|holds)\b`)
)

// numbers gives the requirements that items name ("2", "R2", "Requirement 2: ..."); none
// of which an item says that it holds.
func numbers(items []string) (ns []int) {
	for _, item := range items {
		item = strings.TrimSpace(item)
		m := firstNumber.FindStringSubmatch(item)
		if f, err := strconv.ParseFloat(item, 64); m == nil || err == nil && (f < 1 || f != math.Trunc(f)) || satisfied.MatchString(item) {
			continue
		}
		if n, _ := strconv.Atoi(m[1]); n > 0 {
			ns = append(ns, n)
		}
	}
	return ns
}

// cweMembers hold the weakness of an object.
var cweMembers = []string{"id", "cwe", "cwe_id", "number"}

var cweForm = regexp.MustCompile(`(?i)\bCWE[-_ ]?0*([1-9]\d{0,4})\b`)

// cwes reads weaknesses, each once: "CWE-89", "89", "CWE-89: SQL injection".
func cwes(items []string) (out []audit.CWE) {
	for _, item := range items {
		forms := cweForm.FindAllStringSubmatch(item, maxListed)
		if len(forms) == 0 {
			forms = [][]string{{"", item}}
		}
		for _, m := range forms {
			if c, err := audit.ParseCWE(m[1]); err == nil && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return out
}

// confidence reads a share, or a percentage; what is neither says nothing.
func confidence(f float64) float64 {
	if f > 1 {
		f /= 100
	}
	if f < 0 || f > 1 {
		return 0
	}
	return f
}
