package proof

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// edges derives from the first benign set of a family what a client may send
// besides: each bound value in turn as NULL, and as zero, negative or the largest
// integer, as an empty text or list, as a list that holds NULL, or as a time without
// end, whichever its type allows. What the session
// gives stays, and so does pasted text, which has attack sets of its own.
func edges(app *audit.App, fam *audit.Family) []audit.ParamSet {
	i := slices.IndexFunc(fam.Sets, func(s audit.ParamSet) bool { return s.Set == audit.SetBenign && s.Race == nil })
	if i < 0 || len(app.Oracles) == 0 {
		return nil // a harness reads its parameters as it likes
	}
	base := fam.Sets[i]
	var all []audit.ParamSet
	for _, name := range slices.Sorted(maps.Keys(base.Values)) {
		pasted := func(c *audit.Case) bool { return strings.Contains(c.Code, "${"+name+"}") }
		if slices.Contains(app.Session, name) || slices.ContainsFunc(fam.Cases, pasted) {
			continue
		}
		for _, v := range edgesOf(fam, name) {
			set := base
			set.Set = audit.SetAttack
			set.Values = maps.Clone(base.Values)
			set.Values[name] = v
			set.Edge = name + " = " + jsonText(v)
			all = append(all, set)
		}
	}
	return all
}

var aDay = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)

// edgesOf tells a parameter's type by the values that the family's sets give it.
func edgesOf(fam *audit.Family, name string) []any {
	for _, s := range fam.Sets {
		switch v := s.Values[name].(type) {
		case json.Number:
			return []any{nil, json.Number("0"), json.Number("-1"), json.Number("2147483647")}
		case string:
			if aDay.MatchString(v) {
				return []any{nil, "infinity", "-infinity"}
			}
			return []any{nil, ""}
		case []any:
			return []any{nil, []any{}, []any{nil}}
		case bool, map[string]any:
			return []any{nil}
		}
	}
	return nil // NULL in every set
}
