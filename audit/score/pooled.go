package score

import (
	"fmt"
	"slices"

	"assay/internal/stat"
)

// Pooled are the figures of one auditor over several projects, each project's as the mean
// of its trials.
type Pooled struct {
	Projects  int       `json:"projects"`
	Trials    int       `json:"trials"`    // that count, of all projects
	Known     int       `json:"known"`     // vulnerabilities of all keys
	Recall    Estimate  `json:"recall"`    // over all vulnerabilities
	Precision Span      `json:"precision"` // over all findings that count
	Stability Stability `json:"stability"`
	// of one trial of one project; undefined where no trial states it
	USD     Value `json:"usd"`
	Seconds Value `json:"seconds"` // likewise
}

// Stability says how many vulnerabilities were found in full by how many trials, over the
// projects with several trials. The zero value says that there is no such project.
type Stability struct {
	Known int `json:"known"` // vulnerabilities of these projects
	All   int `json:"all"`   // found in all trials of their project
	Some  int `json:"some"`  // found in some, and not in all
	Union int `json:"union"` // found in any: All + Some
}

// String returns "81 in all trials, 52 in some, 133 in their union, of 250".
func (s Stability) String() string {
	return fmt.Sprintf("%d in all trials, %d in some, %d in their union, of %d", s.All, s.Some,
		s.Union, s.Known)
}

// StabilityMetrics are the figures of Stability, as every output calls them.
func StabilityMetrics() []Metric[*Stability] {
	return []Metric[*Stability]{
		count("found in all trials", false, func(s *Stability) int { return s.All }),
		count("found in some trials", false, func(s *Stability) int { return s.Some }),
		count("found in any trial", false, func(s *Stability) int { return s.Union }),
	}
}

// Pool returns the figures over projects, the trials of one project each. With methodology
// set, recall and precision are those of the methodology score. The interval of recall
// allows for any dependence within a file. A project without a trial that counts is left out.
func Pool(methodology bool, projects ...[]AuditTrial) (Pooled, error) {
	var p Pooled
	var obs []stat.Observation
	var low, counted, highCredit, highCounted float64
	var usd, seconds []float64
	for _, trials := range projects {
		trials = slices.DeleteFunc(valid(trials), func(t AuditTrial) bool { return t.Result == nil })
		if len(trials) == 0 {
			continue
		}
		results := make([]*Result, len(trials))
		n := float64(len(trials))
		for i, t := range trials {
			results[i] = t.Result
			m := &t.Result.Metrics
			if methodology {
				m = t.Result.Methodology.Metrics()
			}
			if m.Precision.Low.Defined {
				all := float64(m.Counted)
				settled := all - float64(m.Unmatched.Arguable+m.WrongLocation.Arguable)
				counted, low = counted+all/n, low+all*m.Precision.Low.V/n
				highCounted += settled / n
				highCredit += settled * m.Precision.High.V / n
			}
			if t.USD > 0 {
				usd = append(usd, t.USD)
			}
			if t.Seconds > 0 {
				seconds = append(seconds, t.Seconds)
			}
		}
		first := results[0]
		p.Projects, p.Trials, p.Known = p.Projects+1, p.Trials+len(results), p.Known+
			len(first.Known)
		credits := Credits(results, methodology)
		for _, k := range first.Known {
			obs = append(obs, stat.Observation{Cluster: first.Project + "/" + k.File,
				Value: mean(credits[k.ID], Of).V})
		}
		if err := p.Stability.add(results); err != nil {
			return Pooled{}, err
		}
	}
	var err error
	if p.Recall, err = estimate(obs, stat.Proportion); err != nil {
		return Pooled{}, err
	}
	p.Precision = Span{Ratio(low, counted), Ratio(highCredit, highCounted)}
	p.USD, p.Seconds = mean(usd, Of), mean(seconds, Of)
	return p, nil
}

// StabilityOf returns the stability over the trials of one variant on one project. It fails with
// a [MismatchError] if they were scored by different rules or keys.
func StabilityOf(results []*Result) (s Stability, err error) {
	err = s.add(results)
	return s, err
}

// add adds a project. A single trial adds nothing.
func (s *Stability) add(results []*Result) error {
	if len(results) < 2 {
		return nil
	}
	t, err := OverTrials(results)
	if err != nil {
		return err
	}
	s.Known += len(t.Entries)
	s.All += t.Intersection.Known
	s.Union += t.Union.Known
	s.Some = s.Union - s.All
	return nil
}
