package suite

import (
	"cmp"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/internal/box"
)

// resume is the command that carries on with the same selection, flags, settings and server,
// and before what any command has in front of it to ask that server.
func (s *Suite) resume(e *env, suite string) (before, command string, err error) {
	dir, err := e.directory()
	if err != nil {
		return "", "", err
	}
	names := []string{"ASSAY_ROOT", "ASSAY_DB"}
	for _, who := range slices.Concat(e.cfg.Models, e.cfg.Auditors) {
		for _, name := range dir.Variables(who) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	before = settings(s.flags, names, os.Getenv, e.file)
	return before, before + resumeWith(os.Args[0], s.flags, suite), nil
}

// settings gives what the environment says, and no flag overrides, in front of a
// command. A secret stands there by its name: the command then fails until that is
// set, instead of asking with another, or everything again into another database.
// One of the file .env is read from there again.
func settings(flags *flag.FlagSet, names []string, getenv func(string) string, file map[string]bool) string {
	given := map[string]bool{"force": true} // to carry on is to keep what is answered
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var all []string
	for _, f := range options {
		if !given[f.name] {
			all = append(all, variable(f.name))
		}
	}
	var out strings.Builder
	for _, name := range append(all, names...) {
		value := getenv(name)
		secret := box.Secret(name)
		if u, err := url.Parse(value); err == nil && u.User != nil {
			secret = true
		}
		switch {
		case value == "", secret && file[name]:
		case secret:
			out.WriteString(name + `="${` + name + `:?}" `)
		default:
			out.WriteString(name + "=" + Quoted(value) + " ")
		}
	}
	return out.String()
}

// resumeWith gives go test, which removes the binary that it builds, or the one that somebody
// compiled. Where -run does not say, it is the suite that is named.
func resumeWith(binary string, flags *flag.FlagSet, suite string) string {
	args, prefix := []string{"go", "test"}, "-"
	if !byGoTest(binary) && strings.HasSuffix(strings.TrimSuffix(binary, ".exe"), ".test") {
		args, prefix = []string{binary}, "-test."
	}
	args = append(args, prefix+"run", cmp.Or(testFlag(flags, "run"), suite))
	if skip := testFlag(flags, "skip"); skip != "" {
		args = append(args, prefix+"skip", skip)
	}
	if t := testFlag(flags, "timeout"); t != "" && t != "10m0s" && prefix == "-" { // go test's own
		args = append(args, "-timeout", t)
	}
	flags.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && f.Name != "force" {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	for i, a := range args {
		args[i] = Quoted(a)
	}
	return strings.Join(args, " ")
}

// assay gives the command line of the command on this folder, as it is started here.
func (e *env) assay(args string) string {
	program := "assay "
	if _, err := os.Stat("cmd/assay/main.go"); err == nil {
		program = "go run ./cmd/assay "
	}
	if e.root.other != nil {
		args += " --root " + Quoted(e.root.Dir)
	}
	return program + args
}

// byGoTest reports whether go test built this binary, and removes it.
func byGoTest(binary string) bool { return strings.Contains(filepath.ToSlash(binary), "/go-build") }

var harmless = regexp.MustCompile(`^[\w@%+=:,./~-]+$`)

// Quoted gives a word as a shell reads it: as it is, or in quotes.
func Quoted(s string) string {
	if harmless.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
