package auditor_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/planted"
	"assay/internal/seal"
)

const recordings = "fixtures/recordings"

// house is this repository's root.
func house(t *testing.T) fs.FS {
	t.Helper()
	root, err := os.OpenRoot("../..")
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return root.FS()
}

// allRecordings returns what was recorded here, or else what others have published.
func allRecordings(t *testing.T, fsys fs.FS, published bool) []*auditor.Recording {
	t.Helper()
	recs, err := auditor.Recordings(fsys, recordings)
	require.NoError(t, err)
	recs = slices.DeleteFunc(recs,
		func(r *auditor.Recording) bool { return published != (r.Source != "") })
	require.NotEmpty(t, recs, recordings)
	return recs
}

func readJSON(t *testing.T, fsys fs.FS, file string) ([]byte, any) {
	t.Helper()
	b, err := fs.ReadFile(fsys, file)
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(b, &doc), file)
	return b, doc
}

// TestRecordingsHoldNoSource looks at what a recording is made of: no member
// that tools put source text in, no place on a machine, all in order.
func TestRecordingsHoldNoSource(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: every recording is read")
	}
	fsys := house(t)
	for _, r := range allRecordings(t, fsys, false) {
		t.Run(r.Path(), func(t *testing.T) {
			if r.Format == findings.Text {
				t.Skip("a text report has no members: TestRecordingsHoldNoLineOfTheTarget looks at it")
			}
			_, doc := readJSON(t, fsys, r.Path())
			for _, c := range sourceIn(doc) {
				t.Errorf("%s: %s: record it again with assay capture", r.Path(), c)
			}
		})
	}
}

// TestRecordingsReadAsBefore: what assay capture would write of a recording gives the
// same findings as the recording, whatever the tool's format.
func TestRecordingsReadAsBefore(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: every recording is read")
	}
	fsys := house(t)
	sections, err := fixture.ReadAuditors(fsys, "fixtures/auditors.md")
	require.NoError(t, err)
	for _, r := range allRecordings(t, fsys, false) {
		t.Run(r.Path(), func(t *testing.T) {
			b, err := fs.ReadFile(fsys, r.Path())
			require.NoError(t, err)
			var rules map[string][]audit.CWE
			for _, e := range sections {
				if e.Name == r.Auditor {
					rules = e.Rules
				}
			}
			var again bytes.Buffer
			require.NoError(t, findings.Scrub(bytes.NewReader(b), &again,
				findings.ScrubOptions{RuleMap: rules, Source: fstest.MapFS{}}))
			before, invalid := auditor.ReadReport("r", b, r.Format, rules)
			require.Empty(t, invalid)
			after, invalid := auditor.ReadReport("r", again.Bytes(), findings.SARIF, rules)
			require.Empty(t, invalid)
			if d := cmp.Diff(said(before), said(after)); d != "" {
				t.Fatalf("(-recorded +captured)\n%.2000s", d)
			}
			if before.Tool != "" { // a list without findings names none
				require.Equal(t, before.Tool, after.Tool)
			}
		})
	}
}

// said gives what findings say, without their place in the report and the white space
// of their texts.
func said(rep audit.Report) (all []string) {
	for _, f := range rep.Findings {
		f.ID, f.Pos, f.Description = "", audit.Pos{},
			strings.Join(strings.Fields(f.Description), " ")
		all = append(all, fmt.Sprintf("%+v", f))
	}
	slices.Sort(all)
	return all
}

// TestRecordingsSayWhereTheyComeFrom holds each recording against its project,
// its auditor's section and the frozen keys.
func TestRecordingsSayWhereTheyComeFrom(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: every recording is read")
	}
	fsys := house(t)
	sections, err := fixture.ReadAuditors(fsys, "fixtures/auditors.md")
	require.NoError(t, err)
	keys, err := fixture.ReadKeys(fsys, "fixtures/keys.md")
	require.NoError(t, err)
	for _, r := range allRecordings(t, fsys, false) {
		t.Run(r.Path(), func(t *testing.T) {
			i := slices.IndexFunc(sections,
				func(e audit.AuditorEntry) bool { return e.Name == r.Auditor })
			require.True(t, i >= 0 || r.Control != "", "fixtures/auditors.md has no section ## %s",
				r.Auditor)
			if target := plantedTarget(t, fsys, r.Project); target != nil {
				p := target.Project()
				require.Equal(t, p.Commit, r.Commit,
					"recorded on another draw than the present one: record it again with assay capture")
				require.Equal(t, p.KeyHash, r.Key,
					"the key has changed since it was recorded: record it again with assay capture")
			} else {
				p, err := fixture.ReadProject(fsys, "fixtures/projects/"+r.Project+".md")
				require.NoError(t, err)
				require.Equal(t, p.Commit, r.Commit,
					"recorded at another commit than the project's pin")
				require.True(t,
					slices.ContainsFunc(keys,
						func(k fixture.Frozen) bool {
							return k.Project == r.Project &&
								k.Hash == r.Key
						}),
					"fixtures/keys.md has no line for the key that stood when the tool ran (%s)",
					r.Key)
			}
			require.Equal(t, strings.HasPrefix(r.Auditor, "control-"), r.Control != "",
				"the member control is for controls, and for all of them")
			var rules map[string][]audit.CWE
			if i >= 0 {
				rules = sections[i].Rules
			}
			run, err := auditor.Replay(r, fsys, rules).Audit(t.Context(), audit.AuditTask{})
			require.NoError(t, err)
			require.Empty(t, run.Invalid)
			require.Len(t, run.Report.Findings, r.Findings,
				"findings read now, and when it was recorded")
		})
	}
}

// plantedTarget draws a planted project with the default seed; nil for a pinned one.
func plantedTarget(t *testing.T, fsys fs.FS, name string) *planted.Export {
	dir := "fixtures/planted/" + name
	if _, err := fs.Stat(fsys, dir); err != nil {
		return nil
	}
	p, err := planted.Read(fsys, dir)
	require.NoError(t, err)
	return p.Draw(planted.DefaultSeed).Render()
}

// TestRecordingsHoldNoLineOfTheTarget searches every recording for the lines of
// the project that it is about, which are not in this repository; a planted
// project's are.
func TestRecordingsHoldNoLineOfTheTarget(t *testing.T) {
	mirror := os.Getenv("ASSAY_MIRROR")
	if mirror == "" {
		t.Skip("the projects' sources are not here: set ASSAY_MIRROR to local clones")
	}
	if testing.Short() {
		t.Skip("reads every project: not under -short")
	}
	fsys := house(t)
	about := map[string][]*auditor.Recording{}
	for _, r := range allRecordings(t, fsys, false) {
		if plantedTarget(t, fsys, r.Project) == nil {
			about[r.Project] = append(about[r.Project], r)
		}
	}
	for name, recs := range about {
		t.Run(name, func(t *testing.T) {
			lines := linesOfTarget(t, fsys, name, mirror)
			for _, r := range recs {
				b, doc := readJSON(t, fsys, r.Path())
				text := strings.Join(prose(doc, ""), "\n")
				if r.Format == findings.Text {
					text = string(b)
				}
				for _, l := range quoted(text, lines) {
					t.Errorf("%s holds a line of the project: %q", r.Path(), l)
				}
			}
		})
	}
}

// linesOfTarget gives the lines of a project's sealed export, trimmed, of at
// least quoteLength characters.
func linesOfTarget(t *testing.T, fsys fs.FS, name, mirror string) []string {
	p, err := fixture.ReadProject(fsys, "fixtures/projects/"+name+".md")
	require.NoError(t, err)
	cache := os.Getenv("ASSAY_CACHE")
	if cache == "" {
		cache = t.TempDir()
	}
	clone, err := seal.Fetch(t.Context(), p, cache, mirror)
	require.NoError(t, err)
	dir, remove, err := box.TempDir("target")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, remove()) })
	sealed, err := clone.Export(t.Context(), filepath.Join(dir, "src"))
	require.NoError(t, err)
	seen := map[string]bool{}
	var lines []string
	err = filepath.WalkDir(sealed.Dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(file)
		for l := range strings.SplitSeq(string(b), "\n") {
			if l = strings.TrimSpace(l); len(l) >= quoteLength && !seen[l] && !public(l) {
				seen[l] = true
				lines = append(lines, l)
			}
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, lines)
	return lines
}

// quoteLength is the length in bytes from which a line is told from chance.
const quoteLength = 20

// public reports a line that is no source of the target: a bare address.
func public(line string) bool { return address.MatchString(line) }

var address = regexp.MustCompile(`^https?://\S+$`)

// quoted gives the lines that stand in the text. The text's windows are hashed
// once, so that a million lines are searched for in one pass over each.
func quoted(text string, lines []string) (found []string) {
	windows := map[string]bool{}
	for i := 0; i+quoteLength <= len(text); i++ {
		windows[text[i:i+quoteLength]] = true
	}
	for _, l := range lines {
		if len(l) >= quoteLength && windows[l[:quoteLength]] && strings.Contains(text, l) {
			found = append(found, l)
		}
	}
	return found
}

// placeNames are the members that name a file.
var placeNames = map[string]bool{"uri": true, "file": true, "filename": true,
	"filePath": true, "path": true}

// prose gives every text of a report but for the names of files.
func prose(v any, name string) (texts []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			texts = append(texts, prose(inner, k)...)
		}
	case []any:
		for _, inner := range v {
			texts = append(texts, prose(inner, name)...)
		}
	case string:
		if !placeNames[name] {
			texts = append(texts, v)
		}
	}
	return texts
}

// sourceNames are the members, in lower case, that tools put source text in.
var sourceNames = []string{"snippet", "contextregion", "code", "source", "match", "secret",
	"offender", "rendered",
	"contents", "insertedcontent", "fix", "fixes", "suggestions", "linecontent", "codesnippet",
	"extractedlines"}

var (
	ruleCode = regexp.MustCompile(`^[A-Z]{1,4}\d{2,4}$`) // Ruff calls its rule "code"
	machine  = regexp.MustCompile(
		`file:/|assay-(export|auditor)|(^|[\s"'(=:])/(tmp|root|home|work|Users|var/tmp)/[\w.-]|[A-Za-z]:\\`)
)

// sourceIn complains about members that hold source text, and about texts that
// name a place on a machine.
func sourceIn(doc any) []string {
	var complaints []string
	var walk func(v any, at, name string)
	walk = func(v any, at, name string) {
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				s, _ := inner.(string)
				if slices.Contains(sourceNames, strings.ToLower(k)) && !ruleCode.MatchString(s) {
					complaints = append(complaints, fmt.Sprintf("%s.%s holds source text", at, k))
				}
				walk(inner, at+"."+k, k)
			}
		case []any:
			for i, inner := range v {
				walk(inner, fmt.Sprintf("%s[%d]", at, i), name)
			}
		case string:
			if machine.MatchString(v) {
				complaints = append(complaints,
					fmt.Sprintf("%s names a place on a machine: %.80q", at, v))
			}
			if placeNames[name] && (strings.HasPrefix(v, "/") || strings.HasPrefix(v, "..")) {
				complaints = append(complaints,
					fmt.Sprintf("%s is no path within the project: %.80q", at, v))
			}
		}
	}
	walk(doc, "", "")
	slices.Sort(complaints)
	return complaints
}

// TestSourceIsSeen proves that the tests above can fail.
func TestSourceIsSeen(t *testing.T) {
	for name, c := range map[string]struct{ report, want string }{
		"clean": {`[{"code": "S602", "filename": "a/b.py", "message": "uses /etc/passwd"}]`, ""},
		"snippet": {`{"runs": [{"results": [{"region": {"snippet": {"text": "x"}}}]}]}`,
			".runs[0].results[0].region.snippet holds source text"},
		"context": {`{"contextRegion": {"startLine": 1}}`,
			".contextRegion holds source text"},
		"eslint's source": {`[{"filePath": "a.js", "source": "let a = 1"}]`,
			"[0].source holds source text"},
		"bandit's code": {`{"results": [{"code": "12 eval(x)\n"}]}`,
			".results[0].code holds source text"},
		"gitleaks": {`[{"Match": "REDACTED"}]`, "[0].Match holds source text"},
		"absolute path": {`[{"filename": "/srv/app/a.py"}]`,
			`[0].filename is no path within the project: "/srv/app/a.py"`},
		"path that leads out": {`[{"uri": "../a.py"}]`,
			`[0].uri is no path within the project: "../a.py"`},
		"machine in prose": {`[{"message": "cannot read /home/u/app/a.py"}]`,
			`[0].message names a place on a machine: "cannot read /home/u/app/a.py"`},
		"file address": {`[{"base": "file:///srv/app/"}]`,
			`[0].base names a place on a machine: "file:///srv/app/"`},
	} {
		t.Run(name, func(t *testing.T) {
			var doc any
			require.NoError(t, json.Unmarshal([]byte(c.report), &doc))
			require.Equal(t, c.want, strings.Join(sourceIn(doc), "\n"))
		})
	}
	lines := []string{`String q = "SELECT * FROM t" + id;`, "another line that nobody quotes"}
	require.Equal(t, lines[:1], quoted(`concatenates: String q = "SELECT * FROM t" + id; <- here`,
		lines))
	require.Empty(t, quoted("a message without any of them, long enough", lines))
	require.Empty(t, quoted("short", lines))
	require.Equal(t, []string{"told"},
		prose(map[string]any{"filePath": "src/a.js", "message": "told"}, ""))
}

// TestReadingsAreReadToTheirEnd: what stands behind a reading on its line, or behind
// what is said of all of them, is not passed over.
func TestReadingsAreReadToTheirEnd(t *testing.T) {
	read := func(behindLine, behindAll string) error {
		lines := `{"about":"a/b-01","request":"r","reply":"bad"}` + behindLine + "\n"
		about := fmt.Sprintf(
			`{"reader":"who","prompt":"p","model":"m","date":"2026-11-01","asked":"once","had":"nothing","sha256":"%x"}%s`, sha256.Sum256([]byte(lines)), behindAll)
		_, err := auditor.RecordedReviewers(fstest.MapFS{"bench/who/p.jsonl": {Data: []byte(lines)},
			"bench/who/p.provenance.json": {Data: []byte(about)}}, ".")
		return err
	}
	require.NoError(t, read(" ", "\n"))
	require.ErrorContains(t, read(`{"about":"a/b-02"}`, ""), "bench/who/p.jsonl:1: ")
	require.ErrorContains(t, read("", "}"), "bench/who/p.provenance.json: ")
	require.ErrorContains(t, read("\n"+`{"about":"a/b-02","request":"r","reply":"good"}`, ""),
		"bench/who/p.jsonl:2: line 1 has a reply to the same request")
}
