package auditor

import (
	"regexp"
	"slices"
	"strings"
)

// What a shell knows by itself. After those of the second list another command
// follows on the line.
var (
	shellWords = strings.Fields(": . [ alias break case cd continue done echo esac eval exit export false fi for hash in printf pwd read return set shift test times trap true type ulimit umask unalias unset wait }")
	shellLeads = strings.Fields("! { command do elif else exec if then until while")
)

var programForm = regexp.MustCompile(`^[A-Za-z0-9_~./][A-Za-z0-9_.+~/-]*$`)

// commandWords gives the programs that a shell command line names, in order, each
// once: the first word of every simple command, that of command substitutions
// within double quotes among them. It is no shell: what it cannot read it passes
// over.
func commandWords(line string) []string {
	var names []string
	var open []byte  // quotes and substitutions that are open
	var after []bool // of each substitution: whether a command may follow, as after NAME=$(...)
	word, leads := "", true
	end := func() {
		name := word
		word = ""
		if name == "" || !leads {
			return
		}
		switch before, _, assigns := strings.Cut(name, "="); {
		case assigns && programForm.MatchString(before), slices.Contains(shellLeads, name):
			return // a command follows
		case programForm.MatchString(name) && !slices.Contains(shellWords, name) && !slices.Contains(names, name):
			names = append(names, name)
		}
		leads = false
	}
	line = withoutDocuments(line)
	for i := 0; i < len(line); i++ {
		b := line[i]
		quoted := len(open) > 0 && open[len(open)-1] == '"'
		switch {
		case b == '\\':
			i++
			word += "?"
		case b == '"' && quoted:
			open = open[:len(open)-1]
			word += "?" // what was quoted is no plain name
		case strings.HasPrefix(line[i:], "$("):
			after = append(after, leads && strings.HasSuffix(word, "="))
			end()
			open, leads = append(open, '('), true
			i++
		case quoted:
		case b == '"':
			open = append(open, '"')
		case b == '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return names
			}
			i += n + 1
			word += "?"
		case b == ')' && len(open) > 0:
			end()
			open, leads, after = open[:len(open)-1], after[len(after)-1], after[:len(after)-1]
		case b == '&' && strings.HasSuffix(word, ">"): // 2>&1
			word += "?"
		case strings.IndexByte(";|&()\n", b) >= 0:
			end()
			leads = true
		case b == ' ' || b == '\t':
			end()
		default:
			word += string(b)
		}
	}
	end()
	return names
}

var document = regexp.MustCompile(`<<-?\s*['"]?(\w+)['"]?`)

// withoutDocuments leaves out what stands in here-documents.
func withoutDocuments(text string) string {
	var kept []string
	until := ""
	for line := range strings.Lines(text) {
		switch m := document.FindStringSubmatch(line); {
		case until != "":
			if strings.TrimSpace(line) == until {
				until = ""
			}
		case m != nil:
			until = m[1]
			kept = append(kept, strings.Replace(line, m[0], "", 1))
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
