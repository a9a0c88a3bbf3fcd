package auditor

import (
	"net/http"
	"testing"
	"time"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

func TestGrant(t *testing.T) {
	now := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		headers map[string]string
		want    audit.RateLimits
	}{
		{"nothing", nil, audit.RateLimits{}},
		{"requests", map[string]string{"x-ratelimit-limit-requests": "600",
			"x-ratelimit-remaining-requests": "540", "x-ratelimit-reset-requests": "6s"},
			audit.RateLimits{Rate: 10, Burst: 600, Left: 540}},
		{"tokens are tighter", map[string]string{"x-ratelimit-limit-requests": "600",
			"x-ratelimit-remaining-requests": "540", "x-ratelimit-reset-requests": "6s",
			"x-ratelimit-limit-tokens": "60000", "x-ratelimit-remaining-tokens": "0",
			"x-ratelimit-reset-tokens": "1m0s"},
			audit.RateLimits{Rate: 5, Burst: 300, Left: 0}},
		{"Anthropic's", map[string]string{"anthropic-ratelimit-requests-limit": "50",
			"anthropic-ratelimit-requests-remaining":      "0",
			"anthropic-ratelimit-requests-reset":          "2026-11-22T20:01:00Z",
			"anthropic-ratelimit-output-tokens-limit":     "8000",
			"anthropic-ratelimit-output-tokens-remaining": "2000",
			"anthropic-ratelimit-output-tokens-reset":     "2026-11-22T20:01:00Z"},
			audit.RateLimits{Rate: 50.0 / 60, Burst: 50}},
		{"nearly full", map[string]string{"x-ratelimit-limit-requests": "600",
			"x-ratelimit-remaining-requests": "599", "x-ratelimit-reset-requests": "100ms"},
			audit.RateLimits{}},
		{"nonsense", map[string]string{"x-ratelimit-limit-requests": "NaN",
			"x-ratelimit-remaining-requests": "-1", "x-ratelimit-reset-requests": "soon"},
			audit.RateLimits{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range c.headers {
				h.Set(k, v)
			}
			require.Equal(t, c.want, grant(h, audit.Usage{TokensIn: 150, TokensOut: 50}, now))
		})
	}
	h := http.Header{}
	h.Set("x-ratelimit-limit-tokens", "60000")
	h.Set("x-ratelimit-limit-requests", "600")
	h.Set("x-ratelimit-remaining-requests", "540")
	h.Set("x-ratelimit-reset-requests", "6s")
	require.Zero(t, grant(h, audit.Usage{}, now),
		"tokens may be the reason, and nobody knows how many")
}
