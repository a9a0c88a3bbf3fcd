package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"assay/audit/fixture"
	"assay/internal/record"
	"assay/internal/suite"
)

type triggerCmd struct {
	Root          string `help:"Folder with fixtures/triggers.md." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	SinceLastFull bool   `help:"Ask no paths: full where the newest full record of records/ is a month old."`
	Explain       bool   `help:"Give the rule of every path, not that of the answer alone."`
	ExitCode      bool   `help:"Tell the answer by the exit status too: 0 none, 10 smoke, 20 full."`
}

// The exit statuses of --exit-code. 1 stays what it is: an error, and no answer.
var triggerStatus = map[string]int{record.SuiteNone: 0, record.SuiteSmoke: 10, record.SuiteFull: 20}

// A status ends the program with an exit status and no message.
type status int

// Error returns the exit status as text.
func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// ExitCode is what kong ends the program with.
func (s status) ExitCode() int { return int(s) }

// Help returns the help text.
func (c *triggerCmd) Help() string {
	return `Reads changed paths from standard input, a line each, and answers on standard
output with one word, full, smoke or none; the rule that said so, with its line,
goes to standard error.

    git diff --name-only --no-renames main | assay trigger

The exit status is 0 for every answer and 1 where there is none: no rules, or no
path at all, as when git failed. A folder without rules has Assay's own. With --exit-code it is 0 for none, 10 for smoke
and 20 for full (go run turns each into 1: build assay first).`
}

// Run prints which suite the changed paths need.
func (c *triggerCmd) Run() error { return c.answer(os.Stdin, os.Stdout, os.Stderr, time.Now()) }

// answer prints the suite to out and the rule to why.
func (c *triggerCmd) answer(in io.Reader, out, why io.Writer, now time.Time) error {
	needed, err := "", error(nil)
	if c.SinceLastFull {
		needed, err = c.last(why, now)
	} else {
		needed, err = c.paths(in, why)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(out, needed)
	if c.ExitCode && triggerStatus[needed] != 0 {
		return status(triggerStatus[needed])
	}
	return nil
}

// last returns the suite that is due since the last full run.
func (c *triggerCmd) last(why io.Writer, now time.Time) (string, error) {
	records, err := record.ReadAll(under(c.Root, "records"))
	if err != nil {
		return "", err
	}
	needed, reason := record.SinceLastFull(records, now)
	fmt.Fprintln(why, reason)
	return needed, nil
}

// paths returns the suite that the changed paths need.
func (c *triggerCmd) paths(in io.Reader, why io.Writer) (string, error) {
	fsys, err := suite.Checkout(c.Root) // the rules may be Assay's own
	if err != nil {
		return "", err
	}
	rules, err := fixture.ReadTriggers(fsys, "fixtures/triggers.md")
	if err != nil {
		return "", err
	}
	paths, err := record.ReadPaths(in)
	if err != nil {
		return "", err
	}
	if len(paths) == 0 {
		return "", errors.New(
			"no changed path on standard input: expected what git diff --name-only --no-renames prints; where nothing changed, nothing needs to ask")
	}
	d, err := record.Decide(rules, paths)
	if err != nil {
		return "", err
	}
	if c.Explain {
		for _, p := range d.Paths {
			fmt.Fprintln(why, p)
		}
	} else {
		fmt.Fprintln(why, d.Why())
	}
	return d.Suite, nil
}
