package proof

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// Prepare has nothing to build. See Runner.
func (p *Postgres) Prepare(context.Context, []string) error { return nil }

// Runtime is PostgreSQL with its major version. See Runner.
func (p *Postgres) Runtime(ctx context.Context) (string, error) {
	var version string
	if err := p.admin.QueryRow(ctx, "SHOW server_version").Scan(&version); err != nil {
		return "", err
	}
	return "postgresql " + release(version), nil
}

// Runtime is the language's program with its version, less the patch. See Runner.
func (c *Code) Runtime(ctx context.Context) (string, error) {
	args := []string{"--version"}
	if c.lang.program == "go" {
		args = []string{"version"}
	}
	out, err := exec.CommandContext(ctx, c.program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", c.program, strings.Join(args, " "), err)
	}
	return c.lang.program + " " + release(string(out)), nil
}

var versionRE = regexp.MustCompile(`\d+(\.\d+)?`)

// release gives the part of a version within which a language keeps its meaning:
// the first two numbers.
func release(version string) string { return versionRE.FindString(version) }
