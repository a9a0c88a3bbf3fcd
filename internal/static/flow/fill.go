package flow

import (
	"regexp"
	"slices"

	"assay/internal/static/lang"
)

var (
	fillers = lang.Words(`Decode Unmarshal UnmarshalStrict DecodeJSON ReadJSON ReadForm Bind BindJSON BindXML BindQuery BindUri BindYAML BindWith
		ShouldBind ShouldBindJSON ShouldBindXML ShouldBindQuery ShouldBindUri ShouldBindWith ShouldBindBodyWith BodyParser QueryParser ParamsParser
		MustBindWith DecodeAndValidate`)
	binderRecv = regexp.MustCompile(`^(c|ctx|ec|gc|context|ginCtx)$|Context$|Ctx$`)
)

// filled: Go's decoders and binders fill what they are given a pointer to.
func (f *frame) filled(ci *callInfo) {
	last := len(ci.n.List) - 1
	if f.u.File.Lang != lang.Go || !fillers[ci.name] || last < 0 || ci.n.List[last].Kind != lang.Ident {
		return
	}
	from := ci.recv.from
	for _, a := range ci.args {
		from = union(from, a.from)
	}
	if ci.n.X != nil && ci.name != "Decode" && ci.name != "Unmarshal" && slices.ContainsFunc(ci.cands, binderRecv.MatchString) {
		from = outside(ci.n, f.file(), "HTTP request", 0)
	}
	if len(from) > 0 {
		k := ci.n.List[last].Name
		old := f.env[k]
		old.from = union(old.from, from)
		f.env[k] = old
	}
}
