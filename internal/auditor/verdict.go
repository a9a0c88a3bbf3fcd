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

// The names of fields, folded by normalKey; of several the first counts.
var (
	verdictKeys = []string{"assessment", "classification", "finalverdict", "label",
		"result", "verdict"}
	explanationKeys = []string{"analysis", "details", "explanation", "rationale", "reason",
		"reasoning", "why"}
	violatesKeys = []string{"requirementsviolated", "violated", "violatedrequirement",
		"violatedrequirements", "violates", "violations"}
	cweKeys     = []string{"cwe", "cweid", "cweids", "cwes", "weakness", "weaknesses"}
	refusalKeys = []string{"refusal", "refused"}
)

// whenTrue are the fields that are true or false, and what they say when they are true.
var whenTrue = map[string]audit.Label{"vulnerable": audit.Bad, "isvulnerable": audit.Bad,
	"secure": audit.Good, "issecure": audit.Good, "compliant": audit.Good}

// readVerdict returns the answer of an object's own members. If they give no verdict, or contradict
// one another, it returns nil and the reason.
func readVerdict(f fields) (*audit.Review, string) {
	verdict, problem := verdictOf(f)
	if v := f.first(refusalKeys).String(); verdict == "" && strings.TrimSpace(v) != "" &&
		v != "false" {
		return declined(v), ""
	}
	if verdict == "" {
		return nil, problem
	}
	return consistent(&audit.Review{Status: audit.Answered, Verdict: verdict,
		Explanation: f.first(explanationKeys).String(),
		Violates:    requirements(f, violatesKeys), CWEs: cwes(f.items(cweKeys, cweMembers...)),
		Confidence: confidence(f["confidence"].Num)}), ""
}

// consistent sorts the requirements of an answer. An answer that says good and names violated
// requirements is malformed.
func consistent(r *audit.Review) *audit.Review {
	slices.Sort(r.Violates)
	r.Violates = slices.Compact(r.Violates)
	if r.Verdict != audit.Good || len(r.Violates) == 0 {
		return r
	}
	return malformed("the verdict is good, and requirement %d is named as violated", r.Violates[0])
}

// verdictOf returns the verdict that all verdict fields agree on, or says why there is none.
func verdictOf(f fields) (verdict audit.Label, problem string) {
	var told []audit.Label
	for _, name := range verdictKeys {
		if v, ok := f[name]; ok {
			if l := verdictPhrase(v.Str); l != "" || name == "verdict" {
				told = append(told, l)
			}
		}
	}
	for name, l := range whenTrue {
		if v := f[name]; v.IsBool() {
			isGood := v.Bool() == (l == audit.Good)
			told = append(told, map[bool]audit.Label{true: audit.Good, false: audit.Bad}[isGood])
		}
	}
	slices.Sort(told)
	switch told, v := slices.Compact(told), f.first(verdictKeys); {
	case len(told) == 1 && told[0] != "":
		return told[0], ""
	case v.Exists() && (len(told) == 0 || told[0] == ""):
		return "", fmt.Sprintf("the verdict %s is none of the words %s", firstLine(v.String()),
			strings.Join(slices.Sorted(maps.Keys(verdictWords)), ", "))
	case len(told) > 1:
		return "", "the JSON object's fields give verdicts that contradict one another"
	}
	return "", "the JSON object holds no verdict"
}

// verdictLine matches a line "Verdict: bad", or the line below a heading "Verdict".
var verdictLine = regexp.MustCompile(
	`(?im)^[\s>#*_\-•]*(?:final\s+)?(?:(?:verdict|assessment)[\s*_]*[:=：]|verdict[\s*_]*\n)[ \t]*(.*)$`)

// linesIn returns the verdicts of the verdict lines of a text; "" for a line without one.
func linesIn(text string) (verdicts []audit.Label) {
	for _, m := range verdictLine.FindAllStringSubmatch(text, -1) {
		verdicts = append(verdicts, verdictPhrase(m[1]))
	}
	return verdicts
}

// otherVerdict reports whether a verdict line of a text contradicts a verdict.
func otherVerdict(text string, verdict audit.Label) bool {
	return slices.ContainsFunc(linesIn(text),
		func(l audit.Label) bool { return l != "" && l != verdict })
}

// readText returns the answer of a text without JSON: a verdict line, or one word alone. Several
// lines have to agree. It returns nil if there is none.
func readText(text string) *audit.Review {
	if l := verdictWord(text); l != "" {
		return &audit.Review{Status: audit.Answered, Verdict: l}
	}
	told := slices.Compact(linesIn(text))
	if len(told) != 1 || told[0] == "" {
		return nil
	}
	r := &audit.Review{Status: audit.Answered, Verdict: told[0], Explanation: text,
		CWEs: cwes([]string{text})}
	for _, m := range violatedLine.FindAllStringSubmatch(text, -1) {
		r.Violates = append(r.Violates,
			numbers(listed.Split(strings.Trim(m[1], "[]* \r"), maxListed))...)
		r.Violates = append(r.Violates, numbers(strings.Split(m[2], "\n"))...)
	}
	return consistent(r)
}

// violatedLine matches a line "Violated requirements: 1, 4", or the list below such a line.
var violatedLine = regexp.MustCompile(
	`(?im)^[\s>#*_\-•]*(?:violated[ _-]?(?:requirements?|rules?)|(?:requirements?|rules?)[ _-](?:that are )?violated|violates|violations?)[ \t*_]*` +
		`(?:[:=：][ \t*_]*([^\s*].*)|[:=：]?[ \t*_]*((?:\s*\n\s*(?:[-*•]|\d+[.)])\s.*)+))$`)

// requirements returns the requirements that members name: 2, "R2", "2, 5 and 7", {"id": 2}.
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
	firstNumber = regexp.MustCompile(
		`^\W*(?i:r|req|requirement|rule|sr|no|nr)?[\s.#_-]*(\d{1,4})\b`)
	listed    = regexp.MustCompile(`[,;\n]|\band\b`)
	satisfied = regexp.MustCompile(
		`(?i)\b(?:not (?:violated|broken|applicable)|is satisfied|satisfied$|is met|no violation|holds)\b`)
)

// numbers returns the requirements that items name ("2", "R2", "Requirement 2: ..."), except those
// of which an item says that it holds.
func numbers(items []string) (ns []int) {
	for _, item := range items {
		item = strings.TrimSpace(item)
		m := firstNumber.FindStringSubmatch(item)
		if f, err := strconv.ParseFloat(item, 64); m == nil || err == nil &&
			(f < 1 || f != math.Trunc(f)) || satisfied.MatchString(item) {
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

// cwes returns weaknesses, each once: "CWE-89", "89", "CWE-89: SQL injection".
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

// confidence returns a share that is stated as one or as a percentage, 0 for anything else.
func confidence(f float64) float64 {
	if f > 1 {
		f /= 100
	}
	if f < 0 || f > 1 {
		return 0
	}
	return f
}

// verdictWords are the words of a verdict. Anything else, "mostly good" say, is none.
var verdictWords = map[string]audit.Label{
	"good": audit.Good, "secure": audit.Good, "safe": audit.Good, "compliant": audit.Good,
	"pass": audit.Good, "passed": audit.Good, "ok": audit.Good,
	"not vulnerable": audit.Good, "no violation": audit.Good, "no violations": audit.Good,
	"bad": audit.Bad, "insecure": audit.Bad, "unsafe": audit.Bad, "vulnerable": audit.Bad,
	"non-compliant": audit.Bad, "fail": audit.Bad, "failed": audit.Bad,
	"violation": audit.Bad, "violated": audit.Bad, "violates": audit.Bad, "not secure": audit.Bad,
	"not safe": audit.Bad, "not compliant": audit.Bad, "not good": audit.Bad,
}

// ornaments are what models put around a word.
const ornaments = " \t\r\n*_`'\"“”‘’.!,;:()[]<>✅❌✔✗✘⚠️🟢🔴"

func verdictWord(s string) audit.Label {
	return verdictWords[strings.ToLower(strings.Join(strings.Fields(strings.Trim(s, ornaments)),
		" "))]
}

// verdictPhrase returns the verdict of a word with a reason after it: "bad - violates requirement
// 1". If the reason may take the word back, it returns "".
func verdictPhrase(s string) audit.Label {
	l := verdictWord(s)
	at := afterWord.FindStringIndex(s)
	if l != "" || at == nil || len(s) > 400 {
		return l
	}
	l = verdictWord(s[:at[0]])
	reason := strings.ToLower(s[at[1]:])
	other := func(w string) bool { o := verdictWord(w); return o != "" && o != l }
	if caveat.MatchString(reason) ||
		slices.ContainsFunc(strings.Fields(negated.ReplaceAllString(reason, " ")), other) {
		return ""
	}
	return l
}

var (
	afterWord = regexp.MustCompile(`\s+[-–—]+\s+|\s*[—:;,.(]\s*|\s+(?:because|since|as)\s`)
	caveat    = regexp.MustCompile(
		`\b(?:but|however|except|although|though|caveats?|mostly|partly|partially|unless|otherwise|if|or|maybe|probably|possibly|verdict)\b`)
	negated = regexp.MustCompile(
		`\b(?:not|no|none|never|without|nothing|nor|neither|isn['’]t|cannot)\b[^.;:,]*`)
)

// refusal matches the beginning of a reply whose author will not judge, as opposed to one that
// cannot find or see something. It is used only if the reply holds no verdict.
var refusal = regexp.MustCompile(`(?i)^\W*(?:` +
	`(?:[^.!?\n]{0,80}?[\s,;])?(?:i|we) ?(?:can['’]?t|cannot|won['’]?t|will not|(?:['’]m|am) (?:unable|not able|not comfortable)(?: to)?) ` +
	`(?:help|assist|comply|fulfil+|support|review|judge|analy[sz]e|evaluate|assess|audit|do (?:that|this)|continue|participate|engage|process|discuss|provide|answer|respond|complete|perform)\b|` +
	`(?:i|we) (?:must |have to )?(?:decline|refuse)\b|as an ai\b|(?:it|this|that) (?:is|goes) against my guidelines|this request (?:violates|has been blocked)\b)`)

func refuses(text string) bool { return refusal.MatchString(text[:min(len(text), 400)]) }

// fields are the members of an object, by names that normalKey has folded.
type fields map[string]gjson.Result

func fold(object gjson.Result) fields {
	folded := fields{}
	object.ForEach(func(name, v gjson.Result) bool {
		k := normalKey(name.Str)
		if _, twice := folded[k]; twice {
			v = gjson.Result{} // neither counts
		}
		folded[k] = v
		return true
	})
	return folded
}

// normalKey returns one name for "Violated Requirements", "violated_requirements" and
// "violated-requirements".
func normalKey(k string) string { return strings.ToLower(separators.Replace(strings.TrimSpace(k))) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// first returns the first of these members that there is, and that is not null.
func (f fields) first(names []string) gjson.Result {
	for _, name := range names {
		if v := f[name]; v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// items returns what these members list.
func (f fields) items(names []string, within ...string) (out []string) {
	for _, name := range names {
		out = append(out, items(f[name], within...)...)
	}
	return out
}

// items returns what a field lists, as text: a value alone, a list, or objects that hold
// the item in the first of these members that they have.
func items(v gjson.Result, within ...string) (out []string) {
	list := v.Array() // of a value alone, or of none
	for _, item := range list[:min(len(list), maxListed)] {
		for _, name := range within {
			if inner := item.Get(name); item.IsObject() && inner.Type != gjson.Null {
				item = inner
			}
		}
		if !item.IsObject() {
			out = append(out, item.String())
		}
	}
	return out
}
