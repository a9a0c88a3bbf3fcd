package score

import (
	"fmt"
	"math"
	"strings"

	"assay/internal/stat"
)

// Added returns in words what a variant adds over another one that ran beside it: points of
// recall and precision, dollars and minutes a trial, each with its 95 % interval. Both sides
// list the trials of the same projects in the same order. It returns "" where no project has
// a valid trial on both sides.
func Added(now, beside [][]AuditTrial) string {
	var parts []string
	for _, f := range []struct {
		name, format string
		of           func(*AuditTrial) Value
	}{
		{"points of recall", "%+.1f",
			func(t *AuditTrial) Value { return scaled(t.Result.Metrics.Recall, 100) }},
		{"of precision", "%+.1f",
			func(t *AuditTrial) Value { return scaled(t.Result.Metrics.Precision.Low, 100) }},
		{"dollars", "%+.2f", func(t *AuditTrial) Value { return Value{t.USD, t.Priced} }},
		{"minutes", "%+.1f", func(t *AuditTrial) Value { return Of(t.Seconds / 60) }},
	} {
		var pairs []stat.Stratum
		for i := range now {
			pairs = append(pairs, stat.Stratum{Now: values(now[i], f.of),
				Before: values(beside[i], f.of)})
		}
		iv, err := stat.MeanDifference(pairs, level)
		if err != nil {
			continue
		}
		text := fmt.Sprintf(f.format, iv.Center)
		if !math.IsInf(iv.Hi, 1) {
			text += fmt.Sprintf(" ("+f.format+" to "+f.format+")", iv.Lo, iv.Hi)
		}
		parts = append(parts, text+" "+f.name)
	}
	return strings.Join(parts, ", ")
}

// scaled returns v multiplied by a factor.
func scaled(v Value, by float64) Value {
	v.V *= by
	return v
}

// values returns the defined figures of the valid trials.
func values(trials []AuditTrial, of func(*AuditTrial) Value) (vs []float64) {
	for i := range trials {
		if t := &trials[i]; t.Invalid == "" && t.Result != nil {
			if v := of(t); v.Defined {
				vs = append(vs, v.V)
			}
		}
	}
	return vs
}
