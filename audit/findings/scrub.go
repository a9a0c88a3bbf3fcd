package findings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// ScrubOptions say how a report is made fit for a recording.
type ScrubOptions struct {
	// Format is that of the report: what is not Text is JSON, which tells itself
	// whether it is SARIF.
	Format string
	// Root is the absolute path of the audited tree. Every path under it becomes
	// relative, in messages too. Empty leaves paths as they are.
	Root string
	// Source holds the files of the audited tree; a text report needs it.
	Source fs.FS
}

// Scrub copies a report without what a recording must not hold:
// source text of the target (snippets, contexts, contents, fixes, matches,
// secrets, the messages of code flow steps, messages in Markdown), what names
// the machine or the person, and what differs from run to run (times, GUIDs).
// Paths become relative to the root, results, rules that nothing names by their
// place, and the names inside objects are sorted: two runs that say the same give the
// same bytes. Reading the result gives the findings of the original but for those
// messages.
//
// A message may quote the target all the same, as a tool words it; of bandit's
// B105 to B107, which quote the password, the quotation is cut.
//
// A text report has no members that hold source: it is written anew from its
// findings, and of their texts what Source holds too is cut (a line of it, or a part
// of one that looks like code).
//
// It holds the whole report in memory. A report that breaks off is
// [ErrTruncated].
func Scrub(in io.ReadSeeker, out io.Writer, opt ScrubOptions) error {
	if opt.Format == Text {
		return scrubText(in, out, opt)
	}
	dec := json.NewDecoder(decoded(in))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: at byte %d", ErrTruncated, dec.InputOffset())
		}
		return fmt.Errorf("only JSON and SARIF can be scrubbed: at byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("something follows the report at byte %d, and would be lost: expected one JSON document", dec.InputOffset())
	}
	top, _ := doc.(map[string]any)
	_, sarif := top["runs"]
	s := &scrubber{sarif: sarif, root: newRootPattern(opt.Root), byIndex: byIndex.Match(canonical(doc, ""))}
	_, err := out.Write(canonical(s.value(doc, "", false), " "))
	return err
}

type scrubber struct {
	sarif bool
	root  *rootPattern
	// byIndex says that results name rules by their place in a list, which then stays.
	byIndex bool
}

// byIndex finds what names a rule by its place: SARIF's ruleIndex, or the index
// of a reportingDescriptorReference.
var byIndex = regexp.MustCompile(`"ruleIndex":|"(?:rule|descriptor|associatedRule|target)": ?\{[^{}]*"index":`)

// sourceNames are the members, folded, that hold source text wherever they
// stand: SARIF's, bandit's, Horusec's, ESLint's, Gitleaks', Ruff's, Semgrep's.
var sourceNames = words("snippet contextregion contents insertedcontent deletedregion fix fixes source output suggestions" +
	" match secret offender metavars dataflowtrace renderedfix abstractcontent codesnippet vulnerablecode evidence" +
	" stacks graphs graphtraversals webrequest webresponse webrequests webresponses attachments rendered poc fixedlines" +
	" suppressedsource linecontent context proof")

// volatileNames are those that name the machine or person, or differ from run
// to run.
var volatileNames = words("starttimeutc endtimeutc timeutc lastdetectiontimeutc firstdetectiontimeutc generatedat createdat finishedat time timestamp date" +
	" machine account processid environmentvariables commandline arguments responsefiles stdin stdout stderr stdoutstderr workingdirectory" +
	" executablelocation author email commit vulnerabilityid analysisid repositoryid workspaceid commitauthor commitemail commithash" +
	" conversion versioncontrolprovenance automationdetails runaggregates baselineguid correlationguid lastmodifiedtimeutc")

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// listNames are the arrays whose order means nothing.
var listNames = words("results findings vulnerabilities issues analysisvulnerabilities alerts errors toolexecutionnotifications toolconfigurationnotifications")

// value scrubs a value, which stands under a name, with flow in a code flow.
func (s *scrubber) value(v any, name string, flow bool) any {
	switch v := v.(type) {
	case map[string]any:
		s.object(v, name, flow || name == "codeflows")
	case []any:
		for i := range v {
			v[i] = s.value(v[i], name, flow)
		}
		if name == "" || listNames[name] || s.sarif && name == "rules" && !s.byIndex {
			sortList(v)
		}
	case string:
		return s.root.remove(v)
	}
	return v
}

func (s *scrubber) object(m map[string]any, name string, flow bool) {
	bandit := folded(m).text("testid")
	for k, v := range m {
		f := strings.ToLower(foldName.Replace(k))
		if drops(f, v, m, name, flow) {
			delete(m, k)
			continue
		}
		if t, ok := v.(string); ok && f == "issuetext" && bandit >= "B105" && bandit <= "B107" {
			v, _, _ = strings.Cut(t, ":")
		}
		child := f
		if f == "properties" || f == "metadata" {
			child = "bag"
		}
		m[k] = s.value(v, child, flow)
		if f == "uri" && m[k] == "" {
			delete(m, k)
		}
	}
}

// drops tells the members that go: f is the folded name, in the object m under
// the name parent, with flow in a code flow.
func drops(f string, v any, m map[string]any, parent string, flow bool) bool {
	text, isText := v.(string)
	switch f {
	case "guid":
		return parent == "results"
	case "id":
		return parent == "" && m["analysisVulnerabilities"] != nil // of Horusec's run
	case "markdown":
		return m["text"] != nil
	case "code":
		return !ruleCode.MatchString(text) // else it is Ruff's rule
	case "line", "lines":
		_, ok := linesOf(text)
		return isText && !ok
	case "message":
		return flow || parent == "" && isText && m["RuleID"] != nil // Gitleaks': the commit's
	case "state":
		_, isMap := v.(map[string]any)
		return isMap // of a code flow's step: values of expressions
	case "arguments":
		return parent != "message" // a command line's
	}
	return sourceNames[f] || volatileNames[f]
}

// A rootPattern matches the root as a path and as a file URI, where no longer path
// ends in it: above with the slash after it, or at the end, and alone within a text.
type rootPattern struct{ above, alone *regexp.Regexp }

// newRootPattern gives the pattern of a root, nil of none.
func newRootPattern(root string) *rootPattern {
	if root == "" {
		return nil
	}
	root = strings.TrimRight(root, `/\`)
	slash := strings.ReplaceAll(root, `\`, "/")
	forms := map[string]bool{root: true, slash: true, strings.ReplaceAll(slash, "/", `\`): true, (&url.URL{Path: slash}).EscapedPath(): true}
	var alts []string
	for f := range forms {
		alts = append(alts, regexp.QuoteMeta(f))
	}
	slices.SortFunc(alts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	it := `(^|[^\w./\\-])(?:file:(?://(?:localhost)?)?/?)?(?:` + strings.Join(alts, "|") + `)`
	return &rootPattern{regexp.MustCompile(it + `(?:[/\\]|$)`), regexp.MustCompile(it + `([^\w./\\-]|\.(?:\s|$))`)}
}

// remove makes the paths below the root relative.
func (r *rootPattern) remove(t string) string {
	if r == nil {
		return t
	}
	t = r.above.ReplaceAllString(t, "$1")
	for range 2 { // what parts two of them belongs to one match alone
		t = r.alone.ReplaceAllString(t, "$1.$2")
	}
	return t
}

// sortList sorts by file, line and rule, and what is still equal by its whole text.
func sortList(list []any) {
	type keyed struct {
		key string
		v   any
	}
	ks := make([]keyed, len(list))
	for i, v := range list {
		t := folded(v)
		if inner := folded(t["vulnerabilities"]); len(inner) > 0 {
			t = inner
		}
		ks[i] = keyed{fmt.Sprintf("%s\x00%020d\x00%s\x00%s", t.text("file", "path", "filename", "filepath", "locations.physicallocation.artifactlocation.uri"),
			t.number("startline", "line", "linenumber", "start.line", "location.row", "locations.physicallocation.region.startline"),
			t.text("ruleid", "rule", "testid", "checkid"), canonical(v, "")), v}
	}
	slices.SortStableFunc(ks, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	for i := range ks {
		list[i] = ks[i].v
	}
}

// canonical writes JSON, as it was decoded, with sorted names.
func canonical(v any, indent string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	_ = enc.Encode(v) // what was decoded can be written
	return b.Bytes()
}
