package score

import (
	"cmp"
	"errors"
	"slices"

	"assay/internal/stat"
)

// An AuditedByTwo is a project with the trials of two auditors, scored by the same
// rules and key.
type AuditedByTwo struct{ A, B []*Result }

// CompareAuditors sets auditor A against auditor B in recall over the entries of
// projects that both audited, at 95 %: paired entry by entry, a half for a half
// credit, the entries of one file as a family. It asks whether the difference would
// hold on other files like these. It returns an error where there is no trial on a
// side, a *[MismatchError] where a project's were scored by different rules or keys.
func CompareAuditors(projects ...AuditedByTwo) (Comparison, error) {
	var entries []stat.Item
	for _, p := range projects {
		all := slices.Concat(p.A, p.B)
		if len(p.A) == 0 || len(p.B) == 0 {
			return Comparison{},
				errors.New("score: a project without a trial that counts on both sides: expected one by each auditor at least")
		}
		if err := checkComparable(all); err != nil {
			return Comparison{}, err
		}
		entries = append(entries, items(all[0].Project, p.A, p.B, false)...)
	}
	c, err := stat.Compare(entries, level)
	if err != nil {
		return Comparison{}, err
	}
	return comparison(&c), nil
}

// items returns the entries of a project with their credits on both sides. Entries of one file
// form a family, because they may be found together.
func items(project string, now, baseline []*Result, literal bool) []stat.Item {
	is, was := Credits(now, literal), Credits(baseline, literal)
	var out []stat.Item
	for _, k := range now[0].Known {
		out = append(out, stat.Item{Group: project, ID: project + "/" + k.ID,
			Family: project + "/" + cmp.Or(k.File, k.ID), Bad: true,
			Baseline: was[k.ID], Now: is[k.ID]})
	}
	return out
}

// FoundBy returns the entries that some of these trials matched in full and none of the others
// matched at all, in the order of the key.
func FoundBy(these, others []*Result) []EntryResult {
	if len(these) == 0 {
		return nil
	}
	var found []EntryResult
	a, b := Credits(these, false), Credits(others, false)
	for _, k := range these[0].Known {
		if slices.Contains(a[k.ID], 1) && mean(b[k.ID], Of).V == 0 {
			found = append(found, EntryResult{ID: k.ID, File: k.File, Dimension: k.Dimension,
				Corroborated: k.Corroborated})
		}
	}
	return found
}

// Credits returns the credit of each entry in each trial, by the entry's ID: the order of
// entries in a key may change without changing its hash.
func Credits(trials []*Result, literal bool) map[string][]float64 {
	m := map[string][]float64{}
	for _, r := range trials {
		for _, k := range r.Known {
			c := k.Credit
			if literal {
				c = k.MethodologyCredit
			}
			m[k.ID] = append(m[k.ID], c)
		}
	}
	return m
}
