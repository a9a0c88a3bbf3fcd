package hostreview

import (
	"regexp"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var (
	outRE       = regexp.MustCompile(`(?i)\b(outbound|outgoing|outside|remote|fetch\w*|address(es)?|urls?|hosts?|calls?|called|https?|client)\b`)
	noRedirect  = regexp.MustCompile(`(?i)\bredirect(s|ions?)?\b`)
	timeoutRE   = regexp.MustCompile(`(?i)\b(timeouts?|time limits?|time-?out|gives? up|seconds)\b`)
	programRE   = regexp.MustCompile(`(?i)\b(program|process|command|subprocess)\w*\b`)
	cappedRE    = regexp.MustCompile(`(?i)\b(at most|no more than|up to|limited to|larger than|more than) \d+ ?(kib|mib|kb|mb|bytes|megabytes)\b`)
	fetchName   = regexp.MustCompile(`^(get|post|put|request|head|patch|delete)$`)
	fencedTrait = regexp.MustCompile(`(?i)redirect|private|loopback|internal|public`)
)

// outbound: a call to an address from outside does not follow redirects, has a time
// limit and goes through the client that the SPEC fences in, where a sentence says so.
func outbound(v *view, r Requirement) *Breach {
	for _, part := range sentencesOf(r.Text) {
		for _, c := range v.calls {
			why := ""
			switch {
			case v.fetches(c) && v.insteadOf(part) != "":
				why = "is not " + v.insteadOf(part)
			case v.unfenced(c) && outRE.MatchString(part):
				why = "goes past the client that is fenced in"
			case v.fetches(c) && noRedirect.MatchString(part) && outRE.MatchString(part+r.Text) && v.follows(c):
				why = "follows redirects"
			case v.fetches(c) && timeoutRE.MatchString(part) && outRE.MatchString(part) && v.f.Lang != lang.Go && !expr(`(?i)timeout|signal`).MatchString(v.origin(c)):
				why = "has no time limit"
			case runs(c) && timeoutRE.MatchString(part) && programRE.MatchString(part) && !strings.Contains(strings.ToLower(v.f.Text(c)), "timeout"):
				why = "has no time limit"
			case v.f.Lang == lang.Go && c.Name == "ReadAll" && cappedRE.MatchString(part) && v.b.asks(outRE, r) && len(c.List) == 1 && responseBody.MatchString(v.f.Text(c.List[0])) && !expr(`Limit|MaxBytes`).MatchString(v.origin(c)):
				why = "reads without an end"
			default:
				continue
			}
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + clip(v.f.Text(c)) + " " + why, CWEs: []audit.CWE{918, 400, 601}, Confidence: 0.8}
		}
	}
	return nil
}

// insteadOf gives the helper of the SPEC through which alone a sentence lets calls go.
func (v *view) insteadOf(part string) string {
	if !expr(`(?i)\bonly\b`).MatchString(part) {
		return ""
	}
	for _, m := range spanRE.FindAllStringSubmatch(part, -1) {
		if n := wordOf(m[1]); v.b.helpers[n] != nil && expr(`(?i)fetch|http|outside|request|call|redirect`).MatchString(n+" "+v.b.helpers[n].doc) {
			return n
		}
	}
	return ""
}

var responseBody = regexp.MustCompile(`(?i)^res(p|ponse|ult)?\.Body$|^answer\.Body$`)

// fetches: the call fetches from an address.
func (v *view) fetches(c *lang.Node) bool {
	x := lang.Dotted(c.X)
	switch v.f.Lang {
	case lang.Python:
		return x == "requests" && fetchName.MatchString(c.Name) || c.Name == "urlopen"
	case lang.JS:
		return c.X == nil && c.Name == "fetch" && v.b.helpers["fetch"] == nil || x == "axios" || c.X == nil && c.Name == "axios"
	case lang.Go:
		return x == "http" && (c.Name == "Get" || c.Name == "Post" || c.Name == "Head") || strings.HasSuffix(x, "DefaultClient")
	}
	return false
}

// follows: the call goes on to where a redirect points.
func (v *view) follows(c *lang.Node) bool {
	t := v.origin(c)
	switch v.f.Lang {
	case lang.Python:
		return c.Name == "urlopen" || !expr(`allow_redirects\s*=\s*False`).MatchString(t)
	case lang.JS:
		return !expr(`redirect:\s*["'](error|manual)|maxRedirects:\s*0|\bredirect\b\s*[,}]`).MatchString(t)
	}
	return !strings.Contains(v.text, "CheckRedirect")
}

// unfenced: the SPEC has a client that is fenced in, and the call uses the one that
// the language brings.
func (v *view) unfenced(c *lang.Node) bool {
	if v.f.Lang != lang.Go || !v.fetches(c) && !strings.HasSuffix(lang.Dotted(c.X), "http.Client{}") {
		return false
	}
	return expr(`(?i)\*http\.Client`).MatchString(v.b.spec) && fencedTrait.MatchString(v.b.prose())
}

// runs: the call starts a program.
func runs(c *lang.Node) bool {
	return lang.Dotted(c.X) == "subprocess" && (c.Name == "run" || c.Name == "check_output" || c.Name == "check_call" || c.Name == "call")
}
