package record

import (
	"fmt"
	"strings"

	"assay/audit"
	"assay/audit/score"
)

// maxNamed is how many entries or hosts a note names; the rest is counted.
const maxNamed = 20

// Ended counts the runs of all trials that came to an end by themselves, and those
// of them that ended early.
func (r *Record) Ended() (runs, early int) {
	for _, t := range r.Trials {
		runs, early = runs+t.Runs, early+t.EarlyEnds
	}
	return runs, early
}

// Broken says which runs ended early, were turned away or prove nothing, and why,
// trial by trial; after those of the record the old auditor's that ran beside it.
// nil where every trial was one whole run.
func (r *Record) Broken() []string {
	var notes []string
	if runs, early := r.Ended(); early > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d runs ended early", early, runs))
	}
	for i, t := range r.Trials {
		for _, why := range t.Earlier {
			notes = append(notes, fmt.Sprintf("trial %d was tried again: %s", i+1, why))
		}
		if t.Invalid != "" {
			notes = append(notes, fmt.Sprintf("trial %d proves nothing: %s", i+1, t.Invalid))
		}
	}
	if r.Beside != nil {
		for _, n := range r.Beside.Broken() {
			notes = append(notes, "beside it, "+r.Beside.Auditor+": "+n)
		}
	}
	return notes
}

func (r *Record) trialNotes() []string {
	notes := r.Broken()
	if n := r.consumed(); n != "" {
		notes = append(notes, n)
	}
	said := map[string]bool{}
	for _, t := range r.Trials {
		if t.Exposed != "" && !said[t.Exposed] {
			said[t.Exposed] = true
			notes = append(notes, "the auditor was "+t.Exposed)
		}
		if t.Confined != "" && !said[t.Confined] {
			said[t.Confined] = true
			notes = append(notes, "confined: "+t.Confined)
		}
	}
	if r.Unconfirmed() {
		notes = append(notes, "model unconfirmed: "+r.Model+
			" was asked, and nothing says who answered")
	}
	if n := r.traffic(); n != "" {
		notes = append(notes, n)
	}
	return append(notes, Together(r.Counting())...)
}

func (r *Record) traffic() string {
	var all []audit.Traffic
	for _, t := range r.Trials {
		all = audit.AddTraffic(all, t.Network)
	}
	var hosts []string
	for _, t := range all[:min(len(all), maxNamed)] {
		said := fmt.Sprintf("%s (%d bytes sent, %d received", t.Host, t.Sent, t.Received)
		if t.Connections == 0 {
			said = t.Host + " (not let through"
		}
		if t.Refused > 0 {
			said += fmt.Sprintf(", refused %d times", t.Refused)
		}
		hosts = append(hosts, said+")")
	}
	if n := len(all) - len(hosts); n > 0 {
		hosts = append(hosts, fmt.Sprintf("%d more", n))
	}
	if len(hosts) == 0 {
		return ""
	}
	return "network: " + strings.Join(hosts, ", ")
}

// Consumed sums what the trials took; of memory, in bytes, the most.
func (r *Record) Consumed() (sum audit.Usage, seconds float64, memory int64) {
	sum.Priced = true
	for _, t := range r.Trials {
		sum = sum.Add(t.Usage)
		seconds += t.Seconds
		memory = max(memory, t.Memory)
	}
	return sum, seconds, memory
}

// consumed tells the means over the trials.
func (r *Record) consumed() string {
	if len(r.Trials) == 0 {
		return ""
	}
	sum, seconds, memory := r.Consumed()
	n := float64(len(r.Trials))
	parts := []string{fmt.Sprintf("%.1f s", seconds/n)}
	if memory > 0 {
		parts = append(parts, fmt.Sprintf("%.0f MB at its peak", float64(memory)/1e6))
	}
	if sum.TokensIn+sum.TokensOut > 0 {
		parts = append(parts, fmt.Sprintf("%.0f tokens read and %.0f written",
			float64(sum.TokensIn)/n, float64(sum.TokensOut)/n))
	}
	if sum.Turns > 0 {
		parts = append(parts, fmt.Sprintf("%.0f turns", float64(sum.Turns)/n))
	}
	switch {
	case sum.Priced && sum.USD > 0:
		parts = append(parts, fmt.Sprintf("%.4g USD", sum.USD/n))
	case sum.TokensIn+sum.TokensOut > 0:
		parts = append(parts, "the agent states no cost")
	}
	return fmt.Sprintf("consumed, as the mean of %d: %s", len(r.Trials), strings.Join(parts, ", "))
}

// Together returns what several trials found together, a line each; nothing of a single one.
func Together(results []*score.Result) []string {
	if len(results) < 2 {
		return nil
	}
	t, err := score.OverTrials(results)
	if err != nil {
		return []string{"the trials cannot be put together: " + err.Error()}
	}
	share := func(p float64) string { return score.Of(p).String() }
	notes := []string{
		fmt.Sprintf(
			"%d trials, entries matched in full: pass@1 %s, pass@%d %s (some trial), pass^%d %s (every trial)",
			t.N, share(t.PassAt[0]), t.N, share(t.PassAt[t.N-1]), t.N, share(t.PassAll[t.N-1])),
		fmt.Sprintf(
			"of %d vulnerabilities %d were found in all trials, %d in some, %d in their union",
			len(t.Entries),
			t.Intersection.Known, t.Union.Known-t.Intersection.Known, t.Union.Known),
		fmt.Sprintf("findings in all trials: %d, in their union: %d", t.Intersection.Findings,
			t.Union.Findings),
	}
	var unsteady []string
	for _, e := range t.Entries {
		if e.Found > 0 && e.Found < t.N {
			unsteady = append(unsteady, fmt.Sprintf("%s %d/%d", e.ID, e.Found, t.N))
		}
	}
	if len(unsteady) > 0 {
		more := ""
		if n := len(unsteady) - maxNamed; n > 0 {
			unsteady, more = unsteady[:maxNamed], fmt.Sprintf(" and %d more", n)
		}
		notes = append(notes, "found by some trials and not by all: "+strings.Join(unsteady, ", ")+
			more)
	}
	return notes
}
