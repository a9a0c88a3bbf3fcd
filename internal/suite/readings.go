package suite

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
)

// How much a reader is asked: enough to tell a score, few enough to be read one by
// one.
const (
	readingsAFamily  = 2 // cases, good or bad as they are drawn
	readingsAProject = 3 // modules of a planted project, of the module tier's draws
)

// readingsIndex names, in the folder of the requests, what each is about. Who reads
// must not see it.
const readingsIndex = "index.tsv"

// Readings are requests as a model would get them, for a reader that answers each
// by itself: in a file of its own, under a number that says nothing.
type Readings struct {
	Root string // folder with tests/ and fixtures/
	Dir  string // <tier>/<number>.request.txt and index.tsv
}

// A question is a task with what it is about, which its request does not say.
type question struct {
	tier, about string // audit.Case.ID, or audit.Module.ID
	family      string
	task        audit.ReviewTask
}

// Ask writes the requests of a sample: of each family of cases two, of each planted
// project three modules, drawn and ordered by hash, so that a case that comes or goes
// changes nothing for the others. It gives their number. A folder that holds an index
// is an error.
func (r Readings) Ask() (int, error) {
	index := filepath.Join(r.Dir, readingsIndex)
	if _, err := os.Stat(index); err == nil {
		return 0, fmt.Errorf("%s is there already: replies to these requests would be taken for replies to others; name another folder", index)
	}
	all, err := r.questions()
	if err != nil {
		return 0, err
	}
	var lines strings.Builder
	lines.WriteString("request\tabout\tsha256\n")
	number := map[string]int{}
	for _, q := range drawnQuestions(all) {
		number[q.tier]++
		name := fmt.Sprintf("%s/%03d", q.tier, number[q.tier])
		file := filepath.Join(r.Dir, filepath.FromSlash(name)+".request.txt")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(file, []byte(auditor.Prompt(q.task)), 0o644); err != nil {
			return 0, err
		}
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", name, q.about, auditor.RequestHash(q.task))
	}
	return number[plainTier] + number[moduleTier], os.WriteFile(index, []byte(lines.String()), 0o644)
}

// questions gives every case and every module as it is asked.
func (r Readings) questions() ([]question, error) {
	checkout, err := Checkout(r.Root)
	if err != nil {
		return nil, err
	}
	e := &env{root: &root{own: checkout, Dir: r.Root}}
	corpus, corpusErr := fixture.ReadCorpus(checkout, "tests", false)
	modules, modulesErr := e.drawModules()
	plain, plainErr := e.prompt((&Config{Tier: plainTier}).defaultPrompt())
	module, moduleErr := e.prompt((&Config{Tier: moduleTier}).defaultPrompt())
	if err := errors.Join(corpusErr, modulesErr, plainErr, moduleErr); err != nil {
		return nil, err
	}
	var all []question
	eachCase(corpus, func(app *audit.App, f *audit.Family, cs *audit.Case) {
		all = append(all, question{plainTier, cs.ID(), cs.Family(), audit.ReviewTask{Spec: app.Spec.Prompt, Prompt: plain, Language: cs.Language, Code: cs.Code}})
	})
	for _, m := range modules {
		all = append(all, question{moduleTier, m.ID(), m.Project, m.Task(module)})
	}
	return all, nil
}

// drawnQuestions draws the questions that are read, in the order in which they are numbered.
func drawnQuestions(all []question) []question {
	chance := func(q question) string {
		return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "reading %d %s", benchSeed, q.about)))
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b question) int {
		return cmp.Or(-cmp.Compare(a.tier, b.tier), cmp.Compare(chance(a), chance(b)))
	})
	most := map[string]int{plainTier: readingsAFamily, moduleTier: readingsAProject}
	taken := map[string]int{}
	return slices.DeleteFunc(all, func(q question) bool {
		taken[q.tier+q.family]++
		return taken[q.tier+q.family] > most[q.tier]
	})
}
