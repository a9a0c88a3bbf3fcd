package auditor

import (
	"encoding/json"
	"fmt"
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
			e.Command, e.Env, e.Format, e.Network = line, []string{"TRUSTED_TOKEN"}, "json", audit.Network{Open: true, Key: "PROVIDER_KEY"}
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
		for _, trace := range []string{"hunter2", "aHVudGVyMi1hQjNkRTZnSDlqSzJtTjVwUTg", "68756e746572322d"} {
			require.NotContains(t, all, trace, name)
		}
		require.Contains(t, all, "[key]", name)
	}
}
