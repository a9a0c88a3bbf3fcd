package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"assay/audit"
	"assay/internal/report"
)

type summaryCmd struct {
	evidence
	Format string `help:"markdown (a comment), github (annotations), gitlab (a Code Quality report) or sarif (for code scanning)." enum:"markdown,github,gitlab,sarif" default:"markdown" short:"o"`
	Link   string `help:"Address of the report, for the comment."`
}

// Run prints the summary for a pull request.
func (c *summaryCmd) Run(ctx context.Context) error {
	in, err := (&reportCmd{evidence: c.evidence}).input(ctx)
	if err != nil {
		return err
	}
	if in.Held.Fixtures == nil {
		return errors.New(strings.Join(in.Notes, "; "))
	}
	p, err := report.PullOf(in, c.Link)
	if err != nil {
		return err
	}
	switch c.Format {
	case "github":
		return p.GitHub(os.Stdout, c.at)
	case "gitlab":
		return p.GitLab(os.Stdout, c.at)
	case "sarif":
		return p.SARIF(os.Stdout, c.at)
	}
	return p.Markdown(os.Stdout)
}

// at returns a fixture's path relative to the working folder, the repository's root; "" if it
// is outside.
func (c *summaryCmd) at(pos audit.Pos) string {
	name := filepath.Join(c.Root, filepath.FromSlash(pos.File))
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(name) {
		if rel, err := filepath.Rel(here, name); err == nil {
			name = rel
		}
	}
	if st, err := os.Stat(name); err != nil || st.IsDir() || !filepath.IsLocal(name) {
		return ""
	}
	return filepath.ToSlash(name)
}
