package score

import "assay/internal/stat"

// RecallOver gives the recall of one record's trials together, with its 95 % interval: of
// the literal credit where literal is set. Entries of a file may depend on each other,
// as trials of an entry do. Without a trial it is undefined.
func RecallOver(trials []*Result, literal bool) (Estimate, error) {
	var obs []stat.Observation
	for _, r := range trials {
		for i := range r.Known {
			k := &r.Known[i]
			o := stat.Observation{Cluster: k.File, Value: k.Credit}
			if literal {
				o.Value = k.LiteralCredit
			}
			obs = append(obs, o)
		}
	}
	return estimate(obs, stat.Proportion)
}
