// Package static is the embedded analyser: it audits Java, Python, JavaScript,
// TypeScript, Go and PHP with nothing installed, and reviews fragments of code
// and SQL against a SPEC.
//
// A run walks the tree, leaves out by name what is not source and says so, parses
// the rest (package lang), follows data through it (package flow) by
// rules that are data (package rules), and adds what needs the whole application
// to be seen: logins that nothing throttles, versions of components, secrets,
// settings, templates.
package static

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"assay/audit"
	"assay/internal/static/flow"
	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// Options of an Analyser. The zero value is a good default.
type Options struct {
	Workers  int                              // files parsed at once; 0: the number of processors
	Progress func(what string, done, all int) // told as files are read and when they are judged; may be nil
}

// An Analyser is ready at once; rules and grammars are loaded when first needed.
// It may be used by several goroutines.
type Analyser struct{ opts Options }

// New gives an analyser.
func New(opts Options) *Analyser {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	return &Analyser{opts: opts}
}

// A Result is what one analysis found. Findings are in order of path, line and
// rule, and numbered S-001, S-002, ...
type Result struct {
	Findings []audit.Finding
	Warnings []string // what was not analysed, and why, each with its path
	Files    int      // read, whether parsed or not
	Skipped  int      // of these, such that nothing is known of
	Parsed   int      // parsed as code
	Tests    int      // test code, which is read for its settings and secrets alone
	Bytes    int64    // of the files read
}

// RulesHash identifies rules and engine: recordings of this analyser carry it.
func RulesHash() string {
	s, err := rules.Load()
	if err != nil {
		return "invalid: " + err.Error()
	}
	return s.Hash
}

type source struct {
	path string
	raw  []byte
	code *lang.File
	size int64
	warn error
}

// Analyse audits every file below the root of fsys. One file's failure is a
// warning; the error is for rules that cannot be loaded, a root that cannot be
// read, or the end of ctx.
func (a *Analyser) Analyse(ctx context.Context, fsys fs.FS) (Result, error) {
	var res Result
	paths, code, err := list(fsys, &res)
	if err != nil {
		return Result{}, err
	}
	defer holdMemory(code)()
	sources := a.read(ctx, fsys, paths)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return a.judge(ctx, sources, res, false)
}

// judge analyses what was read; a fragment is a piece of a program.
func (a *Analyser) judge(ctx context.Context, sources []*source, res Result, fragment bool) (Result, error) {
	set, err := rules.Load()
	if err != nil {
		return Result{}, err
	}
	var files []*lang.File
	for _, s := range sources {
		res.Files++
		res.Bytes += s.size
		if s.warn != nil {
			res.Warnings = append(res.Warnings, s.warn.Error())
			if s.raw == nil {
				res.Skipped++
			}
		}
		if lang.Of(s.path) != "" && isTest(s.path) {
			res.Tests++
		}
		if s.code != nil {
			res.Parsed++
			files = append(files, s.code)
			if s.code.Errors > 0 {
				res.Warnings = append(res.Warnings, fmt.Sprintf("%s: %d places could not be parsed; the rest was analysed", s.path, s.code.Errors))
			}
		}
	}
	if a.opts.Progress != nil {
		a.opts.Progress("judged", len(files), res.Files)
	}
	project := flow.NewProject(set, files)
	project.Fragment = fragment
	app := &application{set: set, project: project, sources: sources, workers: a.opts.Workers}
	hits := project.Analyse(ctx, a.opts.Workers)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	for _, fn := range project.Funcs {
		if w := project.Warnings[fn]; w != "" {
			res.Warnings = append(res.Warnings, w)
		}
	}
	for _, h := range hits {
		app.add(fromHit(h))
	}
	if err := app.checks(); err != nil {
		return Result{}, err
	}
	res.Findings = app.finish()
	return res, nil
}

// skipDirs are folders that hold what others wrote or what a build made.
var skipDirs = lang.Words(`.git .svn .hg .idea .gradle .mvn .tox .venv venv __pycache__ site-packages node_modules bower_components target
	vendor vendors third_party third-party thirdparty 3rdparty`)

// library tells copies of well known libraries by their file names.
var library = regexp.MustCompile(`(?i)^(jquery|bootstrap|angular|vue|react|d3|moment|lodash|underscore|backbone|ember|ace|codemirror|tinymce|ckeditor|highcharts|echarts|chart|select2|three|popper|require|modernizr|html5shiv|respond|swagger-ui|prism|highlight|leaflet|dropzone|datatables|summernote|quill|handlebars|mustache|sockjs|stomp|polyfill)([.-][\w.-]*)?\.(js|mjs|ts)$`)

// list walks the tree and sums the sizes of code files. Paths are sorted.
func list(fsys fs.FS, res *Result) (out []string, code int64, err error) {
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == "." {
				return err
			}
			res.Warnings = append(res.Warnings, err.Error())
			return nil
		}
		if d.IsDir() {
			if p != "." && skipDirs[d.Name()] {
				res.Warnings = append(res.Warnings, p+": left out: a folder of dependencies or of what a build made, by its name")
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case isLibrary(p):
			res.Warnings = append(res.Warnings, p+": left out: a well known library by its name")
		case d.Type()&fs.ModeSymlink != 0:
			if info, err := fs.Stat(fsys, p); wanted(p) || err == nil && info.IsDir() {
				res.Warnings = append(res.Warnings, p+": left out: a symbolic link, which is not followed")
			}
		case d.Type().IsRegular() && wanted(p):
			out = append(out, p)
			if info, err := d.Info(); err == nil && lang.Of(p) != "" {
				code += info.Size()
			}
		}
		return nil
	})
	slices.Sort(out)
	return out, code, err
}

func isLibrary(p string) bool {
	return library.MatchString(path.Base(p)) && strings.Contains(p, "/") && !strings.HasPrefix(p, "src/app/")
}

// wanted tells files that some part of the analysis reads.
func wanted(p string) bool { return lang.Of(p) != "" || textual(p) }

var textExtensions = lang.Words(`.xml .jsp .jspx .jspf .tag .html .htm .xhtml .ftl .vm .ejs .pug .hbs .mustache .twig .jinja .jinja2 .j2 .tmpl
	.gohtml .properties .yml .yaml .json .toml .ini .cfg .conf .env .mod .txt .gradle .vue .php .phtml .svelte .htaccess .kts .lock`)

func textual(p string) bool {
	b := path.Base(p)
	return textExtensions[strings.ToLower(path.Ext(p))] || strings.HasPrefix(b, ".env") || strings.HasPrefix(b, "Dockerfile") || b == "Pipfile"
}

func (a *Analyser) read(ctx context.Context, fsys fs.FS, paths []string) []*source {
	out := make([]*source, len(paths))
	var read atomic.Int64
	inParallel(ctx, a.opts.Workers, len(paths), func(i int) {
		out[i] = open(fsys, paths[i])
		if done := read.Add(1); a.opts.Progress != nil && done%100 == 0 {
			a.opts.Progress("read", int(done), len(paths))
		}
	})
	return slices.DeleteFunc(out, func(s *source) bool { return s == nil })
}

func open(fsys fs.FS, p string) *source {
	s := &source{path: p}
	info, err := fs.Stat(fsys, p)
	if err == nil && info.Size() > lang.MaxFile {
		s.size = info.Size()
		s.warn = fmt.Errorf("%s: %d bytes, more than %d: skipped", p, info.Size(), lang.MaxFile)
		return s
	}
	b, err := fs.ReadFile(fsys, p)
	if err != nil {
		s.warn = fmt.Errorf("%s: cannot be read: %w", p, err)
		return s
	}
	s.take(b)
	return s
}

// take parses a file's text.
func (s *source) take(b []byte) {
	p := s.path
	s.size, s.raw = int64(len(b)), b
	if lang.Of(p) != "" && !isTest(p) {
		if generated.Match(b[:min(len(b), 1000)]) {
			s.warn, s.raw = fmt.Errorf("%s: generated code: skipped", p), nil
			return
		}
		s.code, s.warn = lang.Parse(p, b)
		if errors.Is(s.warn, lang.ErrSkip) {
			s.raw = nil
		}
	}
}

// generated is the mark that generators put first, as Go defines it, and others
// follow.
var generated = regexp.MustCompile(`(?mi)^(//|#|/?\*+) ?(@generated|code generated .*do not edit|this (file|code) (is|was) (auto-?matically |auto-?)?generated)`)

// isTest tells test code: what it does wrong harms nobody.
func isTest(p string) bool {
	b := path.Base(p)
	if strings.HasSuffix(b, "_test.go") || strings.Contains(b, ".spec.") || strings.Contains(b, ".test.") || strings.Contains(b, ".cy.") ||
		strings.HasPrefix(b, "test_") && strings.HasSuffix(b, ".py") || b == "conftest.py" || b == "test.py" ||
		strings.HasSuffix(b, "Test.java") || strings.HasSuffix(b, "Tests.java") || strings.HasSuffix(b, "Test.php") {
		return true
	}
	for _, d := range strings.Split(path.Dir(p), "/") {
		switch d {
		case "__tests__", "__mocks__", "cypress", "e2e", "testdata", "spec":
			return true
		case "test", "tests":
			return strings.HasPrefix(p, "src/"+d+"/") || strings.Contains(p, "/src/"+d+"/") || strings.HasPrefix(p, d+"/")
		}
	}
	return false
}
