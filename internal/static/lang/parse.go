package lang

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	ts "github.com/odvcencio/gotreesitter"
)

// Limits that keep one file from taking the run's time or memory.
const (
	MaxFile    = 10 << 20   // bytes; larger files are skipped by name
	maxNesting = 600        // brackets open at once: the parser and all passes recurse
	maxLine    = 20000      // bytes in one line: minified or generated
	parseTime  = 10_000_000 // microseconds in the parser
)

// ErrSkip is wrapped by the errors of Parse for files that are left out on
// purpose: too large, minified, nested too deep.
var ErrSkip = errors.New("skipped")

// Of gives the language of a path by its name, "" for none of ours.
func Of(p string) Lang {
	switch strings.ToLower(path.Ext(p)) {
	case ".java":
		return Java
	case ".py":
		return Python
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue":
		return JS
	case ".go":
		return Go
	case ".php", ".php3", ".php4", ".php5", ".phtml", ".inc":
		return PHP
	}
	return ""
}

type grammar struct {
	table *table
	once  sync.Once
	pool  sync.Pool
	lang  *ts.Language
}

var dialects = map[string]*grammar{
	"java": {table: javaTable}, "python": {table: pythonTable}, "php": {table: phpTable},
	"js": {table: jsTable}, "ts": {table: tsTable}, "tsx": {table: tsxTable},
}

type worker struct {
	p *ts.Parser
	b *builder
}

func (g *grammar) get() *worker {
	g.once.Do(func() { g.lang = g.table.grammar() })
	if w, ok := g.pool.Get().(*worker); ok {
		return w
	}
	return &worker{ts.NewParser(g.lang), newBuilder(g.table, g.lang)}
}

// dialect names the grammar for a path.
func dialect(p string, l Lang) string {
	if l != JS {
		return string(l)
	}
	switch strings.ToLower(path.Ext(p)) {
	case ".ts", ".mts", ".cts", ".vue":
		return "ts"
	case ".tsx":
		return "tsx"
	}
	return "js"
}

// Parse reads one file. It never panics: what the parser cannot take is an
// error that says why, and it wraps ErrSkip where leaving out is the rule. Lines
// and bytes of the nodes are those of src.
func Parse(p string, src []byte) (f *File, err error) {
	l := Of(p)
	if l == "" {
		return nil, fmt.Errorf("%s: not a language that we parse: %w", p, ErrSkip)
	}
	if err := refuse(p, src); err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, fmt.Errorf("%s: the parser broke on this file: %v", p, r)
		}
	}()
	if l == Go {
		return parseGo(p, src), nil
	}
	g := dialects[dialect(p, l)]
	w := g.get()
	f, err = w.parse(p, l, src)
	if err == nil {
		g.pool.Put(w)
	}
	return f, err
}

func (w *worker) parse(p string, l Lang, src []byte) (*File, error) {
	text := src
	if l == JS {
		text = prepareJS(p, src)
	}
	w.p.SetTimeoutMicros(parseTime)
	tree, err := w.p.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be parsed: %w", p, err)
	}
	defer tree.Release()
	if tree.ParseStoppedEarly() {
		return nil, fmt.Errorf("%s: the parser gave up (%v)", p, tree.ParseStopReason())
	}
	b := w.b
	b.src, b.depth, b.errors = text, 0, 0
	f := &File{Path: p, Lang: l, Src: src}
	f.Root = b.build(tree.RootNode())
	b.src = nil
	if f.Root == nil {
		f.Root = &Node{Kind: Block, Start: 1, End: 1}
	}
	if f.Root.Kind != Block {
		f.Root = &Node{Kind: Block, Start: 1, End: f.Root.End, To: int32(len(src)), List: []*Node{f.Root}}
	}
	f.Errors = b.errors
	finish(f)
	return f, nil
}

// refuse tells files that are left out before any parsing.
func refuse(p string, src []byte) error {
	if len(src) > MaxFile {
		return fmt.Errorf("%s: %d bytes, more than %d: %w", p, len(src), MaxFile, ErrSkip)
	}
	if strings.Contains(path.Base(p), ".min.") {
		return fmt.Errorf("%s: minified by its name: %w", p, ErrSkip)
	}
	depth, deepest, line := 0, 0, 0
	for i := range src {
		switch src[i] {
		case '(', '[', '{':
			if depth++; depth > deepest {
				deepest = depth
			}
		case ')', ']', '}':
			if depth > 0 {
				depth--
			}
		case '\n':
			line = i
		}
		if i-line > maxLine {
			return fmt.Errorf("%s:%d: a line of more than %d bytes, minified or generated: %w", p, 1+bytes.Count(src[:i], []byte("\n")), maxLine, ErrSkip)
		}
	}
	if deepest > maxNesting {
		return fmt.Errorf("%s: brackets nested %d deep, more than %d: %w", p, deepest, maxNesting, ErrSkip)
	}
	return nil
}

// finish collects imports and package, and names functions by what they are
// assigned to: in "const f = () => x" the function is f.
func finish(f *File) {
	Walk(f.Root, func(n *Node) bool {
		switch n.Kind {
		case Import:
			if n.Op == "package" {
				f.Package = n.Name
			} else {
				f.Imports = append(f.Imports, n)
			}
		case Assign:
			name := ""
			if n.X != nil && (n.X.Kind == Ident || n.X.Kind == Member) {
				name = n.X.Name
			}
			nameFunc(n.Y, name)
		case Pair:
			nameFunc(n.Y, n.Name)
		}
		return true
	})
}

func nameFunc(n *Node, name string) {
	if n != nil && n.Kind == Func && n.Name == "" {
		n.Name = name
	}
}
