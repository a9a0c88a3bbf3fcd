package auditor

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a shell knows by itself; behind those of the second list a program follows.
var (
	shellWords = strings.Fields(
		": . [ alias break cd continue echo eval exit false hash printf pwd read return set shift test times trap true type ulimit umask unalias unset wait")
	shellLeads = strings.Fields("command exec")
)

// programForm matches a name or an absolute path: a relative one leads into the project,
// which is not here.
var programForm = regexp.MustCompile(`^(?:[A-Za-z0-9_][A-Za-z0-9_.+-]*|~?/[A-Za-z0-9_.+~/-]*)$`)

// commandWords returns the programs that a shell command line names, in order, each once: the
// first word of every simple command, including those in substitutions. Words that the shell
// computes are left out.
func commandWords(line string) (names []string, err error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, err
	}
	own := map[string]bool{} // functions
	named := map[uint]string{}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			own[n.Name.Value] = true
		case *syntax.CallExpr:
			words := n.Args
			for len(words) > 0 && slices.Contains(shellLeads, words[0].Lit()) {
				words = words[1:]
			}
			if len(words) > 0 {
				named[words[0].Pos().Offset()] = words[0].Lit()
			}
		}
		return true
	})
	for _, at := range slices.Sorted(maps.Keys(named)) {
		name := named[at]
		if programForm.MatchString(name) && !own[name] && !slices.Contains(shellWords, name) &&
			!slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}
