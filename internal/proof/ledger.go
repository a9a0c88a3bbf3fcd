package proof

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"assay/audit"
)

// LedgerFile is the path of the ledger below the corpus's root.
const LedgerFile = "fixtures/proofs.tsv"

// Sealed is the prefix of entries that state how well the names in a project's sealed export
// predict its key. A test of internal/seal measures and writes them.
const Sealed = "sealed/"

// ledgerVersion changes when the meaning of a proof changes, which makes every entry stale.
const ledgerVersion = "1"

// A Proved is the ledger's entry of a family that was proven.
type Proved struct {
	Content string // hash of everything that the proof depends on: cases, SPEC, data, harness
	Runtime string // what ran it, as Runner.Runtime gives it
	// hash of everything that was seen: a forged entry does not hold when it is proven again
	Effects string
	Despite string // why the entry stands although its proof is red; empty for all others
}

// A Ledger holds the proven families by "<app>/<query>".
type Ledger map[string]Proved

// ReadLedger reads the ledger. A missing file is an empty ledger. A malformed line is an error
// with its number.
func ReadLedger(fsys fs.FS) (Ledger, error) {
	b, err := fs.ReadFile(fsys, LedgerFile)
	l := Ledger{}
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Split(line, "\t")
		if len(f) == 4 {
			f = append(f, "")
		}
		if len(f) != 5 {
			return nil, fmt.Errorf(
				"%s:%d: %d columns: expected family, content, runtime and effects, and for a named exception its reason, separated by tabs", LedgerFile, i+1, len(f))
		}
		if i > 0 {
			l[f[0]] = Proved{f[1], f[2], f[3], f[4]}
		}
	}
	return l, nil
}

// Text returns the ledger in the form that ReadLedger reads, sorted by family.
func (l Ledger) Text() string {
	var b strings.Builder
	b.WriteString("family\tcontent\truntime\teffects\n")
	for _, name := range slices.Sorted(maps.Keys(l)) {
		p := l[name]
		line := strings.Join([]string{name, p.Content, p.Runtime, p.Effects, p.Despite}, "\t")
		b.WriteString(strings.TrimSuffix(line, "\t") + "\n")
	}
	return b.String()
}

// Content returns a hash of everything that the proof of a family depends on.
func Content(app *audit.App, fam *audit.Family) string {
	h := sha256.New()
	put := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // fixtures are plain values
		}
		h.Write(b)
	}
	put(ledgerVersion)
	var oracles [][]any
	for _, o := range app.Oracles {
		oracles = append(oracles, []any{o.Requirement, o.Name, o.SQL})
	}
	put([]any{app.App, app.Schema, app.Data, app.Harness, oracles})
	if app.Spec != nil {
		for _, r := range app.Spec.Requirements {
			put([]any{r.Number, r.Text})
		}
	}
	if len(app.Session) > 0 {
		put(app.Session)
	}
	// nil: a family's own oracles, which no family has any more
	put([]any{fam.Query, fam.Verify, nil})
	for _, s := range fam.Sets {
		put([]any{s.Set, s.Values, s.Race, s.Now, s.TimeZone})
		if s.Rival != "" {
			put(s.Rival)
		}
	}
	for _, c := range fam.Cases {
		put([]any{c.Number, c.Label, c.Code, c.Violates})
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// Prove checks a family as [Check] does and returns its ledger entry, too.
func Prove(ctx context.Context, r Runner, app *audit.App, fam *audit.Family) (Proved,
	[]audit.Problem, error) {
	name, err := r.Runtime(ctx)
	if err != nil {
		return Proved{}, nil, err
	}
	w := &witness{Runner: r, seen: sha256.New()}
	problems, err := Check(ctx, w, app, fam)
	return Proved{Content: Content(app, fam), Runtime: name,
		Effects: hex.EncodeToString(w.seen.Sum(nil))[:32]}, problems, err
}

// A witness is a Runner that hashes all effects.
type witness struct {
	Runner
	seen hash.Hash
}

// Run runs code and adds its effects to the hash.
func (w *witness) Run(ctx context.Context, fam *audit.Family, code string,
	sets []audit.ParamSet) ([][]Effect, error) {
	all, err := w.Runner.Run(ctx, fam, code, sets)
	for _, es := range all {
		for _, e := range es {
			io.WriteString(w.seen, fmt.Sprintf("%s|%s|%d|%v|%v\n", e.Variant, e.Result, e.Rows,
				requirements(e.Violated), e.Err != ""))
		}
	}
	return all, err
}

// requirements returns the numbers of the violated requirements in order.
func requirements(vs []Violation) []int {
	var ns []int
	for _, v := range vs {
		ns = append(ns, v.Requirement)
	}
	slices.Sort(ns)
	return ns
}
