package patterns

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

type rule struct {
	id, title string
	languages []string
	cwes      []audit.CWE
	severity  audit.Severity
	dimension audit.Dimension
	tainted   bool
}

// A ruleTable is what rules.txt says; its head explains the keys.
type ruleTable struct {
	rules       []rule
	languages   map[string]string         // by what follows the dot of a file name
	expressions map[string]*regexp.Regexp // "clean", "source java", "match java RULE", "but RULE"
}

var table = func() *ruleTable {
	b, _ := embedded.ReadFile("rules.txt")
	t, err := parseRules(string(b))
	if err != nil {
		panic(err) // the table is embedded: a test fails first
	}
	return t
}()

func (t *ruleTable) language(file string) string {
	return t.languages[strings.ToLower(strings.TrimPrefix(path.Ext(file), "."))]
}

// matches reports whether the named expression exists and matches text.
func (t *ruleTable) matches(name, text string) bool {
	e := t.expressions[name]
	return e != nil && e.MatchString(text)
}

var ofLanguages = regexp.MustCompile(`^((?:java|py|js|go|php| )+): `)

// parseRules reads the table. An error names the line.
func parseRules(text string) (*ruleTable, error) {
	t := &ruleTable{languages: map[string]string{}, expressions: map[string]*regexp.Regexp{}}
	pieces, whole := []string{}, map[string]string{} // expressions of several lines, by name
	for i, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(line, " ")
		if line == "" || key[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(value, " ")
		r := &rule{}
		if len(t.rules) > 0 {
			r = &t.rules[len(t.rules)-1]
		}
		var names []string // of the expression that the line holds
		var err error
		switch key {
		case "let":
			pieces = append(pieces, "{"+name+"}", rest)
		case "language":
			for ext := range strings.FieldsSeq(rest) {
				t.languages[ext] = name
			}
		case "rule":
			t.rules = append(t.rules, rule{id: name, languages: strings.Fields(rest)})
		case "about":
			err = r.about(strings.Fields(strings.ReplaceAll(value, ",", "")))
		case "title":
			r.title = value
		case "tainted":
			r.tainted = true
		case "skip", "keyword", "clean", "endpoint":
			names = []string{key}
		case "but", "unless", "with":
			names = []string{key + " " + r.id}
		case "function", "source", "comment":
			for language := range strings.SplitSeq(name, ",") {
				names, value = append(names, key+" "+language), rest
			}
		case "match":
			languages := r.languages
			if m := ofLanguages.FindStringSubmatch(value); m != nil {
				languages, value = strings.Fields(m[1]), value[len(m[0]):]
			}
			for _, language := range languages {
				names = append(names, "match "+language+" "+r.id)
			}
		default:
			err = fmt.Errorf("%q is no key: expected one of those at the head of the file", key)
		}
		for range 2 { // pieces may name pieces
			value = strings.NewReplacer(pieces...).Replace(value)
		}
		for _, name := range names {
			whole[name] = strings.TrimPrefix(whole[name]+"|"+value, "|")
			if t.expressions[name], err = regexp.Compile("(?im:" + whole[name] + ")"); err != nil {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("rules.txt:%d: %w", i+1, err)
		}
	}
	return t, nil
}

// about reads "89 564 HIGH Business Logic": CWEs, the severity, the dimension.
func (r *rule) about(words []string) (err error) {
	n := max(0, slices.IndexFunc(words, func(w string) bool { return w[0] > '9' }))
	for _, word := range words[:n] {
		cwe, _ := audit.ParseCWE(word)
		r.cwes = append(r.cwes, cwe)
	}
	if n == 0 || len(words) < n+2 {
		return fmt.Errorf("expected CWEs, a severity and a dimension")
	}
	if r.severity, err = audit.ParseSeverity(words[n]); err == nil {
		r.dimension, err = audit.ParseDimension(strings.Join(words[n+1:], " "))
	}
	return err
}
