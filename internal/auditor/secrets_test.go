package auditor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestAnAuditorsSecretsStayInside: what it was trusted with, and what its provider
// sends back of it, is in nothing that is kept of a run, however it is written.
func TestAnAuditorsSecretsStayInside(t *testing.T) {
	l := newLair(t, false)
	const token = "hunter2-aB3dE6gH9jK2mN5pQ8"
	t.Setenv("TRUSTED_TOKEN", token)
	t.Setenv("PROVIDER_KEY", token+"-provider")
	report := `printf '[{"id": "%s", "cwes": [89], "file": "A.java", "title": "%s", "description": "%s"}]' "$TRUSTED_TOKEN" "$(printf %s "$TRUSTED_TOKEN" | base64)" "$(printf %s "$TRUSTED_TOKEN" | od -An -tx1 | tr -d ' \n')"`
	for name, line := range map[string]string{
		"report":   report,
		"file":     report + ` > "$ASSAY_OUT/r.json"`,
		"messages": `echo "$TRUSTED_TOKEN" >&2; exit 3`,
		"provider": `h=hunter; echo "${h}` + token[6:] + `-provider" >&2; exit 3`,
		"version":  report,
	} {
		c := l.agent("", func(e *audit.AuditorEntry) {
			e.Command, e.Env, e.Format, e.Network = line, []string{"TRUSTED_TOKEN"}, "json",
				audit.Network{Open: true, Key: "PROVIDER_KEY"}
			if name == "file" {
				e.Output = "r.json"
			}
			if name == "version" {
				e.Version = `echo "v1 $TRUSTED_TOKEN"`
			}
		})
		run := l.run(c)
		kept, err := json.Marshal(run)
		require.NoError(t, err)
		all := string(kept) + fmt.Sprintf("%+v", run) + string(run.Raw) + string(run.Stderr)
		for _, trace := range []string{"hunter2", "aHVudGVyMi1hQjNkRTZnSDlqSzJtTjVwUTg",
			"68756e746572322d"} {
			require.NotContains(t, all, trace, name)
		}
		require.Contains(t, all, "[key]", name)
	}
}

// FuzzMask: a secret whose pieces stand in the events of a stream, between whatever
// else was written, is in nothing that is left, and what looks like its pieces takes
// no longer than other text.
func FuzzMask(f *testing.F) {
	const key = "hunter2-aB3dE6gH9jK2mN5pQ8"
	f.Add("said: ", []byte{3, 9}, "")
	f.Add(key[:25], []byte{1, 2, 3, 4, 5, 6, 7, 8}, key[12:])
	f.Add(strings.Repeat(strings.Join(strings.Split(key[:25], ""), `""`), 30), []byte{0}, `"`)
	f.Fuzz(func(t *testing.T, before string, cuts []byte, after string) {
		var stream strings.Builder
		at := 0
		slices.Sort(cuts)
		for _, cut := range append(cuts, byte(len(key))) {
			if to := min(int(cut), len(key)); to > at {
				fmt.Fprintf(&stream, "{\"delta\":\"%s\"}\n", key[at:to])
				at = to
			}
		}
		masked := Mask(before+"\n"+stream.String()+after, key)
		for _, form := range written(key) {
			require.NotContains(t, masked, form)
		}
		require.NotContains(t, masked, stream.String())
		require.Equal(t, masked, Mask(masked, key))
	})
}
