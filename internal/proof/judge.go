package proof

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"assay/audit"
)

// A Runner runs the code of an application's cases on their real runtime.
type Runner interface {
	// Run runs code, a variant of fam, on each of sets. For each set it gives one
	// effect or several (orders of rows, interleavings), in a fixed order. An
	// error of the code is part of its effect; the error returned means that the
	// proof itself is broken.
	Run(ctx context.Context, fam *audit.Family, code string, sets []audit.ParamSet) ([][]Effect,
		error)
	// Prepare builds codes at once where the language is one that is built. What
	// cannot be built is told when it is run.
	Prepare(ctx context.Context, codes []string) error
	// Runtime is the program that runs the cases, with its version.
	Runtime(ctx context.Context) (string, error)
	// Close gives back what the runner holds.
	Close()
}

// Open returns the runner of an application: PostgreSQL if the application has a schema or
// data.sql, else the language of its harness. It calls dsn in the first case only. The harness
// of a foreign application runs in the sandbox if there is one. The caller closes the runner.
func Open(ctx context.Context, app *audit.App, foreign bool, dsn func() (string, error)) (Runner,
	error) {
	if !app.HasDatabase() {
		c, err := NewCode(app)
		if err != nil {
			return nil, err
		}
		c.foreign = foreign
		return c, nil
	}
	url, err := dsn()
	if err != nil {
		return nil, err
	}
	return NewPostgres(ctx, url, app)
}

// Check checks one family. Good cases must satisfy every oracle on every set and on its edge
// values (see edges), and must return equal results. Each bad case must equal the good ones on
// benign sets and must break every requirement of its Violates on at least one attack set.
// Check returns what does not hold, with positions; an empty list means that the family is
// proven. The error is that of a context that ended.
func Check(ctx context.Context, r Runner, app *audit.App, fam *audit.Family) ([]audit.Problem,
	error) {
	v := &verifier{app: app, fam: fam, runner: r}
	var goods, bads []*audit.Case
	var codes []string
	for _, c := range fam.Cases {
		codes = append(codes, c.Code)
		if c.Label == audit.Good {
			goods = append(goods, c)
		} else {
			bads = append(bads, c)
		}
	}
	if !v.complete(len(goods)) {
		return v.problems, nil
	}
	if err := r.Prepare(ctx, codes); err != nil {
		v.say(fam.Pos, "%s/%s cannot be built: %v", fam.App, fam.Query, err)
		return v.problems, ctx.Err()
	}
	sets := slices.Concat(fam.Sets, edges(app, fam))
	var model [][]Effect
	for _, c := range goods {
		es, ok := v.run(ctx, c, sets)
		if !ok {
			continue
		}
		v.checkGood(c, sets, es)
		if model == nil {
			model = es
			v.checkModel(c, sets, es)
			continue
		}
		v.equal(c, goods[0], sets, model, es, "")
	}
	if model == nil {
		return v.problems, ctx.Err()
	}
	for _, c := range bads {
		if es, ok := v.run(ctx, c, fam.Sets); ok {
			v.equal(c, goods[0], fam.Sets, model, es, audit.SetBenign)
			v.checkBad(c, es)
		}
	}
	return v.problems, ctx.Err()
}

// A verifier collects the problems of one family.
type verifier struct {
	app      *audit.App
	fam      *audit.Family
	runner   Runner
	problems []audit.Problem
}

// say adds a problem.
func (v *verifier) say(pos audit.Pos, format string, args ...any) {
	v.problems = append(v.problems, audit.Problem{Pos: pos, What: fmt.Sprintf(format, args...)})
}

// complete reports whether the family has what a proof needs: parameter sets of both kinds, a
// good case, and an oracle for each requirement.
func (v *verifier) complete(goods int) bool {
	if v.fam.Pos.File == "" || len(v.fam.Sets) == 0 {
		v.say(v.fam.Cases[0].Pos, "%s/%s has no proof: expected %s.md with # Parameters", v.fam.App,
			v.fam.Query, v.fam.Query)
		return false
	}
	for _, kind := range []string{audit.SetBenign, audit.SetAttack} {
		if !slices.ContainsFunc(v.fam.Sets, func(s audit.ParamSet) bool { return s.Set == kind }) {
			v.say(v.fam.Pos,
				`no parameter set is marked "_set": %q: expected at least one benign and one attack set`, kind)
		}
	}
	if goods == 0 {
		v.say(v.fam.Pos, "no good case: the bads have nothing to be compared with")
	}
	if v.app.Spec != nil && (v.app.Schema != "" || v.app.Data != "") {
		for _, r := range v.app.Spec.Requirements {
			if !slices.ContainsFunc(v.app.Oracles,
				func(o audit.Oracle) bool { return o.Requirement == r.Number }) {
				v.say(v.fam.Pos, "requirement %d has no oracle: expected one in oracles.md",
					r.Number)
			}
		}
		for _, o := range v.app.Oracles {
			if !slices.ContainsFunc(v.app.Spec.Requirements,
				func(r audit.Requirement) bool { return r.Number == o.Requirement }) {
				v.say(o.Pos, "the oracle %q is of requirement %d, which the SPEC does not state",
					o.Name, o.Requirement)
			}
		}
	}
	return len(v.problems) == 0
}

// run runs a case on the sets. It adds a problem and returns false if the case cannot be run.
func (v *verifier) run(ctx context.Context, c *audit.Case, sets []audit.ParamSet) ([][]Effect,
	bool) {
	es, err := v.runner.Run(ctx, v.fam, c.Code, sets)
	if err != nil {
		v.say(c.Pos, "cannot be proven: %v", err)
		return nil, false
	}
	return es, true
}

// checkGood checks that a good case does not fail on benign sets and violates no requirement.
func (v *verifier) checkGood(c *audit.Case, sets []audit.ParamSet, es [][]Effect) {
	for i, set := range sets {
		for _, e := range es[i] {
			if e.Err != "" && set.Set != audit.SetAttack {
				v.say(c.Pos, "fails on %s: %s", where(set, e), e.Err)
				break
			}
			if len(e.Violated) > 0 {
				v.say(c.Pos, "a good violates on %s: %s", where(set, e), list(e.Violated))
				break
			}
		}
	}
}

// checkModel checks the good case that the others are compared with: a benign set must return
// rows, and the order of rows must not change the result.
func (v *verifier) checkModel(c *audit.Case, sets []audit.ParamSet, es [][]Effect) {
	shown := v.fam.Verify != ""
	for i, set := range sets {
		shown = shown || set.Set == audit.SetBenign && es[i][0].Rows > 0
		for _, e := range es[i][1:] {
			if set.Race == nil && e.Result != es[i][0].Result {
				v.say(c.Pos,
					"the good's result depends on the order of the rows, on the set at line %d (- %s, + %s):%s",
					set.Pos.Line, es[i][0].Variant, e.Variant,
					difference(es[i][0].Result, e.Result))
			}
		}
	}
	if !shown {
		v.say(c.Pos, "returns no row on any benign set: expected one that shows the query at work")
	}
}

// equal compares the effects of case c with those of the model case on the sets of a kind, ""
// for all. Races are not compared, since either session may win.
func (v *verifier) equal(c, model *audit.Case, sets []audit.ParamSet, want,
	got [][]Effect, kind string) {
	for i, set := range sets {
		if kind != "" && set.Set != kind || set.Race != nil {
			continue
		}
		for j := range want[i] {
			w, g := want[i][j], got[i][j]
			if w.Result == g.Result && (w.Err == "") == (g.Err == "") {
				continue
			}
			v.say(c.Pos, "differs from %s on %s (- %02d, + %02d): %s%s", model.ID(), where(set, w),
				model.Number, c.Number,
				g.Err, difference(w.Result, g.Result))
			break
		}
	}
}

// checkBad checks that a bad case breaks every requirement of its Violates on an attack set. It
// may break others as well.
func (v *verifier) checkBad(c *audit.Case, es [][]Effect) {
	if len(c.Violates) == 0 {
		v.say(c.Pos, "a bad without # Violates: expected the requirements that it breaks")
	}
	for _, n := range c.Violates {
		broken := false
		seen := []string{}
		for i, set := range v.fam.Sets {
			for _, e := range es[i] {
				if set.Set == audit.SetAttack {
					broken = broken || e.breaks(n)
				}
				seen = append(seen, list(e.Violated), e.Err)
			}
		}
		if !broken {
			slices.Sort(seen)
			v.say(c.Pos, "breaks requirement %d on no attack set; what it does break: %q", n,
				slices.Compact(seen))
		}
	}
}

// where returns the name of a set and, if the set is run in several ways, of the effect's
// variant.
func where(s audit.ParamSet, e Effect) string {
	name := cmp.Or(s.Set, "unmarked")
	if s.Edge != "" {
		name = "benign (but " + s.Edge + ")"
	}
	at := fmt.Sprintf("the %s set at line %d", name, s.Pos.Line)
	if e.Variant != "" {
		at += ", " + e.Variant
	}
	return at
}

// list returns the violations as one text.
func list(vs []Violation) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = v.String()
	}
	return strings.Join(parts, "; ")
}
