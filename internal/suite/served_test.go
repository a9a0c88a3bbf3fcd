package suite

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/run/testdata/mockapi"
)

// A model that answers for another is told, and so are two that share the work.
func TestAnotherModelAnswers(t *testing.T) {
	for served, note := range map[string]string{
		"":                    "",
		"some/model-20260101": "",
		"other/thing":         "answers were given by other/thing (6)",
		"every third":         "answers were given by other/thing (2), some/model (4)",
	} {
		s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
			switch {
			case served != "every third":
				return mockapi.Reply{Model: served}
			case r.N%3 == 0:
				return mockapi.Reply{Model: "other/thing"}
			}
			return mockapi.Reply{}
		})
		t.Cleanup(s.Close)
		h := newHouse(t)
		h.corpus(1)
		t.Setenv("ASSAY_BASE_URL", s.BaseURL)
		suite := h.suite("-model", "some/model", "-budget", "none")
		play(t, "TestBench", suite.Bench)
		var b strings.Builder
		suite.summary.print(&b, view{all: true, width: screenWidth})
		require.Contains(t, b.String(), note)
		require.Equal(t, note != "", strings.Contains(b.String(), "answers were given by"),
			b.String())
	}
}

// What a broken reply cost nobody knows: the summary says how much of the sum stands for it.
func TestWhatNobodyKnowsTheCostOfIsTold(t *testing.T) {
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if r.N == 1 {
			return mockapi.Reply{CutAfter: 40}
		}
		return mockapi.Reply{Cost: 0.01}
	})
	t.Cleanup(s.Close)
	h := newHouse(t)
	h.corpus(1)
	t.Setenv("ASSAY_BASE_URL", s.BaseURL)
	suite := h.suite("-model", "gpt-5-mini")
	play(t, "TestBench", suite.Bench)
	var b strings.Builder
	suite.summary.print(&b, view{all: true, width: screenWidth})
	require.Regexp(t,
		`Bench: \$0\.\d+ now,\s+in\s+\S+\s+of\s+the\s+budget\s+of\s+\$5\.00,\s+\$0\.\d+\s+of\s+it\s+the\s+most`, b.String())
}
