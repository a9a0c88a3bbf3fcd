package suite

import (
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// resume is the command that carries on: the same selection, flags and settings,
// with the program that was started; what is answered is not asked again.
func (s *Suite) resume(e *env, suite string) string {
	return e.cfg.Shard.command(settings(s.flags, environment) + resumeWith(os.Args[0], s.flags, suite))
}

// settings gives what the environment says, and no flag overrides, in front of a
// command. A password in a URL is not repeated: the command then fails until it is
// filled in, instead of asking everything again into another database.
func settings(flags *flag.FlagSet, getenv func(string) string) string {
	given := map[string]bool{"force": true} // to carry on is to keep what is answered
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	var names []string
	for _, f := range append(flagNames, boolNames...) {
		if !given[f.name] {
			names = append(names, variable(f.name))
		}
	}
	var out strings.Builder
	for _, name := range append(names, "ASSAY_ROOT", "ASSAY_DB") {
		value := getenv(name)
		if value == "" {
			continue
		}
		if u, err := url.Parse(value); err == nil && u.User != nil {
			value = u.Redacted()
		}
		out.WriteString(name + "=" + quoted(value) + " ")
	}
	return out.String()
}

// resumeWith gives the command for a test binary with these flags: go test, which
// builds its binaries in a folder of its own and removes them, or the binary that
// somebody compiled. Where -run does not say, it is the suite that is named.
func resumeWith(binary string, flags *flag.FlagSet, suite string) string {
	value := func(name, otherwise string) string {
		if f := flags.Lookup("test." + name); f != nil && f.Value.String() != "" {
			return f.Value.String()
		}
		return otherwise
	}
	args, prefix := []string{"go", "test"}, "-"
	if !strings.Contains(filepath.ToSlash(binary), "/go-build") && strings.HasSuffix(strings.TrimSuffix(binary, ".exe"), ".test") {
		args, prefix = []string{binary}, "-test."
	}
	args = append(args, prefix+"run", value("run", suite))
	if skip := value("skip", ""); skip != "" {
		args = append(args, prefix+"skip", skip)
	}
	if t := value("timeout", ""); t != "" && t != "10m0s" && prefix == "-" { // go test's own
		args = append(args, "-timeout", t)
	}
	flags.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && f.Name != "force" {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	for i, a := range args {
		args[i] = quoted(a)
	}
	return strings.Join(args, " ")
}

var harmless = regexp.MustCompile(`^[\w@%+=:,./~-]+$`)

// quoted makes one word of a shell's command line.
func quoted(s string) string {
	if harmless.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
