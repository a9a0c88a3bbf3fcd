package suite

import (
	"cmp"
	"flag"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/internal/box"
)

// resumeCommand returns the command that continues a run with the same selection, flags,
// settings and server, and the prefix that any command needs to ask that server.
func (s *Suite) resumeCommand(e *env, suite string) (prefix, command string, err error) {
	registry, err := e.registry()
	if err != nil {
		return "", "", err
	}
	names := []string{"ASSAY_ROOT", "ASSAY_DB"}
	for _, who := range slices.Concat(e.cfg.Models, e.cfg.Auditors) {
		for _, name := range registry.Variables(who) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	prefix = settings(s.flags, names, os.Getenv, e.dotenv)
	return prefix, prefix + resumeWith(os.Args[0], s.flags, suite, nil), nil
}

// settings returns what the environment sets and no flag overrides, as a prefix of a
// command. A secret is written as a reference to its variable, so that the command fails
// until that is set. One of the file .env is read from there again.
func settings(flags *flag.FlagSet, names []string, getenv func(string) string,
	file map[string]bool) string {
	given := map[string]bool{}
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

// resumeWith returns the command line of go test, or of the test binary if it was compiled
// on its own, with these values in place of those of its flags; "" leaves a flag out. Without
// -run it names the suite.
func resumeWith(binary string, flags *flag.FlagSet, suite string, with map[string]string) string {
	args, prefix := []string{"go", "test"}, "-"
	if !byGoTest(binary) && strings.HasSuffix(strings.TrimSuffix(binary, ".exe"), ".test") {
		args, prefix = []string{binary}, "-test."
	}
	args = append(args, prefix+"run", cmp.Or(testFlag(flags, "run"), suite))
	if skip := testFlag(flags, "skip"); skip != "" {
		args = append(args, prefix+"skip", skip)
	}
	// audits take their time
	if t := testFlag(flags, "timeout"); with["add"] != "" && prefix == "-" {
		args = append(args, "-timeout", "0")
	} else if t != "" && t != "10m0s" && prefix == "-" { // go test's own
		args = append(args, "-timeout", t)
	}
	flags.Visit(func(f *flag.Flag) {
		if _, ok := with[f.Name]; !ok && !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	for _, name := range slices.Sorted(maps.Keys(with)) {
		switch with[name] {
		case "":
		case "true":
			args = append(args, "-"+name)
		default:
			args = append(args, "-"+name+"="+with[name])
		}
	}
	for i, a := range args {
		args[i] = Quoted(a)
	}
	return strings.Join(args, " ")
}

// byGoTest reports whether go test built this binary, and removes it.
func byGoTest(binary string) bool { return strings.Contains(filepath.ToSlash(binary), "/go-build") }

var harmless = regexp.MustCompile(`^[\w@%+=:,./~-]+$`)

// Quoted returns a word as a shell reads it: unchanged, or in quotes.
func Quoted(s string) string {
	if harmless.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
