package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/static"
)

type scanCmd struct {
	Dir    string `arg:"" help:"Folder to analyse." type:"existingdir"`
	Format string `help:"What is written: text or sarif." enum:"text,sarif" default:"text"`
	Notes  bool   `help:"Write notes too: kinds that are seldom right on ordinary code."`
}

func (c *scanCmd) Run(ctx context.Context) error {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	opts := static.Options{}
	if fi, err := os.Stderr.Stat(); err == nil && fi.Mode()&os.ModeCharDevice != 0 {
		opts.Progress = func(what string, done, all int) { fmt.Fprintf(os.Stderr, "\r%s %d of %d files\x1b[K", what, done, all) }
		defer fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
	res, err := static.New(opts).Analyse(ctx, root.FS())
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s was not read to its end, and nothing is written of it: %w", c.Dir, err)
	}
	if err != nil {
		return err
	}
	if res.Files == 0 {
		return c.nothing("%s: there is no file that the analyser reads: expected Java, Python, JavaScript, TypeScript, Go or PHP, templates or settings outside of folders such as vendor and node_modules", c.Dir)
	}
	if c.Format == "sarif" || res.Skipped == res.Files { // where the text does not tell
		for _, w := range res.Warnings {
			fmt.Fprintln(os.Stderr, visible(w))
		}
	}
	if res.Skipped == res.Files {
		return c.nothing("%s: none of its %d files could be analysed, and nothing is known of them", c.Dir, res.Files)
	}
	if c.Format == "sarif" {
		err = findings.WriteSARIF(os.Stdout, "static", static.RulesHash(), res.Findings)
	} else {
		err = res.WriteText(os.Stdout, c.Notes, visible)
	}
	if err == nil && len(res.Open()) > 0 {
		return status(1)
	}
	return err
}

// nothing gives the error that it formats, and writes it where SARIF is waited for.
func (c *scanCmd) nothing(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if c.Format == "sarif" {
		return errors.Join(err, findings.WriteFailedSARIF(os.Stdout, "static", static.RulesHash(), err))
	}
	return err
}

// visible is text without what a terminal obeys.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if audit.Invisible(r) {
			return '?'
		}
		return r
	}, s)
}
