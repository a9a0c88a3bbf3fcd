package suite

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/run"
)

// Published returns a record of each auditor on each project whose runs others have
// published, scored by today's key and rules, by project and auditor, and the keys by
// project; with names, of these auditors alone. A project that cannot be scored is an error,
// beside the others.
func (j Judge) Published(ctx context.Context, names ...string) (rs []*record.Record,
	keys map[string]*audit.Project, err error) {
	by, err := j.env.recordings()
	if err != nil {
		return nil, nil, err
	}
	dims, err := j.env.dimensions()
	if err != nil {
		return nil, nil, err
	}
	keys = map[string]*audit.Project{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(by)) {
		vs := slices.DeleteFunc(by[name], func(v *variant) bool {
			return v.replay[0].Source == "" || len(names) > 0 && !slices.Contains(names, v.name)
		})
		if len(vs) == 0 {
			continue
		}
		of, err := j.env.named(ctx, name)
		if err == nil {
			keys[name] = of.project
		}
		for i := 0; i < len(vs) && err == nil; i++ {
			var r *record.Record
			if r, err = j.scorePublished(ctx, of.project, vs[i], dims); err == nil {
				rs = append(rs, r)
			}
		}
		errs = append(errs, err)
	}
	return rs, keys, errors.Join(errs...)
}

// scorePublished replays and scores the published runs of a variant on a project, without
// the chance level: it takes longer than all the rest.
func (j Judge) scorePublished(ctx context.Context, p *audit.Project, v *variant,
	dims map[audit.CWE]audit.Dimension) (*record.Record, error) {
	date, err := time.Parse(time.DateOnly, v.replay[0].Date)
	if err != nil {
		return nil, err
	}
	r := &record.Record{Date: date, Suite: regressionSuite.name, Project: p.Name, Auditor: v.name,
		Replay: true,
		Commit: p.Commit, Key: p.KeyHash, Score: score.Version,
		Judgement: score.Judgement{Verdict: score.AsRecorded}}
	for _, rec := range v.replay {
		a, err := auditor.Replay(rec, j.env.root.fixtures(), v.entry.Rules).Audit(ctx,
			audit.AuditTask{})
		if err != nil {
			return nil, err
		}
		r.Version, r.Model = a.Version, a.Model
		t := trialOf(&run.Audited{Run: a, Usage: a.Usage})
		t.Result, err = score.Score(score.Input{Project: p, Findings: a.Report.Findings,
			Dimensions: dims, Rounds: -1})
		if err != nil {
			return nil, err
		}
		r.Trials = append(r.Trials, t)
	}
	return r, nil
}
