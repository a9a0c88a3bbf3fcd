package score

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"assay/audit"
)

// The sizes of a scope, DESIGN section 4.
const (
	maxGap    = 10 // lines that may lie between a finding and an entry
	maxRange  = 50 // a longer range names no place
	maxCWEs   = 3  // of a finding's CWEs, the first that count
	maxFree   = 3  // duplicates a vulnerability that are no false positives
	maxPlaces = 3  // of a finding's locations, the first that count
)

// noGap is the distance of a match where one side names no lines: one more than
// lines alone could be apart.
const noGap = maxGap + 1

// FunctionName returns the bare name of a function: "Class.method", "Class::method",
// "(*T).Method", "Class#method", "method(args)" and "public void method(args)" all yield
// "method". Names are case-sensitive.
func FunctionName(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "->", ".")
	for { // Go receivers: "(*T).Method", "pkg.(*T).Method"
		_, rest, ok := strings.Cut(s, ").")
		if !ok {
			break
		}
		s = rest
	}
	if i := strings.IndexByte(s, '('); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '<'); i > 0 && strings.HasSuffix(s, ">") && s[i-1] != '.' &&
		s[i-1] != ':' {
		s = s[:i] // type arguments; not the JVM's Class.<init>
	}
	if i := strings.LastIndexAny(s, ".:#\\ \t"); i >= 0 && i < len(s)-1 {
		s = s[i+1:]
	}
	return strings.Trim(s, "`'\"&*")
}

// ownLines and ownLinesExt are the manifests and settings, in which each line is its own
// thing: the line above a flaw says nothing of it.
var (
	ownLines = strings.Fields(`go.mod go.sum go.work go.work.sum package.json package-lock.json npm-shrinkwrap.json
		bower.json composer.json packages.config pom.xml pipfile gemfile build.gradle build.gradle.kts build.sbt
		libs.versions.toml .npmrc .yarnrc .env .dockerignore .htaccess`)
	ownLinesExt = strings.Fields(
		".lock .yml .yaml .properties .ini .toml .env .conf .cfg .csproj .gemspec")
)

// strict reports whether matches in a file need overlapping lines: manifests and settings.
func strict(file string) bool {
	base := strings.ToLower(path.Base(file))
	ext := path.Ext(base)
	python := (ext == ".txt" || ext == ".in") && (strings.HasPrefix(base, "requirements") ||
		strings.HasPrefix(base, "constraints"))
	return slices.Contains(ownLines, base) || slices.Contains(ownLinesExt, ext) || python ||
		strings.HasPrefix(base, "dockerfile") || strings.HasPrefix(base, ".env.")
}

var version = regexp.MustCompile(`^(.+?),? v?\d+(\.[0-9A-Za-z]+)+`)

// component returns the component that the title of an entry in a manifest names, folded: the
// text before the first version ("Log4j 2.3", "gin 1.7.4"). It returns "" for a title without a
// version.
func component(title string) string {
	m := version.FindStringSubmatch(title)
	if m == nil {
		return ""
	}
	return folded(m[1])
}

// folded returns the words of a text in lower case, each between single spaces, so that whole
// words can be searched for.
func folded(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return " " + strings.Join(words, " ") + " "
}

// lines is a range with both ends set, or no range at all.
type lines struct{ start, end int }

// usable returns the lines that a range names: none for no range and for one of
// more than maxRange lines. A range that ends before it starts is its start.
func usable(r audit.Range) lines {
	if r.IsZero() || max(r.End, r.Start)-r.Start >= maxRange {
		return lines{}
	}
	return lines{r.Start, max(r.End, r.Start)}
}

// none reports whether the range is empty.
func (l lines) none() bool { return l.start == 0 }

// distance is 0 where ranges overlap, 1 where they touch, and noGap where one side names
// no lines.
func (l lines) distance(m lines) int {
	if l.none() || m.none() {
		return noGap
	}
	return max(0, l.start-m.end, m.start-l.end)
}
