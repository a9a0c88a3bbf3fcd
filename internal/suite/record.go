package suite

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/record"
)

// writeRecords completes the test record of each measurement of an auditor and writes it.
// Recordings that others have published have none: they are scored again at any time. The
// records of one run have the same run.
func writeRecords(t T, r *running, run string, ms []*measurement, j *judged) {
	e := r.env
	for i, m := range ms {
		if len(j.projects) == 0 || m.published() || !m.begun() {
			continue
		}
		rec := &m.record
		rec.Judgement, rec.Goals, rec.Run, rec.Full = j.projects[i], m.goals, run, r.full
		if j.whole != nil && len(j.whole.Projects) > 1 {
			whole := *j.whole
			whole.Projects = nil // each is in its own record
			rec.Whole = &whole
		}
		var err error
		if rec.Stated, err = record.ReadStated(e.root.fixtures(),
			baselinesDir, rec.Project); err != nil {
			t.Error(err)
		}
		kept := m.transcripts
		if m.beside != nil {
			m.beside.record.Date = time.Now().UTC()
			rec.Beside = &m.beside.record
			for _, one := range m.beside.transcripts {
				one.Name = "beside-" + one.Name
				kept = append(kept, one)
			}
		}
		switch {
		case rec.Beside != nil:
			rec.Since(rec.Beside)
		case m.baseline != nil:
			rec.Since(m.baseline)
		}
		if m.beside != nil && m.beside.begun() {
			writeSide(t, e, m.beside, rec.Auditor)
		}
		m.written = writeRecord(t, e, rec, kept)
	}
}

// writeSide writes a record for the variant that ran beside another one, so that both can be
// compared later. It is judged by its goals alone.
func writeSide(t T, e *env, side *measurement, of string) {
	rec := side.record
	rec.SideOf, rec.Goals = of, side.goals
	if side.smoke != nil {
		rec.Judgement = side.smoke.Judgement
	} else {
		var err error
		subject := score.Subject{Name: rec.Project, Goals: rec.Goals,
			Now: record.ScoreTrials(rec.Trials)}
		if rec.Judgement, err = score.Judge(subject,
			score.Rules{Deterministic: deterministic(side.variant)}); err != nil {
			t.Errorf("%s: %v", rec.Auditor, err)
		}
	}
	writeRecord(t, e, &rec, nil)
}

// begun reports whether any trial of the measurement was started.
func (m *measurement) begun() bool {
	for _, x := range m.trials {
		if x.result.Outcome != audit.OutcomeSkipped {
			return true
		}
	}
	return false
}

// writeRecord writes a record and the transcripts of its trials, and returns the name of its
// text; "" if that failed, which it reports on t.
func writeRecord(t T, e *env, r *record.Record, kept []record.Transcript) string {
	t.Helper()
	r.Date, r.Score = time.Now().UTC(), score.Version
	r.Change, r.Trigger = e.change(), cmp.Or(r.Trigger, "manual")
	name, err := r.Write(filepath.Join(e.root.Dir, "records"))
	if err != nil {
		t.Errorf("the test record cannot be written: %v", err)
		return ""
	}
	t.Logf("record: %s", name)
	if err := record.WriteTranscripts(name, kept); err != nil {
		t.Errorf("the output of the auditor cannot be kept: %v", err)
	}
	return name
}

// saveArtifacts saves the report of each trial in the folder of the test's artifacts, and
// logs what of it could not be used.
func saveArtifacts(t T, m *measurement) {
	if m.target.subject != nil || m.replayed() {
		return
	}
	for i, x := range m.trials {
		a := &x.audited().Run
		for _, p := range a.Report.Problems {
			t.Logf("%s: %s", p.Pos, audit.OneLine(p.What, 0))
		}
		if len(a.Raw) == 0 {
			continue
		}
		name := fmt.Sprintf("report-%s-%02d.%s", segment(m.variant.name), i+1,
			cmp.Or(a.Report.Format, "txt"))
		if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), a.Raw, 0o644); err != nil {
			t.Errorf("the artifact %s cannot be written: %v", name, err)
		}
	}
}

// MaskSecrets removes the secrets of the environment, and what looks like a provider's key,
// from a text.
func MaskSecrets(text []byte) []byte {
	var secrets []string
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); box.Secret(name) {
			secrets = append(secrets, value)
		}
	}
	return []byte(auditor.Redact(string(text), secrets...))
}
