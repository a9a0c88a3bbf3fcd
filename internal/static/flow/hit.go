package flow

import (
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// exported tells whether somebody outside could call the function of f.
func exported(f *frame) bool {
	return f.fn != nil && f.fn.Name != "" && f.fn.Name != "main" && !strings.Contains(f.fn.Node.Op, "private") &&
		!slices.ContainsFunc(f.fn.Node.Notes, func(a *lang.Node) bool { return commandLine[a.Name] })
}

// commandLine are annotations of commands: their user may run commands anyway.
var commandLine = lang.Words("command option argument task Command CommandLine")

// arrived reports a sink that o arrives at. Of a parameter the summary of f remembers it;
// a weak one counts besides when no call in the project fills the parameter.
func (s *shard) arrived(f *frame, o origin, h *Hit, weak bool) {
	if o.kind == fromOutside {
		s.found.add(h)
		return
	}
	if weak && o.param != recvParam && exported(f) {
		w := *h
		w.Weak, w.weakFn, w.Confidence = true, f.fn, h.Rule.Confidence*0.6
		s.weaks = append(s.weaks, &w)
	}
	if len(f.sum.reaches) < maxReaches {
		f.sum.reaches = append(f.sum.reaches, reach{o.param, o.clean, o.sel, h, weak})
	}
}

// reach carries a sink of a called function, which v arrives at, to the caller.
func (s *shard) reach(f *frame, call *lang.Node, fn *Func, r reach, v value) {
	if s.mute > 0 {
		return
	}
	for _, o := range along(v.from, r.sel) {
		o.clean |= r.clean
		if o.clean&r.hit.Rule.Clean != 0 {
			continue
		}
		h := *r.hit
		h.Weak, h.Confidence = false, r.hit.Rule.Confidence*0.95
		h.Trace = append(steps(o.trace), place(f.file(), call.Start, "passed to "+fn.Name))
		h.Trace = append(h.Trace, r.hit.Trace...)
		if len(h.Trace) > 2*maxTrace {
			h.Trace = h.Trace[len(h.Trace)-2*maxTrace:]
		}
		s.arrived(f, o, &h, r.weak)
	}
}

func (s *shard) plain(f *frame, m *rules.Match, n *lang.Node) {
	if s.mute > 0 {
		return
	}
	s.found.add(&Hit{Rule: m.Rule, Unit: f.u, Func: f.node, Node: n, Confidence: m.Rule.Confidence})
}

// hits keeps one hit a rule and place: the surest.
type hits struct {
	at   map[hitKey]int
	list []*Hit
}

type hitKey struct {
	rule *rules.Rule
	node *lang.Node
}

func (s *hits) add(h *Hit) {
	k := hitKey{h.Rule, h.Node}
	i, ok := s.at[k]
	switch {
	case !ok:
		s.at[k] = len(s.list)
		s.list = append(s.list, h)
	case h.Confidence > s.list[i].Confidence:
		s.list[i] = h
	}
}

func steps(t *step) []audit.Step {
	var out []audit.Step
	for ; t != nil; t = t.prev {
		out = append(out, place(t.file, t.line, t.note))
	}
	slices.Reverse(out)
	return out
}

func place(file string, line int32, note string) audit.Step {
	return audit.Step{File: file, Lines: audit.Range{Start: int(line), End: int(line)}, Note: note}
}
