package lang

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
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
	if t := tableOf(p); t != nil {
		return t.lang
	}
	return ""
}

func tableOf(p string) *table {
	switch strings.ToLower(path.Ext(p)) {
	case ".java":
		return javaTable
	case ".py":
		return pythonTable
	case ".js", ".mjs", ".cjs", ".jsx":
		return jsTable
	case ".ts", ".mts", ".cts", ".vue":
		return tsTable
	case ".tsx":
		return tsxTable
	case ".go":
		return goTable
	case ".php", ".php3", ".php4", ".php5", ".phtml", ".inc":
		return phpTable
	}
	return nil
}

// Parse reads one file. It never panics: what the parser cannot take is an
// error that says why, and it wraps ErrSkip where leaving out is the rule. Lines
// and bytes of the nodes are those of src.
func Parse(p string, src []byte) (f *File, err error) {
	t := tableOf(p)
	if t == nil {
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
	if t == goTable {
		return parseGo(p, src), nil
	}
	b, ok := t.pool.Get().(*builder)
	if !ok {
		b = newBuilder(t)
	}
	f, err = b.parse(p, src)
	if err == nil {
		t.pool.Put(b)
	}
	return f, err
}

func (b *builder) parse(p string, src []byte) (*File, error) {
	text := src
	if b.t.lang == JS {
		text = prepareJS(p, src)
	}
	b.parser.SetTimeoutMicros(parseTime)
	tree, err := b.parser.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be parsed: %w", p, err)
	}
	defer tree.Release()
	if tree.ParseStoppedEarly() {
		return nil, fmt.Errorf("%s: the parser gave up (%v)", p, tree.ParseStopReason())
	}
	b.src, b.depth, b.errors = text, 0, 0
	f := &File{Path: p, Lang: b.t.lang, Src: src}
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

func refuse(p string, src []byte) error {
	if len(src) > MaxFile {
		return fmt.Errorf("%s: %d bytes, more than %d: %w", p, len(src), MaxFile, ErrSkip)
	}
	if strings.Contains(path.Base(p), ".min.") {
		return fmt.Errorf("%s: minified by its name: %w", p, ErrSkip)
	}
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return fmt.Errorf("%s: text in UTF-16, expected UTF-8: %w", p, ErrSkip)
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
