package planted

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/internal/seal"
)

// ErrMissing means that a program or package of the project is not installed. The error that
// wraps it names it and what to install.
var ErrMissing = errors.New("not installed")

// programs maps the programs that commands may use to their Debian packages.
var programs = [][2]string{{"python3", "python3"}, {"psql", "postgresql-client"}, {"go", "golang"},
	{"node", "nodejs"}, {"npm", "npm"},
	{"npx", "npm"}, {"php", "php-cli php-pgsql"}, {"composer", "composer"},
	{"java", "default-jdk-headless"},
	{"javac", "default-jdk-headless"}, {"mvn", "maven"}, {"gradle", "gradle"},
	{"gunicorn", "gunicorn"}}

// missing returns an error that lists the programs and packages that are not installed, apart
// from programs in the folder bin.
func (p *Template) missing(bin string) error {
	c := p.Commands
	lines := strings.Join([]string{"python3", c.Setup, c.Build, c.Migrate, c.Start, c.Test,
		c.Functional, c.Exploit}, " ; ")
	var lacks []string
	for _, prog := range programs {
		named := regexp.MustCompile(`(?:^|[\s'"(;&|])` + regexp.QuoteMeta(prog[0]) +
			`(?:[\s'")]|$)`)
		if !named.MatchString(lines) {
			continue
		}
		if _, err := os.Stat(filepath.Join(bin, prog[0])); bin != "" && err == nil {
			continue
		}
		if _, err := exec.LookPath(prog[0]); err != nil {
			lacks = append(lacks, fmt.Sprintf("%s (Debian's %s)", prog[0], prog[1]))
		}
	}
	if _, err := exec.LookPath("dpkg-query"); err == nil {
		for _, pkg := range p.Packages {
			out, err := exec.Command("dpkg-query", "-W", "-f", "${Status}", pkg).Output()
			if err != nil || !strings.Contains(string(out), "ok installed") {
				lacks = append(lacks, "Debian's package "+pkg)
			}
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%s: %w: %s", p.Name, ErrMissing, strings.Join(lacks, ", "))
	}
	return nil
}

// prepare runs the setup, unless cache holds its result, and returns the folder of the result.
// The folder's name is a hash of setup/ and the command.
func (p *Template) prepare(ctx context.Context, cache, plant string) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n", p.Commands.Setup)
	for _, name := range slices.Sorted(maps.Keys(p.tools)) {
		if strings.HasPrefix(name, "setup/") {
			fmt.Fprintf(sum, "%s %d\n%s", name, len(p.tools[name]), p.tools[name])
		}
	}
	dir := filepath.Join(cache, p.Name+"-"+hex.EncodeToString(sum.Sum(nil))[:16])
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	lock, err := seal.Lock(ctx, dir+".lock")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if _, err := os.Stat(dir + ".done"); err == nil {
		return dir, nil
	}
	if err := p.install(ctx, dir, plant); err != nil {
		return "", err
	}
	return dir, os.WriteFile(dir+".done", nil, 0o600)
}

// install runs the setup in an empty folder.
func (p *Template) install(ctx context.Context, dir, plant string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := p.writeTools(dir, "setup/"); err != nil || p.Commands.Setup == "" {
		return err
	}
	env := append(environment("", network...), "PLANT="+plant, "SETUP="+dir)
	_, err := step{"setup", p.Commands.Setup, dir, env, setupTime}.run(ctx)
	return err
}
