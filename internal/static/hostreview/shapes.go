package hostreview

import (
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

// A shape is a slip that the code shows by its own form, whatever the SPEC says
// around it: the SPEC is only asked whether it wants the matter at all.
type shape struct {
	kind  string
	topic *regexp.Regexp // the requirement that speaks most of it is the one broken
	cwes  []audit.CWE
	conf  float64
	find  func(*view) string // what is wrong, "" for nothing
}

// atOnce are the words of what happens while something else does.
var atOnce = regexp.MustCompile(`(?i)simultaneous\w*|concurren\w*|interleav\w*|\brac(e|es|ing)\b|\block(s|ed|ing)?\b|at the same time|parallel|atomic\w*`)

var shapes = []shape{
	{"mixed or", regexp.MustCompile(`(?i)\btenant|\bown(ed|s)?\b|\bbelongs?\b|\bacting\b|separat\w*|\bonly\b`), []audit.CWE{863, 639}, 0.85, mixedOr},
	{"counted apart", atOnce, []audit.CWE{362, 367}, 0.75, countedApart},
	{"read unlocked", atOnce, []audit.CWE{362, 367}, 0.75, readUnlocked},
	{"parent unlocked", atOnce, []audit.CWE{362, 367}, 0.75, parentUnlocked},
	{"no upper bound", regexp.MustCompile(`(?i)\blists?\b|\brows\b|\bpages?\b|\bat most\b|\bsize\b|\bclamp\w*|no more than|\bbetween\b`), []audit.CWE{770, 400}, 0.75, noUpperBound},
	{"shell", regexp.MustCompile(`(?i)\bshell\b|\bprograms?\b|\bcommands?\b|\boptions?\b|\bargument`), []audit.CWE{78, 88}, 0.85, shellText},
	{"bare mac", regexp.MustCompile(`(?i)\bhmac\b|signature|\bsigned\b`), []audit.CWE{328, 347}, 0.85, bareMAC},
	{"logged request", regexp.MustCompile(`(?i)\blogs?\b|\blogged\b`), []audit.CWE{532}, 0.75, loggedRequest},
	{"trusted markup", regexp.MustCompile(`(?i)\bhtml\b|\bmarkup\b|\bescap\w*|\bpages?\b`), []audit.CWE{79}, 0.8, trustedMarkup},
	{"undone count", regexp.MustCompile(`(?i)attempts?|\bwrong\b|\bfail(ed|ure)s?\b|\btries\b`), []audit.CWE{307, 799}, 0.8, undoneCount},
	{"apart from record", regexp.MustCompile(`(?i)same transaction|journal|\baudit\w*|\brecord(ed|s)?\b|\bhistory\b|\btrail\b|\bprotocol`), []audit.CWE{778}, 0.75, recordApart},
	{"open fields", regexp.MustCompile(`(?i)\bfields?\b|\bbody\b|\bnamed\b`), []audit.CWE{915}, 0.8, openFields},
	{"tenant missing", regexp.MustCompile(`(?i)\btenant|\bown(ed|s)?\b|\bbelongs?\b|\bacting\b|separat\w*`), []audit.CWE{639, 863}, 0.75, tenantMissing},
	{"gone row", regexp.MustCompile(`(?i)\bdead\b|\bdeleted\b|\bremoved\b|\babsent\b|\bgone\b|\bleft\b|\barchived\b`), []audit.CWE{672, 200}, 0.7, goneUneven},
	{"not awaited", regexp.MustCompile(`(?i)\broles?\b|\bonly\b|\bchecked\b`), []audit.CWE{862, 367}, 0.8, notAwaited},
	{"half a term", regexp.MustCompile(`(?i)\bvalid\b|\brevoked?\b|\bwithdrawn\b|\bmandates?\b|\bgrants?\b|in force|\bfrom\b|\buntil\b`), []audit.CWE{613, 863}, 0.75, halfTerm},
	{"server's day", regexp.MustCompile(`(?i)time ?zone|\btoday\b|\bcalendar\b|\bday\b|\bdates?\b|\bmonth\b`), []audit.CWE{682, 840}, 0.75, serversDay},
	{"open order", regexp.MustCompile(`(?i)\bsql\b|\bparameters?\b|injection|columns? (come|are)`), []audit.CWE{89}, 0.85, openOrder},
	{"own cause", regexp.MustCompile(`(?i)own cause|themsel(f|ves)|\bhimself\b|\bherself\b|another (person|account|user)|someone else|somebody else|different (person|account|user)|second person|separation|nobody (decides|approves)|not (by|the) (the )?(account|person|one|user|same)`), []audit.CWE{863, 840}, 0.75, ownCause},
	{"endless token", regexp.MustCompile(`(?i)\bexpir\w*|\brevoked?\b|\btokens?\b|\blinks?\b|\bonly while\b|\bcodes?\b`), []audit.CWE{613}, 0.75, endlessToken},
	{"blind move", regexp.MustCompile(`(?i)\bstatus\b|\bstates?\b|\btransitions?\b|goes from|\bmoves?\b`), []audit.CWE{841}, 0.75, blindMove},
	{"option", regexp.MustCompile(`(?i)\boptions?\b|\bflags?\b|\bargument`), []audit.CWE{88}, 0.75, takenForOption},
}

// shaped gives the breaches that shapes tell of, of requirements that nothing was told
// of yet.
func (v *view) shaped(told []Breach) []Breach {
	var out []Breach
	for _, s := range shapes {
		why := s.find(v)
		if why == "" {
			continue
		}
		if n := v.b.speaksOf(s.topic, s.kind); n > 0 && !slices.ContainsFunc(told, func(b Breach) bool { return b.Requirement == n }) {
			out = append(out, Breach{Requirement: n, Kind: s.kind, Why: "requirement " + itoa(n) + ": " + clip(why), CWEs: s.cwes, Confidence: s.conf})
		}
	}
	return out
}

// speaksOf gives the requirement that speaks most of a topic, 0 for none.
func (b *brief) speaksOf(topic *regexp.Regexp, kind string) int {
	if strings.HasPrefix(kind, "tenant") || kind == "mixed or" {
		if n := b.tenancy(); n > 0 {
			return n
		}
	}
	best, most := 0, 0
	for _, r := range b.reqs {
		words := map[string]bool{}
		for _, w := range topic.FindAllString(r.Text, -1) {
			words[root(w)] = true
		}
		n := len(words)
		for _, w := range topic.FindAllString(title(r.Text), -1) {
			if words[root(w)] {
				n += 2
			}
		}
		if n > most {
			best, most = r.Number, n
		}
	}
	return best
}

var (
	wordsOfSQL = regexp.MustCompile(`(?i)'[^']*'|[()]|\b(and|or|where|on|between|having|select|from|join|group|order|limit|set|returning|union|case|when|then|else|end|filter)\b`)
)

// mixedOr: AND and OR stand side by side, so that one arm of OR escapes what the
// other conditions hold the rows to.
func mixedOr(v *view) string {
	for _, s := range v.sql {
		type level struct{ and, or, cond bool }
		stack := []level{{}}
		for _, m := range wordsOfSQL.FindAllString(s.text, -1) {
			top := &stack[len(stack)-1]
			switch w := strings.ToLower(m); w {
			case "(":
				stack = append(stack, level{})
			case ")":
				if len(stack) > 1 {
					stack = stack[:len(stack)-1]
				}
			case "where", "on", "having":
				*top = level{cond: true}
			case "and":
				top.and = true
			case "or":
				top.or = true
			case "between":
				// its AND is no conjunction; two conditions have another
			case "case", "when", "then", "else", "end", "filter":
				*top = level{}
			default:
				if !strings.HasPrefix(w, "'") {
					*top = level{}
				}
			}
			if top := stack[len(stack)-1]; top.cond && top.and && top.or && !strings.Contains(strings.ToLower(s.text), "between") {
				return "AND and OR stand side by side without brackets: " + s.text
			}
		}
	}
	return ""
}

var (
	shellRE  = regexp.MustCompile(`^(/(usr/)?bin/)?(ba|da|z)?sh$`)
	shellArg = regexp.MustCompile(`(?i)\bshell\s*[=:]\s*true`)
)

// shellText: a text with a hole is given to a shell.
func shellText(v *view) string {
	for _, c := range v.calls {
		shell := shellArg.MatchString(v.f.Text(c)) || (c.Name == "exec" || c.Name == "execSync") && v.f.Lang == lang.JS && (c.X == nil || lang.Dotted(c.X) == "child_process" || lang.Dotted(c.X) == "cp") || c.Name == "system" && c.X != nil
		for _, a := range flatAll(c.List) {
			shell = shell || a.Kind == lang.String && shellRE.MatchString(a.Name)
		}
		if !shell {
			continue
		}
		for _, a := range flatAll(c.List) {
			y := v.resolve(a)
			if y != nil && (y.Kind == lang.Template || y.Kind == lang.Binary || y.Kind == lang.Call && (y.Name == "Sprintf" || y.Name == "format")) && !v.constant(y, 0) {
				return "a shell reads " + v.f.Text(y)
			}
		}
	}
	return ""
}

// flatAll gives arguments with the elements of lists among them.
func flatAll(args []*lang.Node) []*lang.Node {
	var out []*lang.Node
	for _, a := range args {
		if a.Kind == lang.Array {
			out = append(out, flatAll(a.List)...)
			continue
		}
		out = append(out, a)
	}
	return out
}

var (
	plainHash = regexp.MustCompile(`createHash\(|sha256\.(New|Sum256)\(|sha512\.(New|Sum512)\(|hashlib\.(sha\d+|md5|new)\(`)
	macWord   = regexp.MustCompile(`(?i)\b\w*(signature|signing|hmac)\w*\b`)
	macMade   = regexp.MustCompile(`(?i)createHmac|hmac\.(New|new|digest)|importKey`)
)

// bareMAC: what is sent as a signature is a hash without a key's place in it.
func bareMAC(v *view) string {
	if plainHash.MatchString(v.bare) && !macMade.MatchString(v.bare) && macWord.MatchString(v.text) && expr(`(?i)\b\w*(secret|key)\w*\b`).MatchString(v.bare) {
		return "the signature is a plain hash: " + plainHash.FindString(v.bare)
	}
	return ""
}

var wholeRequest = regexp.MustCompile(`(?i)\b(req|request|r)\.(originalUrl|url|path|full_path|body|headers|query|params|URL(\.(Path|String\(\)|RequestURI\(\)))?|RequestURI|json|data|form|Header|get_json\(\)|get_data\(.*?\))(\W|$)`)

// loggedRequest: the log is given an address, body or headers of the request as a whole.
func loggedRequest(v *view) string {
	for _, c := range v.calls {
		if !logs(c) || !logName.MatchString(c.Name) {
			continue
		}
		for _, a := range c.List {
			if t := v.f.Text(a); a.Kind != lang.String && wholeRequest.MatchString(t) {
				return "the log is given " + wholeRequest.FindString(t)
			}
		}
	}
	return ""
}

var (
	trustedRE = regexp.MustCompile(`template\.(HTML|JS|URL|HTMLAttr)\b|\|\s*safe\b|\bMarkup\(\s*(f["']|[a-z][\w.\[\]"']*\s*\)|["'][^"'\n]*["']\s*(%|\+))|dangerouslySetInnerHTML|<%-|\{\{\{`)
	escapesRE = regexp.MustCompile(`\bescape\(`)
	tagsOff   = regexp.MustCompile(`\.replace(All)?\(\s*/<\[\^>\]|re\.sub\(\s*r?["']<\[\^`)
	inScript  = regexp.MustCompile(`(?is)<script[^>]*>[^<]*(\$\{\s*JSON\.stringify\((?:[^()]|\([^()]*\))*\)\s*\}|\{\{[^}]*\|\s*safe)`)
)

// trustedMarkup: text is declared to be markup, or only stripped of its tags.
func trustedMarkup(v *view) string {
	if m := trustedRE.FindString(v.text); m != "" && !(strings.Contains(m, "Markup") && escapesRE.MatchString(v.text)) && !expr(`(?i)saniti[sz]e|bleach|purify`).MatchString(v.text) {
		return "text is declared to be markup: " + m
	}
	if m := tagsOff.FindString(v.text); m != "" {
		return "tags are cut out of text that stays markup: " + m
	}
	if m := inScript.FindString(v.text); m != "" && !strings.Contains(v.text, `\u003c`) {
		return "data stands in a script of the page as it is"
	}
	for _, c := range v.calls {
		if c.Name == "render_template_string" && len(c.List) > 0 && !v.constant(c.List[0], 0) {
			return "the source of a template is made of data: " + v.f.Text(c)
		}
	}
	return ""
}

// takenForOption: a text from outside is an argument of a program that has no "--"
// before it.
func takenForOption(v *view) string {
	for _, c := range v.calls {
		if !runs(c) && !expr(`^(execFile|spawn|CommandContext|Command|Popen|check_output|check_call)$`).MatchString(c.Name) {
			continue
		}
		args := flatAll(c.List)
		for _, a := range c.List {
			if y := v.resolve(a); y != nil && y != a && y.Kind == lang.Array {
				args = append(args, flatAll(y.List)...)
			}
		}
		ended := false
		for _, a := range args {
			ended = ended || a.Kind == lang.String && a.Name == "--"
			if ended {
				break
			}
			if y := v.resolve(a); (a.Kind == lang.Ident || a.Kind == lang.Member || a.Kind == lang.Index) && y != nil && v.scanned(a) {
				return v.f.Text(a) + " can be taken for an option of the program"
			}
		}
	}
	return ""
}

// scanned: the value is text of a row.
func (v *view) scanned(a *lang.Node) bool {
	if v.f.Lang == lang.Go {
		return a.Kind == lang.Ident && expr(`Scan\([^)]*&`+regexp.QuoteMeta(a.Name)+`\b`).MatchString(v.bare) && expr(`\b`+regexp.QuoteMeta(a.Name)+`(\s*,\s*\w+)*\s+string\b|,\s*`+regexp.QuoteMeta(a.Name)+`\b[^\n;]*\bstring\b`).MatchString(v.bare)
	}
	return v.held.rows[base(a)] && a.Kind != lang.Ident
}
