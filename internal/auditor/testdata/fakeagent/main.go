//go:build unix

// Command fakeagent is an audit agent that does as it is told, well or badly: it
// finds k of n, misplaces, invents, repeats, breaks off, crashes, hangs, floods,
// looks for the key. Tests build it and run it as an untrusted program:
//
//	fakeagent -key findings.json -find 3 -invent 1 -envelope claude
//
// The file of -key is a JSON array of findings: {"id", "cwes": [89], "severity":
// "HIGH", "file", "function", "lines": {"start": 1, "end": 2}, "title"}.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// options are what the agent is told.
type options struct {
	key, format, envelope        string
	find, misplace, invent, same int
	vary                         float64
	seed                         uint64
	in, out                      int64
	usd                          float64
	truncate, silent, escape     bool

	crash, hang, deaf   bool
	fork, hold, ready   string
	flood, alloc        int64
	snoop, where, write string
	exit                int

	books, until, say string
	fail, early       int
}

func parse() *options {
	o := &options{}
	flag.StringVar(&o.key, "key", "", "JSON array of findings that it knows")
	flag.StringVar(&o.format, "format", "text", "of its report: text or sarif")
	flag.StringVar(&o.envelope, "envelope", "", "wrap the report as claude, claude-stream, codex, gemini, gemini-stream, opencode or copilot")
	flag.IntVar(&o.find, "find", -1, "how many it finds; -1: all")
	flag.IntVar(&o.misplace, "misplace", 0, "how many of these it puts at the top of the next one's file")
	flag.IntVar(&o.invent, "invent", 0, "findings in files that are not there")
	flag.IntVar(&o.same, "same", 0, "how often it says the first finding again")
	flag.Float64Var(&o.vary, "vary", 0, "chance that it overlooks a finding, 0 to 1")
	flag.Uint64Var(&o.seed, "seed", 0, "of -vary; 0: another one each time")
	flag.Int64Var(&o.in, "in", 0, "tokens read, for the envelope")
	flag.Int64Var(&o.out, "out", 0, "tokens written, for the envelope")
	flag.Float64Var(&o.usd, "usd", 0, "cost, for the envelope")
	flag.BoolVar(&o.truncate, "truncate", false, "break the output off in the middle")
	flag.BoolVar(&o.silent, "silent", false, "say nothing at all")
	flag.BoolVar(&o.escape, "escape", false, "put terminal escapes and forged test events into everything")
	flag.BoolVar(&o.crash, "crash", false, "die of a signal after half of the output")
	flag.BoolVar(&o.hang, "hang", false, "never end; on TERM say so and go")
	flag.BoolVar(&o.deaf, "deaf", false, "never end, not on TERM either")
	flag.StringVar(&o.fork, "fork", "", "leave two children that sleep, one in a session of its own, each with a lock on this file (.1, .2)")
	flag.StringVar(&o.hold, "hold", "", "lock this file and sleep")
	flag.StringVar(&o.ready, "ready", "", "write this file when the misdeeds have begun")
	flag.Int64Var(&o.flood, "flood", 0, "bytes that it prints first")
	flag.Int64Var(&o.alloc, "alloc", 0, "bytes of memory that it uses")
	flag.StringVar(&o.snoop, "snoop", "", "look for this text up the tree, in /proc and in -where")
	flag.StringVar(&o.where, "where", "", "paths for -snoop, separated by commas")
	flag.StringVar(&o.write, "write", "", "files that it tries to write, separated by commas")
	flag.IntVar(&o.exit, "exit", 0, "exit status")
	flag.StringVar(&o.books, "books", "", "append to this file a line when it begins, and one with its cost when it ends")
	flag.StringVar(&o.until, "until", "", "do not end before this file is there")
	flag.IntVar(&o.fail, "fail", 0, "by -books, how many runs fail with -say on standard error; with -1 all")
	flag.StringVar(&o.say, "say", "", "what a run that fails says")
	flag.IntVar(&o.early, "early", 0, "by -books, how many runs break off in the middle of the report")
	flag.Parse()
	return o
}

func main() {
	o := parse()
	if o.hold != "" {
		holdLock(o.hold)
	}
	nth, err := o.begin()
	if err == nil {
		err = o.misbehave()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeagent:", err)
		os.Exit(1)
	}
	if o.fail < 0 || nth <= o.fail {
		fmt.Fprintln(os.Stderr, o.say)
		os.Exit(1)
	}
	o.truncate = o.truncate || nth <= o.early
	out, err := o.report()
	if err == nil {
		err = o.end()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakeagent:", err)
		os.Exit(1)
	}
	switch {
	case o.silent:
		out = ""
	case o.truncate, o.crash:
		out = out[:len(out)/2]
	}
	fmt.Print(out)
	if o.crash {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	os.Exit(o.exit)
}

// misbehave does what it was told before it reports.
func (o *options) misbehave() error {
	if o.escape {
		fmt.Fprint(os.Stderr, "\x1b[2J\x1b]0;owned\x07\x16--- FAIL: TestForged\n")
	}
	if o.fork != "" {
		if err := o.forkTwo(); err != nil {
			return err
		}
	}
	if o.snoop != "" {
		snoop(o.snoop, strings.Split(o.where, ","))
	}
	for _, name := range strings.Split(o.write, ",") {
		if name != "" {
			tryWrite(name)
		}
	}
	if o.alloc > 0 {
		use(o.alloc)
	}
	if o.flood > 0 {
		flood(o.flood)
	}
	if o.hang || o.deaf {
		o.sleep()
	}
	return o.isReady()
}

func (o *options) isReady() error {
	if o.ready == "" {
		return nil
	}
	return os.WriteFile(o.ready, []byte("ready\n"), 0o644)
}

// sleep never ends by itself.
func (o *options) sleep() {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	if err := o.isReady(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for range term {
		if o.hang {
			fmt.Fprintln(os.Stderr, "told to stop")
			os.Exit(1)
		}
		fmt.Fprintln(os.Stderr, "told to stop, and did not")
	}
}

// forkTwo leaves two children behind: one in our group, one that left it.
func (o *options) forkTwo() error {
	for i, attr := range []*syscall.SysProcAttr{nil, {Setsid: true}} {
		cmd := exec.Command(os.Args[0], "-hold", fmt.Sprintf("%s.%d", o.fork, i+1))
		cmd.SysProcAttr = attr
		cmd.Stderr = os.Stderr
		ready, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		if _, err := ready.Read(make([]byte, 1)); err != nil {
			return fmt.Errorf("the child did not start: %w", err)
		}
	}
	return nil
}

// holdLock locks the file, says so, and sleeps.
func holdLock(name string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print("x")
	time.Sleep(time.Hour)
}

// use touches every page of so much memory.
func use(n int64) {
	b := make([]byte, n)
	for i := int64(0); i < n; i += 4096 {
		b[i] = 1
	}
	runtime.KeepAlive(b)
}

func flood(n int64) {
	block := strings.Repeat("all work and no play\n", 3000)
	for n > 0 {
		k, err := os.Stdout.WriteString(block[:min(int64(len(block)), n)])
		if err != nil {
			os.Exit(1)
		}
		n -= int64(k)
	}
}
