package suite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const trueRate = 0.6 // recall of the unchanged auditor

// A follower is somebody who does what the screen says and nothing else.
type follower struct {
	t      *testing.T
	h      *house
	suites string
	assay  string

	entries int      // of each project's key
	spare   []string // projects that can be added

	mu     sync.Mutex
	draws  map[string]*rand.Rand // of each project
	script map[string][]int      // what the next audits of a project find, before draws
	byLoss map[string]int        // what audits find by the agent's rules, in place of draws
}

// newFollower returns one with projects of so many entries and an agent whose trials find an
// entry with probability 0.6 less the points of agent/rules.txt. Runs differ by far more than
// entries do: by Student's t with three degrees of freedom, and one of fifty finds nothing.
func newFollower(t *testing.T, projects, entries int, seed uint64) *follower {
	f := &follower{t: t, h: newHouse(t), entries: entries, draws: map[string]*rand.Rand{}, script: map[string][]int{}}
	f.suites, f.assay = commands(t)
	server := httptest.NewServer(http.HandlerFunc(f.report))
	t.Cleanup(server.Close)
	var names []string
	for i := range projects + 4 {
		name := fmt.Sprintf("p%02d", i)
		names = append(names, name)
		f.draws[name] = rand.New(rand.NewPCG(seed, uint64(i)))
	}
	f.h.repositories(names, entries)
	f.spare = names[projects:]
	for _, name := range f.spare {
		require.NoError(t, os.Rename(f.project(name), f.project(name)+".spare"))
	}
	f.h.write("fixtures/goals.md",
		"# Goals\n\n| Goal | Threshold |\n|---|---|\n| Recall | >= 5 % |\n\n"+
			"# Goals: agent\n\n| Goal | Threshold |\n|---|---|\n| Recall | >= 5 % |\n")
	f.h.write("agent/agent.sh",
		"set -e\ncurl -fsS --noproxy '' \"$DRAWS/$(cat NAME)/$(cat \"$ASSAY_FILES/agent/rules.txt\")\"\n")
	f.h.write("agent/rules.txt", "0\n")
	f.h.write("fixtures/auditors.md",
		"# Auditors\n\n## agent\n\n| Field | Value |\n|---|---|\n| Kind | agent |\n"+
			"| Timeout | 1m |\n| Cost | 0 |\n| Environment | DRAWS |\n| Network | yes |\n| Hosts | "+
			strings.TrimPrefix(server.URL, "http://")+
			" |\n| Files | agent/** |\n\n```sh\nsh \"$ASSAY_FILES/agent/agent.sh\"\n```\n")
	t.Setenv("DRAWS", server.URL)
	return f
}

// project returns the file of a project's key.
func (f *follower) project(name string) string {
	return f.h.path("fixtures/projects/" + name + ".md")
}

// report answers an audit of a project with a random report.
func (f *follower) report(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	lost, err := strconv.Atoi(strings.TrimSpace(parts[1]))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if next := f.script[parts[0]]; len(next) > 0 {
		f.script[parts[0]] = next[1:]
		fmt.Fprint(w, found(next[0]))
		return
	}
	if n, ok := f.byLoss[strconv.Itoa(lost)]; ok {
		fmt.Fprint(w, found(n))
		return
	}
	rng := f.draws[parts[0]]
	q := trueRate - float64(lost)/100
	t3 := rng.NormFloat64() / math.Sqrt((sq(rng.NormFloat64())+sq(rng.NormFloat64())+
		sq(rng.NormFloat64()))/3) / math.Sqrt(3)
	n := float64(f.entries)
	v := q + math.Sqrt(q*(1-q)*(0.5/n+0.02))*t3
	if rng.IntN(50) == 0 {
		v = 0
	}
	fmt.Fprint(w, found(int(math.Round(n*min(1, max(0, v))))))
}

func sq(x float64) float64 { return x * x }

// repositories makes projects, each pinned to a commit of one repository.
func (h *house) repositories(names []string, entries int) {
	h.t.Helper()
	mirror := h.t.TempDir()
	dir := filepath.Join(mirror, "o", "demo")
	require.NoError(h.t, os.MkdirAll(dir, 0o755))
	git := func(args ...string) string {
		cmd := exec.Command("git",
			append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b.example"},
				args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(h.t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet")
	git("config", "uploadpack.allowAnySHA1InWant", "true")
	key, tree := demoKey(entries)
	for i := range entries {
		require.NoError(h.t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%02d.java", i)),
			[]byte(strings.Repeat("x();\n", 1000)), 0o644))
	}
	for _, name := range names {
		require.NoError(h.t, os.WriteFile(filepath.Join(dir, "NAME"), []byte(name+"\n"), 0o644))
		git("add", ".")
		git("commit", "--quiet", "-m", name)
		h.write("fixtures/projects/"+name+".md", strings.ReplaceAll(key, demoCommit,
			git("rev-parse", "HEAD")))
		h.write("fixtures/projects/"+name+".tree.tsv", strings.ReplaceAll(tree, demoCommit,
			git("rev-parse", "HEAD:f00.java"))+
			"NAME\t1\t"+git("rev-parse", "HEAD:NAME")+"\n")
	}
	h.t.Setenv("ASSAY_MIRROR", mirror)
	h.t.Setenv("ASSAY_CACHE", h.t.TempDir())
}

// run runs a command of the screen in the root.
func (f *follower) run(command string) (out string, status int) {
	f.t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = f.h.dir
	cmd.Env = append(os.Environ(), "ASSAY_ROOT="+f.h.dir, "PATH="+filepath.Dir(f.assay)+":"+
		os.Getenv("PATH"))
	b, _ := cmd.CombinedOutput()
	f.forgetTime()
	return string(b), cmd.ProcessState.ExitCode()
}

var seconds = regexp.MustCompile(`"seconds": [\d.e-]+`)

// forgetTime takes the time of trials out of the baselines, so that it is not compared: it is
// that of a machine that runs other tests.
func (f *follower) forgetTime() {
	files, err := filepath.Glob(f.h.path("fixtures/baselines/*/*.json"))
	require.NoError(f.t, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(f.t, err)
		require.NoError(f.t, os.WriteFile(file, seconds.ReplaceAll(b, []byte(`"seconds": 0`)), 0o644))
	}
}

// asAgent runs the suites, or what the screen says, with so many points lost.
func (f *follower) asAgent(lost int, command string) (out string, status int) {
	f.h.write("agent/rules.txt", fmt.Sprintln(lost))
	return f.run(command)
}

var (
	judgedRow    = regexp.MustCompile(`(?m)^(PASS|WARN|FAIL|INVALID) +agent +(\d+ projects|p00) `)
	toDecide     = regexp.MustCompile(`(?m)^ +next: (.*-add.*)$`)
	moreProjects = regexp.MustCompile(`No further trial decides it; (\d+) more projects? like these`)
	forBaseline  = regexp.MustCompile(
		`(?m)^first, for the baseline(, with agent/rules.txt as before)?: (.*)$`)
)

// follow makes a baseline of so many trials, changes the agent and does what the screen says
// until it says nothing more. It returns the last verdict, the number of commands that were
// followed and the last screen.
func (f *follower) follow(baseline, lost int) (verdict string, followed int, out string) {
	t := f.t
	out, status := f.asAgent(0,
		fmt.Sprintf("%s -test.run Regression -auditor agent -concurrency 4 -trials %d",
			f.suites, baseline))
	require.Zero(t, status, out)
	out, status = f.run(f.assay + " baseline agent")
	require.Zero(t, status, out)
	out, status = f.asAgent(lost, f.suites+" -test.run Regression -auditor agent -concurrency 4")
	for ; ; followed++ {
		t.Log(out)
		row := judgedRow.FindStringSubmatch(out)
		require.NotNil(t, row, out)
		verdict = row[1]
		require.Equal(t, map[string]int{"PASS": 0, "WARN": 0, "FAIL": 1}[verdict], status, out)
		decide, lacking := toDecide.FindAllStringSubmatch(out,
			-1), forBaseline.FindAllStringSubmatch(out, -1)
		if verdict != "WARN" {
			require.Empty(t, decide, "a verdict that stands asks for nothing: %s", out)
			return verdict, followed, out
		}
		require.Less(t, followed, 5, "the advice does not end: %s", out)
		if len(decide) == 0 {
			more := moreProjects.FindStringSubmatch(strings.Join(strings.Fields(out), " "))
			require.NotNil(t, more, "a WARN says what decides it: %s", out)
			n, err := strconv.Atoi(more[1])
			require.NoError(t, err)
			out, status = f.add(n, lost)
			continue
		}
		require.Len(t, decide, 1, "one command decides: %s", out)
		if len(lacking) > 0 {
			require.Equal(t, lost != 0, lacking[0][1] != "", out)
			said, _ := f.asAgent(0, lacking[0][2])
			require.Contains(t, said, "agent on p00: baseline of ",
				"assay baseline never refuses what the gate asked for")
		}
		out, status = f.asAgent(lost, decide[0][1])
	}
}

// add adds projects to the baseline, and runs all projects with six trials.
func (f *follower) add(projects, lost int) (out string, status int) {
	require.LessOrEqual(f.t, projects, len(f.spare))
	for _, name := range f.spare[:projects] {
		require.NoError(f.t, os.Rename(f.project(name)+".spare", f.project(name)))
	}
	command := f.suites + " -test.run Regression -auditor agent -concurrency 4 -trials 6"
	out, status = f.asAgent(0, command+" -filter "+strings.Join(f.spare[:projects], ","))
	f.spare = f.spare[projects:]
	require.Zero(f.t, status, out)
	out, status = f.run(f.assay + " baseline agent")
	require.Zero(f.t, status, out)
	return f.asAgent(lost, command)
}

// TestTheAdviceIsFollowed does what the screen says, through the command line, for an
// unchanged auditor and for ones that lost 10, 20 and 40 points. It ends in PASS or FAIL.
func TestTheAdviceIsFollowed(t *testing.T) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("without bubblewrap every verdict is WARN: the auditor is unconfined")
	}
	projects, losses := []int{1, 4, 13}, []int{0, 10, 20, 40}
	if os.Getenv("ASSAY_CHECK") == "" {
		projects, losses = []int{1, 4}, []int{20}
	}
	for _, n := range projects {
		for _, lost := range losses {
			t.Run(fmt.Sprintf("%d projects, %d points less", n, lost), func(t *testing.T) {
				verdict, followed, _ := newFollower(t, n, 20, 37).follow(3, lost)
				t.Logf("followed %d: %s", followed, verdict)
				switch {
				case lost == 0:
					require.NotEqual(t, "FAIL", verdict)
				case lost == 40 && n > 1:
					require.Equal(t, "FAIL", verdict)
				}
			})
		}
	}
}

// TestAdviceOnTheBaseline: an unchanged auditor whose baseline holds one trial gets the trials
// that the gate asks for on both sides, and none of them counts on both.
func TestAdviceOnTheBaseline(t *testing.T) {
	f := newFollower(t, 1, 20, 1)
	f.script["p00"] = []int{12, 9, 11, 13, 12, 10}
	verdict, followed, out := f.follow(1, 0)
	require.Equal(t, 1, followed)
	require.Equal(t, "PASS", verdict)
	require.Contains(t, out, "Regression: adds 2 trials to the 1 of the run of ")
	require.Regexp(t, `51\.7 % \(.*\) +60\.0 % +-8\.3`, out, "9, 12 and 10 of 20; 12, 11 and 13")
}

// TestACollapseIsConfirmed: a recall of 93 % that becomes 3.5 % on one project is FAIL after
// one command, with a second trial that the suite starts by itself.
func TestACollapseIsConfirmed(t *testing.T) {
	f := newFollower(t, 1, 28, 1)
	f.byLoss = map[string]int{"0": 26, "40": 1}
	verdict, followed, out := f.follow(3, 40)
	require.Equal(t, "FAIL", verdict)
	require.Zero(t, followed, "one command is enough")
	require.Regexp(t, `FAIL +agent +p00 +2 +3\.6 % \(.*\) +92\.9 % +-89\.3`, out)
	out = strings.Join(strings.Fields(out), " ")
	require.Contains(t, out, "a second trial of p00 was started to confirm the collapse")
	require.Contains(t, out, "p00 fell from 26 to 1 of 28")
}

// TestOneOfSeveralProjects: where one project fell, more trials of it alone decide, and it is
// judged together with the others.
func TestOneOfSeveralProjects(t *testing.T) {
	f := newFollower(t, 4, 20, 1)
	for _, name := range []string{"p00", "p01", "p02", "p03"} {
		f.script[name] = []int{12, 13, 12, 13}
	}
	f.script["p00"] = []int{12, 13, 12, 1, 1, 0, 2, 1, 1}
	verdict, followed, out := f.follow(3, 10)
	require.Equal(t, 1, followed)
	require.Equal(t, "FAIL", verdict)
	require.Contains(t, out, "Regression: adds 5 trials to the 1 of the run of ")
	require.Contains(t, strings.Join(strings.Fields(out), " "),
		"p00 fell from 12-13 to 0-2 of 20 in six trials")
}

// TestBesideAndTheStoredBaseline: the side run decides, and where it has too few exchanges
// the stored baseline does. A drop that both sides share is the provider's.
func TestBesideAndTheStoredBaseline(t *testing.T) {
	for _, c := range []struct {
		name                     string
		projects, before, beside int // findings of 20 in the old version's stored and new trials
		now                      int
		verdict, text            string
	}{
		{"the change", 5, 13, 13, 5, "FAIL",
			"recall 25.0 %, beside it 65.0 %: 40 points less, 6.0 standard errors"},
		{"the provider", 5, 13, 5, 5, "WARN",
			"against the stored baseline recall dropped, and the side that ran beside shares that: the provider changed"},
		{"too few exchanges", 4, 13, 13, 5, "FAIL",
			"Chance does this to 0.39 % of unchanged auditors (limit 0.4 %)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFollower(t, c.projects, 20, 1)
			f.byLoss = map[string]int{"0": c.before}
			git := func(args ...string) {
				out, err := exec.Command("git",
					append([]string{"-C", f.h.dir, "-c", "user.name=a", "-c", "user.email=a@b.c"},
						args...)...).CombinedOutput()
				require.NoError(t, err, "%s", out)
			}
			git("init", "-q")
			git("add", "-A")
			git("commit", "-qm", "old")
			out, status := f.asAgent(0, f.suites+" -test.run Regression -auditor agent -trials 3")
			require.Zero(t, status, out)
			out, status = f.run(f.assay + " baseline agent")
			require.Zero(t, status, out)
			f.byLoss = map[string]int{"0": c.beside, "40": c.now}
			out, status = f.asAgent(40,
				f.suites+" -test.run Regression -auditor agent -beside git:HEAD")
			t.Log(out)
			require.Equal(t, c.verdict, judgedRow.FindStringSubmatch(out)[1], out)
			require.Equal(t, c.verdict == "FAIL", status == 1)
			require.Contains(t, strings.Join(strings.Fields(out), " "), c.text)
		})
	}
}

// TestTheMethodologysGate: with the row Gate of goals.md the methodology's own words decide at
// the first trial, whatever chance does: 5 points less is WARN, 10 points less FAIL.
func TestTheMethodologysGate(t *testing.T) {
	f := newFollower(t, 1, 20, 1)
	const rows = "\n\n| Goal | Threshold |\n|---|---|\n| Recall | >= 5 % |\n| Gate | methodology |\n"
	f.h.write("fixtures/goals.md", "# Goals"+rows+"\n# Goals: agent"+rows)
	f.byLoss = map[string]int{"0": 13, "5": 12, "10": 11}
	out, status := f.asAgent(0, f.suites+" -test.run Regression -auditor agent")
	require.Zero(t, status, out)
	out, status = f.run(f.assay + " baseline agent")
	require.Zero(t, status, out)
	for lost, want := range map[int]string{0: "PASS", 5: "WARN", 10: "FAIL"} {
		out, status = f.asAgent(lost, f.suites+" -test.run Regression -auditor agent")
		require.Equal(t, want, judgedRow.FindStringSubmatch(out)[1], out)
		require.Equal(t, want == "FAIL", status == 1, out)
		if want != "PASS" {
			require.Contains(t, strings.Join(strings.Fields(out), " "),
				"by the methodology's own words: ")
		}
	}
}
