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
	// Format is SARIF, JSON or Text; empty or Auto takes which JSON the report is.
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
// place, and the names inside objects are sorted: two runs that say the same give the same bytes. Reading the result
// gives the findings of the original but for those messages.
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
	switch opt.Format {
	case "", Auto:
	case SARIF, JSON:
		if sarif != (opt.Format == SARIF) {
			return fmt.Errorf("expected %s: the report has %s", opt.Format, map[bool]string{true: "a member runs", false: "no member runs"}[sarif])
		}
	default:
		return fmt.Errorf("format %q cannot be scrubbed: expected sarif, json or text", opt.Format)
	}
	s := &scrubber{sarif: sarif}
	if opt.Root != "" {
		s.root = newRootPattern(opt.Root)
	}
	whole, err := canonical(doc, "")
	if err != nil {
		return err
	}
	s.byIndex = byIndex.Match(whole)
	doc = s.value(doc, "")
	b, err := canonical(doc, " ")
	if err != nil {
		return err
	}
	_, err = out.Write(b)
	return err
}

type scrubber struct {
	sarif bool
	root  *rootPattern
	flow  int // how many code flows lie around
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

func (s *scrubber) value(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return s.object(v, name)
	case []any:
		for i := range v {
			v[i] = s.value(v[i], name)
		}
		if name == "" || listNames[name] || s.sarif && name == "rules" && !s.byIndex {
			sortList(v)
		}
		return v
	case string:
		return s.text(v)
	}
	return v
}

func (s *scrubber) object(m map[string]any, name string) any {
	if name == "codeflows" {
		s.flow++
		defer func() { s.flow-- }()
	}
	bandit := folded(m).text("testid")
	for k, v := range m {
		f := strings.ToLower(foldName.Replace(k))
		if s.drops(f, v, m, name) {
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
		v = s.value(v, child)
		if f == "uri" && v == "" {
			delete(m, k)
			continue
		}
		m[k] = v
	}
	return m
}

// drops tells the members that go: f is the folded name, in the object under
// the name parent.
func (s *scrubber) drops(f string, v any, m map[string]any, parent string) bool {
	text, isText := v.(string)
	switch {
	case sourceNames[f]:
		return true
	case volatileNames[f]:
		// a message's arguments are no command line's
		return !(f == "arguments" && parent == "message")
	case f == "guid":
		return parent == "results"
	case f == "id" && parent == "":
		_, horusec := m["analysisVulnerabilities"]
		return horusec // of the run
	case f == "markdown":
		return m["text"] != nil
	case f == "code":
		return !isText || !ruleCode.MatchString(text) // else it is Ruff's rule
	case f == "line" || f == "lines":
		if !isText {
			return false
		}
		_, ok := linesOf(text)
		return !ok
	case f == "message" && s.flow > 0:
		return true
	case f == "state":
		_, isMap := v.(map[string]any)
		return isMap // of a code flow's step: values of expressions
	case f == "message" && parent == "" && isText && m["RuleID"] != nil:
		return true // Gitleaks': the commit's message
	}
	return false
}

func (s *scrubber) text(t string) string {
	if s.root == nil {
		return t
	}
	t = s.root.above.ReplaceAllString(t, "$1")
	for range 2 { // what parts two of them belongs to one match alone
		t = s.root.alone.ReplaceAllString(t, "$1.$2")
	}
	return t
}

// A rootPattern matches the root as a path and as a file URI, where no longer path
// ends in it: above with the slash after it, or at the end, and alone within a text.
type rootPattern struct{ above, alone *regexp.Regexp }

func newRootPattern(root string) *rootPattern {
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

// sortList sorts by file, line and rule, and what is still equal by its whole
// text.
func sortList(list []any) {
	type keyed struct {
		file, rest string
		line       int
		v          any
	}
	ks := make([]keyed, len(list))
	for i, v := range list {
		whole, _ := canonical(v, "")
		t := folded(v)
		if inner := folded(t["vulnerabilities"]); len(inner) > 0 {
			t = inner
		}
		ks[i] = keyed{t.text("file", "path", "filename", "filepath", "locations.physicallocation.artifactlocation.uri"),
			t.text("ruleid", "rule", "testid", "checkid") + "\x00" + string(whole),
			t.number("startline", "line", "linenumber", "start.line", "location.row", "locations.physicallocation.region.startline"), v}
	}
	slices.SortStableFunc(ks, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.rest, b.rest))
	})
	for i := range ks {
		list[i] = ks[i].v
	}
}

// canonical writes JSON with sorted names.
func canonical(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}
