package suite

import (
	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/proof"
	"assay/internal/run"
)

// A subject is what one subtest of Bench asks about: a case, or a module.
type subject struct {
	id    string // audit.Case.ID, or audit.Module.ID
	group string // of subtests: an application, or a draw of a project
	about string // whose row of the summary: an application, or a project
	pos   audit.Pos
	ask   run.Trial // without who is asked, with which prompt
	twins func() []proof.Twin
}

func casesOf(corpus *fixture.Corpus) (all []subject) {
	for _, app := range corpus.Apps {
		for i := range app.Families {
			f := &app.Families[i]
			for _, cs := range f.Cases {
				all = append(all, subject{id: cs.ID(), group: app.App, about: app.App, pos: cs.Pos, ask: run.Trial{Case: cs, Spec: app.Spec},
					twins: func() []proof.Twin { return proof.Twins(app, f, cs) }})
			}
		}
	}
	return all
}

func modulesOf(modules []*audit.Module) (all []subject) {
	for _, m := range modules {
		judge := func(r *audit.Review) audit.Outcome { return score.ModuleOutcome(m, r.Violations) }
		all = append(all, subject{id: m.ID(), group: m.App(), about: m.Project, pos: m.Pos, ask: run.Trial{Module: m, Judge: judge},
			twins: func() []proof.Twin { return nil }})
	}
	return all
}

func (s *subject) trial(r audit.Reviewer, p prompt) run.Trial {
	t := s.ask
	t.Reviewer, t.PromptName, t.Prompt = r, p.name, p.text
	return t
}

func twin(t run.Trial, tw *proof.Twin) run.Trial {
	changed := *t.Case
	changed.Code = tw.Code
	t.Case, t.Twin, t.Index = &changed, tw.Kind, 0
	return t
}

// trials asks a recorded reviewer once, who says the same again and was shown no twin.
func (c *Config) trials(s *subject, r audit.Reviewer, p prompt) (trials, twins []run.Trial) {
	t := s.trial(r, p)
	if _, recorded := r.(*auditor.Reader); recorded {
		return []run.Trial{t}, nil
	}
	for t.Index = range c.Trials {
		trials = append(trials, t)
	}
	if c.Twins {
		for _, tw := range s.twins() {
			twins = append(twins, twin(t, &tw))
		}
	}
	return trials, twins
}

// asks passes over what a recorded reviewer was not shown.
func (c *Config) asks(s *subject, r audit.Reviewer, p prompt) bool {
	reader, recorded := r.(*auditor.Reader)
	return c.chooses(s.id) && (!recorded || reader.Has(p.name, s.id))
}
