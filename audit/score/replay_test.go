package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// A recording that is scored as at its baseline passes; what is scored otherwise is
// named, ten differences at most.
func TestJudgeReplay(t *testing.T) {
	p := hundred(60)
	was := found(t, p, 40, 2)
	judge := func(now, baseline score.AuditTrial) score.Judgement {
		j, err := score.JudgeReplay([]score.AuditTrial{now}, []score.AuditTrial{baseline})
		require.NoError(t, err)
		return j
	}
	require.Equal(t, score.Judgement{Verdict: score.AsRecorded}, judge(found(t, p, 40, 2), was))

	one := judge(found(t, p, 41, 1), was) // as many findings
	require.Equal(t, score.Changed, one.Verdict)
	require.Equal(t, []string{
		"finding 41 (f2.java:20 ) is matched, and was off-key",
		"K040 earns 1, and earned 0",
		"recall 68.3 %, and was 66.7 %",
		"precision 97.6 % to 100.0 %, and was 95.2 % to 100.0 %",
		"F1 80.4 % to 81.2 %, and was 78.4 % to 80.0 %",
	}, texts(one))

	many := texts(judge(found(t, p, 20, 0), was))
	require.Len(t, many, 11)
	require.Equal(t, "20 findings, and were 42", many[0])
	require.Equal(t, "and 14 more differences", many[10])

	require.Equal(t, []string{`trial 1: invalid: "killed", and was ""`},
		texts(judge(score.AuditTrial{Invalid: "killed"}, was)))
	require.Equal(t, score.AsRecorded, judge(score.AuditTrial{Invalid: "killed"},
		score.AuditTrial{Invalid: "killed"}).Verdict)

	none, err := score.JudgeReplay(nil, nil)
	require.NoError(t, err)
	require.Equal(t, audit.Invalid, none.Verdict)
	_, err = score.JudgeReplay([]score.AuditTrial{was}, nil)
	require.ErrorContains(t, err, "1 recordings, and the baseline has 0 trials")
	other := found(t, p, 40, 2)
	other.Result.KeyHash = "k2"
	_, err = score.JudgeReplay([]score.AuditTrial{other}, []score.AuditTrial{was})
	var m *score.MismatchError
	require.ErrorAs(t, err, &m)
}

// Recorded answers that differ from their baseline are named; those that it lacks warn.
func TestJudgeReadings(t *testing.T) {
	was := answers(2, 1, all)
	require.Equal(t, score.AsRecorded, score.JudgeReadings(answers(2, 1, all), was).Verdict)

	now := answers(2, 1, all)
	now[0].Outcome, now[3].Violates = audit.OutcomeMalformed, []int{2}
	j := score.JudgeReadings(now, was)
	require.Equal(t, score.Changed, j.Verdict)
	require.Equal(t, []string{
		": app/q00-01-good is malformed, and was correct",
		": app/q00-04-bad: it names the requirements [2], and named [5]",
	}, texts(j))

	fresh := score.JudgeReadings(was, was[:9])
	require.Equal(t, audit.Warn, fresh.Verdict)
	require.Equal(t,
		[]string{"its baseline holds 9 of 12 answers: make it anew with assay baseline --bench"},
		texts(fresh))
	require.Equal(t, score.Changed, score.JudgeReadings(now, was[:9]).Verdict,
		"what changed weighs more")
}

func texts(j score.Judgement) (all []string) {
	for _, r := range j.Reasons {
		all = append(all, r.Text)
	}
	return all
}
