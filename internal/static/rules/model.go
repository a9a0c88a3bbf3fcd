package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (s *Set) addModel(m *Model) error {
	tables, err := s.tables(m.Lang)
	if err != nil {
		return err
	}
	if m.Kind == "source" && m.Note == "" && (m.Entry.Regexp == nil || !strings.HasPrefix(m.Entry.String(), "^field of")) {
		return fmt.Errorf("a source needs a note: what data it brings")
	}
	for _, t := range tables {
		to := map[string]map[string][]Pattern{"source": t.Sources, "clean": t.Cleans, "guard": t.Guards, "pass": t.Passes, "stop": t.Stops, "type": t.Types}[m.Kind]
		if to == nil {
			return fmt.Errorf("%q is no kind: expected source, clean, guard, pass, stop or type", m.Kind)
		}
		if m.Param.Regexp != nil {
			t.Params = append(t.Params, m)
		}
		if m.Entry.Regexp != nil {
			t.Entries = append(t.Entries, m)
		}
		if err := cmp.Or(addPatterns(to, m.Call, "", nil, m), addPatterns(t.SourceMembers, m.Member, "", nil, m), addPatterns(t.SourceIdents, m.Ident, "", nil, m)); err != nil {
			return err
		}
	}
	return nil
}

// addPatterns reads "recv.a|b, c": alternatives of names behind a receiver,
// several separated by commas.
func addPatterns(to map[string][]Pattern, text, pre string, m *Match, model *Model) error {
	for one := range strings.SplitSeq(text, ", ") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		recv, names := "", one
		var re *regexp.Regexp
		if strings.HasPrefix(one, "/") {
			end := strings.LastIndex(one, "/.")
			if end <= 0 {
				return fmt.Errorf("%q: expected /expression/.name", one)
			}
			var err error
			if re, err = regexp.Compile("(?i)" + one[1:end]); err != nil {
				return err
			}
			recv, names = "/", one[end+2:]
		} else if i := strings.LastIndexByte(one, '.'); i >= 0 {
			recv, names = one[:i], one[i+1:]
		}
		if strings.Contains(recv, "|") && re == nil {
			return fmt.Errorf("%q: alternatives stand behind one receiver only", one)
		}
		if pre != "" && recv == "" {
			recv = "?" // "new p.T" and "new T" alike
		}
		for _, n := range strings.Split(names, "|") {
			n = strings.TrimSpace(n)
			if n == "" {
				return fmt.Errorf("%q: an empty name", text)
			}
			to[pre+n] = append(to[pre+n], Pattern{Recv: recv, RecvRE: re, Match: m, Model: model})
		}
	}
	return nil
}

// Data reads an embedded table that a check owns.
func Data(name string, into any) error {
	b, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	return decode(name, b, into)
}

// decode reads a file of rules, in which a field that into has not is an error.
func decode(name string, b []byte, into any) error {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("rules/%s: %w", name, err)
	}
	return nil
}
