package fixes

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Kinds of files that hold no flaw of their own.
const (
	kindTest      = "test"
	kindDocs      = "documents"
	kindVendored  = "vendored"
	kindGenerated = "generated"
	kindAsset     = "no source"
	kindComponent = "a component's version"
)

var kinds = []struct {
	kind string
	re   *regexp.Regexp
}{
	{kindVendored,
		regexp.MustCompile(
			`(?i)(^|/)(vendor|node_modules|third[_-]party|bower_components)/|[.-]min\.(js|css)$`)},
	{kindTest, regexp.MustCompile(
		`(^|/)([\w.-]*[-_.])?(tests?|specs?|__tests__|testdata|testing|e2e|__mocks__|cypress|playwright)/` +
			`|[-_.](tests?|spec|e2e)\.\w+$|(^|/)(test_[^/]*|conftest)\.py$|[a-z0-9](Tests?|IT|Spec|TestCase)\.\w+$|(^|/)[A-Z]\w*Tests?/`)},
	{kindComponent,
		regexp.MustCompile(
			`(?i)(^|/)([\w.-]*[.-]lock(\.\w+)?|npm-shrinkwrap\.json|go\.(mod|sum)|go\.work(\.sum)?|package\.json|pom\.xml` +
				`|(build|settings)\.gradle(\.kts)?|(requirements|constraints)[\w.-]*\.(txt|in)|pipfile|pyproject\.toml|gemfile|composer\.json|cargo\.toml` +
				`|packages\.config|libs\.versions\.toml|[^/]*\.(gemspec|csproj|nuspec|lock))$`)},
	{kindDocs, regexp.MustCompile(
		`(?i)(^|/)(docs?|documentation|changelogs?(\.d)?|\.changeset|release[-_]?notes|locales?|i18n|translations)/` +
			`|\.(md|mdx|rst|adoc|txt|po|pot)$|(^|/)(changes|changelog|license|licence|readme|authors|news|security|version)$`)},
	{kindGenerated,
		regexp.MustCompile(
			`(?i)(^|/)(dist|generated|gen)/|\.(pb\.\w+|g\.cs|designer\.cs|snap|map)$|_pb2(_grpc)?\.py$|\.gen\.\w+$`)},
	{kindAsset, regexp.MustCompile(
		`(?i)\.(css|scss|sass|less|svg|png|jpe?g|gif|ico|webp|pdf|woff2?|ttf|eot|otf|zip|gz|jar|mp[34]|csv|tsv)$`)},
}

// code names the endings of files that hold code or templates: what find counts.
var code = strings.Fields(`.go .java .kt .kts .scala .groovy .py .pyx .rb .php .phtml .inc .js .jsx .ts .tsx .mjs .cjs .mts
	.vue .svelte .astro .cs .fs .vb .c .h .cc .cpp .cxx .hpp .hh .rs .swift .m .mm .pl .pm .lua .ex .exs .eex .heex .erl .hs
	.clj .dart .sh .bash .ps1 .sql .twig .erb .haml .ejs .hbs .mustache .pug .html .htm .jsp .jspx .ftl .tpl .cshtml .razor
	.xhtml .liquid .jinja .jinja2 .j2 .sol .cfm .xsl .xslt`)

// kindOf returns what keeps a file from holding a place, "" for one that can.
func kindOf(file string) string {
	for _, k := range kinds {
		if k.re.MatchString(file) {
			return k.kind
		}
	}
	return ""
}

func isCode(file string) bool {
	return kindOf(file) == "" && slices.Contains(code, strings.ToLower(path.Ext(file)))
}

// isTemplate reports whether a file is markup above all.
func isTemplate(file string) bool {
	return slices.Contains(templates, strings.ToLower(path.Ext(file)))
}

var templates = strings.Fields(`.phtml .vue .svelte .astro .eex .heex .twig .erb .haml .ejs .hbs .mustache .pug .html .htm .jsp
	.jspx .ftl .tpl .cshtml .razor .xhtml .liquid .jinja .jinja2 .j2 .xsl .xslt .sql`)

var generatedHead = regexp.MustCompile(
	`(?i)code generated .*do not edit|@generated\b|auto-?generated`)

func isGenerated(text string) bool { return generatedHead.MatchString(text[:min(len(text), 400)]) }

var (
	importing = regexp.MustCompile(
		`^\s*(import\b|from\s+\S+\s+import\b|#\s*include\b|(require|include)(_once|_relative)?\b[^=]*$` +
			`|using\s+(static\s+)?[\w.=\s]+;|package\s+[\w.]+;?$|export\s.*\bfrom\b|@import\b|use\s+[\w\\:{}*,\s]+;` +
			`|(const|let|var)\s.*=\s*require\([^)]*\);?$|\}\s*from\s+['"].*$)`)
	quotedImport = regexp.MustCompile(`^\s*([\w.]+\s+)?"[^"\s]+"$`)
	blankLine    = regexp.MustCompile(`^[\s{}()\[\];,]*$`)
	hashComment  = regexp.MustCompile(`^\s*#([^!\[]|$)`)
	comment      = regexp.MustCompile(`^\s*(//|/\*|\*/|\*(\s|$)|<!--|-->|'''|"""|\{#|\{\{!|<%--)`)
	dashComment  = regexp.MustCompile(`^\s*--`)
)

// isIdle reports whether a line of a file does nothing: an import, a comment, a bracket.
func isIdle(file, line string) bool {
	switch ext := strings.ToLower(path.Ext(file)); ext {
	case ".go":
		if quotedImport.MatchString(line) {
			return true
		}
	case ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".cs", ".m", ".mm": // # is for directives
	case ".sql", ".lua", ".hs":
		if dashComment.MatchString(line) {
			return true
		}
	default:
		if hashComment.MatchString(line) {
			return true
		}
	}
	return blankLine.MatchString(line) || importing.MatchString(line) || comment.MatchString(line)
}

func allIdle(file string, lines ...[]string) bool {
	for _, ls := range lines {
		if slices.ContainsFunc(ls, func(l string) bool { return !isIdle(file, l) }) {
			return false
		}
	}
	return true
}
