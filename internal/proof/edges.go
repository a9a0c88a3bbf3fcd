package proof

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// edges returns additional parameter sets, derived from the first benign set of a family: each
// bound value in turn is replaced by NULL, and by zero, a negative number or the largest
// integer, an empty text or list, a list that holds NULL, or an infinite time, as its type
// allows. Values of the session are kept. Values that are pasted into the code are kept too,
// since they have attack sets of their own.
func edges(app *audit.App, fam *audit.Family) []audit.ParamSet {
	i := slices.IndexFunc(fam.Sets,
		func(s audit.ParamSet) bool { return s.Set == audit.SetBenign && s.Race == nil })
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

// aDay matches a date.
var aDay = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)

// edgesOf returns the edge values of a parameter, whose type it takes from the family's sets;
// nil if all of them are NULL.
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
