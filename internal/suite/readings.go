package suite

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
)

// Enough to tell a score, few enough to be read one by one.
const (
	readingsAFamily  = 2 // cases, good or bad as they are drawn
	readingsAProject = 3 // modules of a planted project, of the module tier's draws
)

// readingsIndex says what each request is about: who reads must not see it.
const readingsIndex = "index.tsv"

// Readings are requests as a model would get them, for a reader that answers each
// by itself, in a file of its own under a number that says nothing; and the replies,
// beside them.
type Readings struct {
	Root string // folder with tests/ and fixtures/
	Dir  string // <tier>/<number>.request.txt, <tier>/<number>.<reader>.reply.txt and index.tsv
}

type question struct {
	*subject
	tier   string
	prompt prompt
}

func (q *question) task() audit.ReviewTask {
	t := q.trial(nil, q.prompt)
	return t.Task()
}

// questions are what is asked today, by what each is about.
type questions map[string]question

func (today questions) add(subjects []subject, tier string, p prompt) {
	for i := range subjects {
		today[subjects[i].id] = question{&subjects[i], tier, p}
	}
}

// asks reports whether today's request is the one that a reading replies to.
func (today questions) asks(one auditor.Reading) bool {
	q, there := today[one.About]
	return there && auditor.RequestHash(q.task()) == one.Request
}

// Ask writes the requests of a sample: of each family of cases two, of each planted
// project three modules, drawn and ordered by hash, so that a case that comes or goes
// changes nothing for the others; of these only what the recorded reader named
// lacking was not shown as it stands now ("": all). It gives their number. A folder
// that holds an index is an error.
func (r Readings) Ask(lacking string) (int, error) {
	index := filepath.Join(r.Dir, readingsIndex)
	if _, err := os.Stat(index); err == nil {
		return 0, fmt.Errorf("%s is there already: replies to these requests would be taken for replies to others; name another folder", index)
	}
	kept, err := r.kept(lacking)
	if err != nil {
		return 0, err
	}
	if lacking != "" && len(kept) == 0 {
		return 0, fmt.Errorf("nothing is recorded of %s: expected the name of a folder of fixtures/recordings/bench, or no --lacking where all is to be asked", lacking)
	}
	all, err := r.questions()
	if err != nil {
		return 0, err
	}
	var lines strings.Builder
	lines.WriteString("request\tabout\tsha256\n")
	number := map[string]int{}
	for _, q := range all.drawn() {
		request := auditor.RequestHash(q.task())
		if rs := kept[q.prompt.name]; rs != nil && slices.ContainsFunc(rs.Readings, func(one auditor.Reading) bool { return one.Request == request }) {
			continue
		}
		number[q.tier]++
		name := fmt.Sprintf("%s/%03d", q.tier, number[q.tier])
		file := r.file(name, "request")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return 0, err
		}
		if err := os.WriteFile(file, []byte(auditor.Prompt(q.task())), 0o644); err != nil {
			return 0, err
		}
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", name, q.id, request)
	}
	n := number[plainTier] + number[moduleTier]
	if n == 0 {
		return 0, fmt.Errorf("%s was shown all that is drawn: nothing is left to ask", lacking)
	}
	return n, os.WriteFile(index, []byte(lines.String()), 0o644)
}

// file gives the file of a numbered request ("plain/001"), or of a reply to it.
func (r Readings) file(name, what string) string {
	return filepath.Join(r.Dir, filepath.FromSlash(name)+"."+what+".txt")
}

func (r Readings) kept(reader string) (map[string]*auditor.Readings, error) {
	by := map[string]*auditor.Readings{}
	readers, err := auditor.Readers(audit.PlainFiles(os.DirFS(r.Root)), "fixtures/recordings")
	for _, one := range readers {
		for _, tier := range []string{plainTier, moduleTier} {
			prompt := promptOf(tier)
			if rs := one.Read(prompt); rs != nil && one.Name() == reader {
				by[prompt] = rs
			}
		}
	}
	return by, err
}

// Keep makes the replies of about.Reader to the requests in Dir its recording, beside
// what is recorded of it, and says of whom they are; "" in a field keeps what is said.
// Replies to a request that would be another one today are dropped, recorded ones too,
// and told on w. Without Dir nothing else is done.
func (r Readings) Keep(about auditor.Readings, w io.Writer) error {
	today, err := r.questions()
	if err != nil {
		return err
	}
	kept, err := r.kept(about.Reader)
	if err != nil {
		return err
	}
	said := map[string]*auditor.Readings{} // of these, what to write
	for prompt, rs := range kept {
		n := len(rs.Readings)
		rs.Readings = slices.DeleteFunc(rs.Readings, func(one auditor.Reading) bool { return staleReading(today, one, w) })
		if len(rs.Readings) < n {
			said[prompt] = rs
		}
	}
	if r.Dir != "" {
		if err := r.replies(about, today, kept, said, w); err != nil {
			return err
		}
	}
	if len(said) == 0 {
		return fmt.Errorf("nothing to keep: expected files like plain/001.%s.reply.txt in %s", about.Reader, cmp.Or(r.Dir, "a folder that is named"))
	}
	for _, prompt := range slices.Sorted(maps.Keys(said)) {
		rs := said[prompt]
		if err := rs.Write(filepath.Join(r.Root, "fixtures", "recordings")); err != nil {
			return err
		}
		fmt.Fprintf(w, "%s with %s: %d readings\n", rs.Reader, prompt, len(rs.Readings))
	}
	return nil
}

// staleReading tells of a reading whose request is another one today.
func staleReading(today questions, one auditor.Reading, w io.Writer) bool {
	if today.asks(one) {
		return false
	}
	fmt.Fprintf(w, "dropped: %s: its request is another one today\n", one.About)
	return true
}

func (r Readings) replies(about auditor.Readings, today questions, kept, said map[string]*auditor.Readings, w io.Writer) error {
	index, err := os.ReadFile(filepath.Join(r.Dir, readingsIndex))
	if err != nil {
		return err
	}
	unread := 0
	for i, line := range strings.Split(strings.TrimSpace(string(index)), "\n")[1:] {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return fmt.Errorf("%s:%d: %q: expected request, about and sha256 as assay readings ask writes them", filepath.Join(r.Dir, readingsIndex), i+2, line)
		}
		name, one := fields[0], auditor.Reading{About: fields[1], Request: fields[2]}
		reply, err := os.ReadFile(r.file(name, about.Reader+".reply"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			unread++
			continue
		case err != nil:
			return err
		case len(bytes.TrimSpace(reply)) == 0:
			return fmt.Errorf("%s is empty: remove it where nobody replied", r.file(name, about.Reader+".reply"))
		}
		request, err := os.ReadFile(r.file(name, "request"))
		switch {
		case err != nil:
			return fmt.Errorf("%w: expected the request that %s replies to", err, r.file(name, about.Reader+".reply"))
		case hashOf(request) != one.Request:
			return fmt.Errorf("%s is not the request that was written: what replies to it is about something else", r.file(name, "request"))
		}
		if staleReading(today, one, w) {
			continue
		}
		prompt := today[one.About].prompt.name
		rs := kept[prompt]
		if rs == nil {
			rs = &auditor.Readings{Reader: about.Reader, Prompt: prompt}
			kept[prompt] = rs
		}
		rs.Model, rs.Date, rs.Asked, rs.Had = cmp.Or(about.Model, rs.Model), cmp.Or(about.Date, rs.Date), cmp.Or(about.Asked, rs.Asked), cmp.Or(about.Had, rs.Had)
		one.Reply = string(reply)
		rs.Readings = append(slices.DeleteFunc(rs.Readings, func(old auditor.Reading) bool { return old.About == one.About }), one)
		said[prompt] = rs
	}
	if unread > 0 {
		fmt.Fprintf(w, "%d requests have no reply of %s\n", unread, about.Reader)
	}
	return nil
}

func (r Readings) questions() (questions, error) {
	e, err := checkout(r.Root, Config{})
	if err != nil {
		return nil, err
	}
	corpus, corpusErr := fixture.ReadCorpus(e.root.own, "tests", false)
	modules, modulesErr := e.drawModules()
	if err := errors.Join(corpusErr, modulesErr); err != nil {
		return nil, err
	}
	all := questions{}
	for tier, subjects := range map[string][]subject{plainTier: casesOf(corpus), moduleTier: modulesOf(modules)} {
		p, err := e.prompt(promptOf(tier))
		if err != nil {
			return nil, err
		}
		all.add(subjects, tier, p)
	}
	return all, nil
}

func (today questions) drawn() []question {
	chance := func(q question) string {
		return hashOf(fmt.Appendf(nil, "reading %d %s", benchSeed, q.id))
	}
	all := slices.SortedFunc(maps.Values(today), func(a, b question) int {
		return cmp.Or(-cmp.Compare(a.tier, b.tier), cmp.Compare(chance(a), chance(b)))
	})
	most := map[string]int{plainTier: readingsAFamily, moduleTier: readingsAProject}
	taken := map[string]int{}
	return slices.DeleteFunc(all, func(q question) bool {
		kind := q.tier + q.about
		if q.ask.Case != nil {
			kind = q.tier + q.ask.Case.Family()
		}
		taken[kind]++
		return taken[kind] > most[q.tier]
	})
}

// stale counts what a recorded reviewer was shown, and refuses it where a request has become
// another one since. Of modules, those of other draws are passed over.
func (b *bench) stale(r audit.Reviewer, p prompt) error {
	reader, ok := r.(*auditor.Reader)
	if !ok {
		return nil
	}
	rs := reader.Read(p.name)
	if rs == nil {
		return fmt.Errorf("%s is a recorded reviewer, and was never asked with the prompt %s: record it with assay readings", r.Name(), p.name)
	}
	today := questions{}
	today.add(b.subjects, b.env.cfg.Tier, p)
	drawn := map[string]bool{}
	for i := range b.subjects {
		drawn[b.subjects[i].group] = true
	}
	var gone []string
	for _, one := range rs.Readings {
		switch {
		case today.asks(one):
			b.recorded[variant{r.Name(), p.name}]++
		case b.modules == nil || drawn[path.Dir(one.About)]:
			gone = append(gone, one.About)
		}
	}
	if len(gone) > 0 {
		return fmt.Errorf("%s is stale: %d of the %d requests that it was shown are others today, like that about %s: have them read again (assay readings ask --lacking %s), or let them go (assay readings keep %s)", r.Name(), len(gone), len(rs.Readings), gone[0], r.Name(), r.Name())
	}
	return nil
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
