package score_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/audit"
	"assay/audit/score"
)

func TestFlips(t *testing.T) {
	const right, wrong, none = audit.OutcomeCorrect, audit.OutcomeWrong, audit.OutcomeRefused
	got := score.Flips([]score.TwinAnswer{
		{"stripped", right, wrong}, {"stripped", wrong, wrong}, {"stripped", right, none}, {"stripped", none, right},
		{"renamed", wrong, right}, {"renamed", right, right}, {"renamed", right, right}, {"renamed", wrong, wrong},
		{"literals", none, none},
	})
	want := []score.Flip{
		{Kind: "renamed", Asked: 4, Flipped: 1, Share: score.Of(0.25)},
		{Kind: "stripped", Asked: 2, Flipped: 1, Share: score.Of(0.5)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
