package flow

import (
	"fmt"
	"strings"

	"assay/internal/static/lang"
)

// collection is a literal list or object.
func (f *frame) collection(n *lang.Node) value {
	v := value{typ: n.Type}
	for i, k := range n.List {
		if k.Kind == lang.Func || k.Kind == lang.Pair && k.Y != nil && k.Y.Kind == lang.Func {
			f.eval(k)
			continue
		}
		from := f.eval(k).from
		switch name := pairName(k); {
		case name != "":
			from = in(from, name)
		case n.Kind == lang.Array && k.Kind != lang.Spread && k.Kind != lang.Pair:
			from = in(from, fmt.Sprintf("[%d]", i))
		case k.Kind == lang.Pair:
			from = in(from, element)
		}
		v.from = union(v.from, from)
	}
	if n.Kind == lang.Array && v.tainted() { // the text that its elements make together
		for _, k := range n.List {
			if k.Kind != lang.Func && k.Kind != lang.Pair {
				v.text = cut(v.text + " " + f.quiet(k).piece())
			}
		}
		v.text = strings.TrimPrefix(v.text, " ")
	}
	return v
}

// pairName is a pair's key, "" for one that is not fixed.
func pairName(k *lang.Node) string {
	if k.Kind != lang.Pair {
		return ""
	}
	if k.X != nil && k.X.Kind == lang.String {
		return k.X.Name
	}
	return k.Name
}

// sent tells fields of a request that are named like the length of something.
func (f *frame) sent(n *lang.Node) bool {
	if n.Name != "size" || n.X == nil || n.X.Kind != lang.Member {
		return false
	}
	_, ok := f.s.memberSource(f, n.X)
	return ok
}
