package suite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/seal"
)

// write gives the name of the record's text; what its runs wrote stands beside it.
func (s *Suite) write(t T, e *env, r *record.Record, runs []record.Transcript) (name string) {
	t.Helper()
	r.Date, r.Score = time.Now().UTC(), score.Version
	r.Change, r.Trigger = e.change(), "manual"
	name, err := r.Write(filepath.Join(e.root.Dir, "records"))
	if err != nil {
		t.Errorf("the test record cannot be written: %v", err)
		return ""
	}
	t.Logf("record: %s", name)
	if err := record.WriteTranscripts(name, runs); err != nil {
		t.Errorf("what the auditor wrote cannot be kept: %v", err)
	}
	artifact(t, "record.txt", []byte(r.Text()))
	return name
}

// lastCommit gives the subject of git's last commit; "" where there is none.
func lastCommit(dir string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := seal.GitOutput(ctx, "-C", dir, "log", "-1", "--format=%h %s")
	if err != nil {
		return ""
	}
	return out
}

// trialOf gives what a trial's last run was like, and what all of its runs consumed.
func trialOf(v *run.Audited) record.Trial {
	r := &v.Run
	t := record.Trial{Invalid: r.Invalid, Seconds: r.Duration.Seconds(), Usage: v.Usage, Claimed: r.Report.Coverage,
		Memory: r.PeakMemory, Exposed: r.Exposed, Confined: r.Confined, EarlyEnds: v.EarlyEnds, Network: r.Network}
	if r.Invalid == "" || r.EndedEarly != "" {
		t.Runs = 1
	}
	for i := range v.Earlier {
		t.Seconds += v.Earlier[i].Duration.Seconds()
		t.Earlier = append(t.Earlier, v.Earlier[i].Invalid)
		t.Network = audit.AddTraffic(t.Network, v.Earlier[i].Network)
		if v.Earlier[i].EndedEarly != "" {
			t.Runs++
		}
	}
	return t
}

// transcripts leaves secrets out; prefix tells apart who else ran for the record.
func transcripts(prefix string, trial int, v *run.Audited) []record.Transcript {
	var ts []record.Transcript
	for i := range v.Earlier {
		ts = append(ts, record.NewTranscript(trial, i+1, v.Dir, &v.Earlier[i], MaskSecrets))
	}
	ts = append(ts, record.NewTranscript(trial, 0, v.Dir, &v.Run, MaskSecrets))
	for i := range ts {
		ts[i].Name = prefix + ts[i].Name
	}
	return ts
}

// MaskSecrets takes out of a text what the environment holds of secrets, and what
// looks like a provider's key.
func MaskSecrets(text []byte) []byte {
	var secrets []string
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); box.Secret(name) {
			secrets = append(secrets, value)
		}
	}
	return []byte(auditor.Redact(string(text), secrets...))
}

func artifact(t T, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(t.ArtifactDir(), name), content, 0o644); err != nil {
		t.Errorf("the artifact %s cannot be written: %v", name, err)
	}
}
