package record_test

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/internal/record"
)

// TestStatedForDataEase: the methodology's two standard audits stand beside every
// record of DataEase, labelled as what they are.
func TestStatedForDataEase(t *testing.T) {
	ss, err := record.ReadStated(os.DirFS("../.."), "fixtures/baselines", "dataease")
	require.NoError(t, err)
	require.Len(t, ss, 2)
	text := (&record.Record{Stated: ss}).Text()
	require.Contains(t, text,
		"stated for R1 (the methodology's standard audit, one round; its own key and matching, so beside these figures and not a baseline of them): 48 findings, 9 of 10 dimensions, recall about 71 %, false positives below 15 % (estimated), about 400K tokens;")
	require.Contains(t, text,
		"stated for R1+R2 (the methodology's standard audit, two rounds; its own key and matching, so beside these figures and not a baseline of them): 68 findings, 10 of 10 dimensions, recall about 100 %, false positives below 15 % (estimated), about 800K tokens;")

	ss, err = record.ReadStated(os.DirFS("../.."), "fixtures/baselines", "dvja")
	require.NoError(t, err)
	require.Empty(t, ss)
}

func TestReadStatedRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{`: "expected an array of stated figures",
		`[{"auditor":"R1","source":"s","findings":1,"recal":1}]`:    `unknown field "recal"`,
		`[{"auditor":"R1","findings":1}]`:                           "without a source",
		`[{"auditor":"R1","source":"s","findings":1,"recall":71}]`:  "out of its range",
		`[{"auditor":"R1","source":"s","findings":0,"recall":0.7}]`: "out of its range",
	} {
		_, err := record.ReadStated(fstest.MapFS{"b/stated/p.json": {Data: []byte(text)}}, "b", "p")
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "b/stated/p.json")
	}
}
