package flow

import (
	"regexp"

	"assay/internal/static/lang"
)

var (
	fillers = map[string]bool{"Decode": true, "Unmarshal": true, "UnmarshalStrict": true, "DecodeJSON": true, "ReadJSON": true, "ReadForm": true, "Bind": true,
		"BindJSON": true, "BindXML": true, "BindQuery": true, "BindUri": true, "BindYAML": true, "BindWith": true, "ShouldBind": true, "ShouldBindJSON": true,
		"ShouldBindXML": true, "ShouldBindQuery": true, "ShouldBindUri": true, "ShouldBindWith": true, "ShouldBindBodyWith": true, "BodyParser": true, "QueryParser": true,
		"ParamsParser": true, "MustBindWith": true, "DecodeAndValidate": true}
	binderRecv = regexp.MustCompile(`^(c|ctx|ec|gc|context|ginCtx)$|Context$|Ctx$`)
)

// filled: Go's decoders and binders fill what they are given the address of.
func (f *frame) filled(ci *callInfo) {
	if f.u.File.Lang != lang.Go || !fillers[ci.name] || len(ci.n.List) == 0 {
		return
	}
	var from []origin
	at := -1
	for i, a := range ci.n.List {
		if a.Kind == lang.Unary && a.Op == "&" && key(a.X) != "" {
			at = i
			continue
		}
		from = union(from, ci.args[i].from)
	}
	if at < 0 {
		if last := len(ci.n.List) - 1; ci.n.List[last].Kind == lang.Ident { // a pointer
			at = last
		} else {
			return
		}
	}
	from = union(from, ci.recv.from)
	if ci.n.X != nil && ci.name != "Decode" && ci.name != "Unmarshal" {
		for _, c := range ci.cands {
			if binderRecv.MatchString(c) {
				from = []origin{{kind: fromOutside, src: ci.n, trace: &step{file: f.file(), line: ci.n.Start, note: "HTTP request", n: 1}}}
				break
			}
		}
	}
	if len(from) == 0 {
		return
	}
	target := ci.n.List[at]
	if target.Kind == lang.Unary {
		target = target.X
	}
	k := key(target)
	old := f.env[k]
	old.from = union(old.from, from)
	f.env[k] = old
}
