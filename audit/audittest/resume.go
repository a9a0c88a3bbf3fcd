package audittest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// resume is the command that carries on: the same selection and flags, with the
// program that was started; what is answered is not asked again.
func (b *bench) resume() string {
	return b.env.cfg.Shard.command(resumeWith(os.Args[0], b.suite.flags))
}

// resumeWith gives the command for a test binary with these flags: go test, which
// builds its binaries in a folder of its own and removes them, or the binary that
// somebody compiled.
func resumeWith(binary string, flags *flag.FlagSet) string {
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
	args = append(args, prefix+"run", value("run", "Bench"))
	if skip := value("skip", ""); skip != "" {
		args = append(args, prefix+"skip", skip)
	}
	if t := value("timeout", ""); t != "" && t != "10m0s" && prefix == "-" { // go test's own
		args = append(args, "-timeout", t)
	}
	flags.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
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
