package static

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

var (
	// scarce are things of which there is only so much: what is checked and then
	// taken in two steps is taken twice by two callers.
	scarce   = regexp.MustCompile(`(?i)balance|stock|quantity|inventory|credits?\b|points|coupon|voucher|redeem|seats?\b|available|remaining|tickets?_?left|quota|funds|amount|wallet|usage_?count|max_?uses|claimed|used\b|votes?\b|capacity|credit_?limit|spending_?limit`)
	guarding = regexp.MustCompile(`(?i)for update|for_update|\block|lock\(|mutex|synchronized|atomic|transaction|serializable|beginTx|\.begin\(|begin_nested|compareAndSet|optimistic|@version|pessimistic|unique|on conflict|findOneAndUpdate|\$inc\b|increment\(|decrement\(|rowsaffected|rowcount|affected_?rows|setnx|getset|\bF\(`)
	readsOne = regexp.MustCompile(`(?i)select\s+[^;]*\bfrom\b|findBy\w*\(|findOne|findByPk|findUnique|findFirst|getOne|getById|selectById|\.get\(|\.first\(|\.load\(|\.find\(|fetch\w*\(|get_object_or_404|\bget\w*(account|balance|stock|wallet|coupon|product|user)\w*\(|\b\w*(total|balance|remaining|outstanding|spent)\w*\(`)
	takesOne = regexp.MustCompile(`(?is)update\s+\w+\s+set|\.save\w*\(|\.update\w*\(|\.commit\(|\.persist\(|\.merge\(|\bset(Balance|Stock|Quantity|Credits?|Points|Amount|Used|Available|Remaining)\(|insert\s+into|\.create\(|\.insert\w*\(|\bupdate\w*(account|balance|stock|wallet|coupon|product)\w*\(`)
	lowers   = regexp.MustCompile(`(?is)\bset\b[^;"'` + "`" + `]*?\b(\w+)\s*=\s*\w*\.?(\w+)\s*-[^;"'` + "`" + `]*\bwhere\b[^;"'` + "`" + `]*\b(\w+)\s*>`)
)

// checkRaces reports functions that look how much is left, decide, and then take,
// in steps between which another caller can do the same.
func (a *application) checkRaces() {
	rule := a.set.Checks["race.check-then-act"]
	if rule == nil {
		return
	}
	for _, u := range a.project.Units {
		if isTest(u.File.Path) || !mayRunOut(u.File.Src) && !bytes.Contains(u.File.Src, []byte(".Store(")) && !bytes.Contains(u.File.Src, []byte(" SET ")) && !bytes.Contains(u.File.Src, []byte(" set ")) {
			continue
		}
		for _, fn := range u.Funcs {
			if fn.Node.Body != nil && fn.Name != "" && a.lowersUnchecked(fn) { // reported
				continue
			}
			if fn.Node.Body != nil && (fn.Name != "" || fn == u.Funcs[0]) {
				a.race(fn)
			}
		}
		lang.Walk(u.File.Root, func(n *lang.Node) bool { // handlers written in place
			if n.Kind == lang.Func && n.Name == "" && n.Body != nil && (u.File.Lang == lang.JS || u.File.Lang == lang.Go) {
				if fn := (&flow.Func{Unit: u, Node: n}); !a.lowersUnchecked(fn) {
					a.race(fn)
				}
			}
			return true
		})
	}
}

// scarcePieces are pieces of the words of scarce, without their first letters.
var scarcePieces = [][]byte{[]byte("alance"), []byte("tock"), []byte("uantity"), []byte("nventory"), []byte("redit"), []byte("oints"), []byte("oupon"), []byte("oucher"),
	[]byte("edeem"), []byte("eats"), []byte("vailable"), []byte("emaining"), []byte("uota"), []byte("unds"), []byte("mount"), []byte("allet"), []byte("laimed"), []byte("used"),
	[]byte("otes"), []byte("apacity"), []byte("ses"), []byte("left")}

// mayRunOut is a quick look for a piece of a telling word.
func mayRunOut(src []byte) bool {
	for _, p := range scarcePieces {
		if bytes.Contains(src, p) {
			return true
		}
	}
	return false
}

// transactional: an annotation makes one transaction of the function.
func transactional(fn *flow.Func) bool {
	return slices.ContainsFunc(fn.Node.Notes, func(n *lang.Node) bool {
		return strings.Contains(strings.ToLower(fn.Unit.File.Text(n)), "transactional")
	})
}

// race looks at one function: a read, then a condition on something scarce, then a
// write behind it, and nothing that makes the three one.
func (a *application) race(fn *flow.Func) {
	f := fn.Unit.File
	if !a.decides(fn) {
		return
	}
	text := f.Text(fn.Node)
	if fn.Node.Off == 0 && fn.Name == "" {
		text = string(f.Src)
	}
	if !scarce.MatchString(text) || guarding.MatchString(text) || lowers.MatchString(text) || !readsOne.MatchString(text) || !takesOne.MatchString(text) {
		return
	}
	if transactional(fn) {
		return
	}
	var done bool
	lang.Walk(fn.Node.Body, func(n *lang.Node) bool {
		if done || n.Kind == lang.Func && n.Name != "" && n != fn.Node {
			return false
		}
		if n.Kind != lang.If || n.X == nil || !compares(n.X) || !scarce.MatchString(f.Text(n.X)) {
			return true
		}
		before, after := string(f.Src[fn.Node.Off:n.X.Off]), string(f.Src[n.X.To:fn.Node.To])
		if readsOne.MatchString(before) && takesOne.MatchString(after) {
			r := finding(a.set.Checks["race.check-then-act"], f.Path, n, fn.Node)
			r.Function = functionAt(fn.Unit, int(n.Start))
			a.add(r)
			done = true
		}
		return !done
	})
}

var (
	minus   = regexp.MustCompile(`(?is)\bset\s+(\w+)\s*=\s*(\w+)\s*-([^"'` + "`" + `]*)`)
	loadsOf = regexp.MustCompile(`([\w.]+)\.(Load|Get|get)\(`)
	asWhole = regexp.MustCompile(`(?i)\.Lock\(|synchronized|CompareAndSwap|LoadOrStore|compareAndSet|computeIfAbsent|\.merge\(|\.compute\(|atomic|transaction|for update|serializable|\block\b`)
	ordered = regexp.MustCompile(`[<>]`)
)

// lowersUnchecked reports functions that compare and then lower a column, or put
// back what they loaded, in a statement of its own without the condition.
func (a *application) lowersUnchecked(fn *flow.Func) bool {
	f := fn.Unit.File
	text := f.Text(fn.Node)
	var m []int
	if setsByHand(text) {
		m = minus.FindStringSubmatchIndex(text)
	}
	shared := ""
	if fn.Unit.File.Lang == lang.Go && strings.Contains(text, ".Store(") {
		if l := loadsOf.FindStringSubmatch(text); l != nil && l[2] == "Load" && strings.Contains(text, l[1]+".Store(") {
			shared = l[1] + ".Store("
		}
	}
	lowers := m != nil && strings.EqualFold(text[m[2]:m[3]], text[m[4]:m[5]]) && !ordered.MatchString(text[m[6]:m[7]])
	if !lowers && shared == "" {
		return a.changesCompared(fn, text)
	}
	if asWhole.MatchString(text) {
		return false
	}
	if transactional(fn) {
		return false
	}
	write := shared
	if lowers {
		write = text[m[0]:m[1]]
	}
	var at *lang.Node
	lang.Walk(fn.Node.Body, func(n *lang.Node) bool {
		if at == nil && n.Kind == lang.If && n.X != nil && compares(n.X) && strings.Contains(string(f.Src[n.X.To:fn.Node.To]), write) {
			at = n
		}
		return at == nil
	})
	if at == nil {
		return false
	}
	a.add(finding(a.set.Checks["race.check-then-act"], f.Path, at, fn.Node))
	return true
}

// setsByHand is a quick look for what minus begins with.
func setsByHand(text string) bool {
	for _, p := range [...]string{"set ", "SET ", "Set ", "set\n", "SET\n"} {
		if strings.Contains(text, p) {
			return strings.Contains(text, "-")
		}
	}
	return false
}

var (
	keeps   = regexp.MustCompile(`(?i)\b\w*(save|commit|persist|merge|update|flush|put|store)\w*\(`)
	readRow = regexp.MustCompile(`(?i)(\.|->|::)(find|get|first|load|fetch|query|select|scalar|one)\w*\(|get_object_or_404|SELECT\s`)
)

// changesCompared reports functions that read a record, compare a field of it, then
// change that field and store the record.
func (a *application) changesCompared(fn *flow.Func, text string) bool {
	f := fn.Unit.File
	if !comparesScarce(fn.Node.Body) || !keeps.MatchString(text) || !readRow.MatchString(text) || asWhole.MatchString(text) || guarding.MatchString(text) {
		return false
	}
	if transactional(fn) {
		return false
	}
	var at *lang.Node
	lang.Walk(fn.Node.Body, func(n *lang.Node) bool {
		if at != nil || n.Kind != lang.If || n.X == nil || !compares(n.X) {
			return at == nil
		}
		before, after := string(f.Src[fn.Node.Off:n.X.Off]), string(f.Src[n.X.To:fn.Node.To])
		if !readRow.MatchString(before) || !keeps.MatchString(after) {
			return true
		}
		lang.Walk(n.X, func(k *lang.Node) bool {
			if k.Kind == lang.Member && k.X != nil && k.X.Kind == lang.Ident && k.X.Name != "this" && k.X.Name != "self" {
				path := regexp.QuoteMeta(f.Text(k))
				if scarceField.MatchString(k.Name) && regexp.MustCompile(path+`\s*(\+=|-=|\+\+|--|=\s*`+path+`\s*[-+])`).MatchString(after) {
					at = n
				}
			}
			return at == nil
		})
		return at == nil
	})
	if at == nil {
		return false
	}
	r := finding(a.set.Checks["race.check-then-act"], f.Path, at, fn.Node)
	r.Function = functionAt(fn.Unit, int(at.Start))
	a.add(r)
	return true
}

// comparesScarce: a condition orders a field that counts. The tree tells it for
// less than the text would.
func comparesScarce(body *lang.Node) bool {
	found := false
	lang.Walk(body, func(n *lang.Node) bool {
		if found || n.Kind != lang.If || n.X == nil || !compares(n.X) {
			return !found
		}
		lang.Walk(n.X, func(k *lang.Node) bool {
			found = found || k.Kind == lang.Member && scarceField.MatchString(k.Name)
			return !found
		})
		return !found
	})
	return found
}

// scarceField are fields that count what there is or what was taken.
var scarceField = regexp.MustCompile(`(?i)balance|stock|quantity|credit|point|seat|slot|place|spot|available|remaining|left|quota|fund|amount|wallet|use|redeem|claim|vote|count|capacity|budget|allowance|booked|taken|sold|reserved|token|inventory|limit|copies|units`)

// decides: the function has a condition that orders something scarce.
func (a *application) decides(fn *flow.Func) bool {
	found := false
	lang.Walk(fn.Node.Body, func(n *lang.Node) bool {
		if n.Kind == lang.Func && n.Name != "" {
			return false
		}
		if n.Kind == lang.If && n.X != nil && compares(n.X) && scarce.MatchString(fn.Unit.File.Text(n.X)) {
			found = true
		}
		return !found
	})
	return found
}

// compares: the condition orders two values.
func compares(n *lang.Node) bool {
	found := false
	lang.Walk(n, func(k *lang.Node) bool {
		if k.Kind == lang.Binary {
			switch k.Op {
			case "<", "<=", ">", ">=":
				found = true
			}
		}
		if k.Kind == lang.Call && k.Name == "compareTo" {
			found = true
		}
		return !found
	})
	return found
}

var handlerParams = regexp.MustCompile(`http\.ResponseWriter|gin\.Context|echo\.Context|fiber\.Ctx`)

// checkSharedMaps reports maps of a Go package that handlers write without a lock:
// each request runs in a goroutine of its own.
func (a *application) checkSharedMaps() {
	rule := a.set.Checks["race.shared-map"]
	if rule == nil {
		return
	}
	for _, u := range a.project.Units {
		if u.File.Lang != lang.Go || isTest(u.File.Path) || strings.Contains(string(u.File.Src), "sync.") {
			continue
		}
		maps := map[string]bool{}
		for _, n := range u.File.Root.List {
			lang.Walk(n, func(k *lang.Node) bool {
				if k.Kind == lang.Func {
					return false
				}
				if k.Kind == lang.Assign && k.X != nil && k.X.Kind == lang.Ident && strings.Contains(u.File.Text(k), "map[") {
					maps[k.X.Name] = true
				}
				return true
			})
		}
		if len(maps) == 0 {
			continue
		}
		for _, fn := range u.Funcs {
			if fn.Name == "" || !handlerParams.MatchString(u.File.Text(&lang.Node{Off: fn.Node.Off, To: min(fn.Node.To, fn.Node.Off+200)})) {
				continue
			}
			lang.Walk(fn.Node.Body, func(n *lang.Node) bool {
				if n.Kind == lang.Assign && n.X != nil && n.X.Kind == lang.Index && n.X.X != nil && n.X.X.Kind == lang.Ident && maps[n.X.X.Name] {
					a.add(finding(rule, u.File.Path, n, fn.Node))
				}
				return true
			})
		}
	}
}
