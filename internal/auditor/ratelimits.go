package auditor

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"assay/audit"
)

// grant returns the tightest limit of a response's headers, for requests and for tokens, in
// requests of u's size. OpenAI documents x-ratelimit-{limit,remaining,reset}-{requests,tokens},
// Anthropic
// anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}. For
// both, reset is when the bucket is full again, so the missing part shows how fast it fills. A
// bucket that is nearly full shows nothing.
func grant(h http.Header, u audit.Usage, now time.Time) (least audit.RateLimits) {
	size := map[string]float64{"requests": 1, "tokens": float64(u.TokensIn + u.TokensOut),
		"input-tokens": float64(u.TokensIn), "output-tokens": float64(u.TokensOut)}
	for what, each := range size {
		number := func(part string) float64 {
			v := h.Get("x-ratelimit-" + part + "-" + what)
			if v == "" {
				v = h.Get("anthropic-ratelimit-" + what + "-" + part)
			}
			if part == "reset" {
				return seconds(v, now)
			}
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return math.NaN()
			}
			return f
		}
		limit, left, reset := number("limit"), number("remaining"), number("reset")
		// a refusal: what its tokens would be is not known, and they may be why
		if each == 0 && limit > 0 {
			return audit.RateLimits{}
		}
		// Not a number compares as false. A second is what Anthropic rounds to.
		if !(each > 0 && left >= 0 && limit > left && limit < 1e12 && reset > 1 && reset < 86400) {
			continue
		}
		g := audit.RateLimits{Rate: (limit - left) / reset / each, Burst: limit / each,
			Left: left / each}
		if least.Rate == 0 || g.Rate < least.Rate {
			least = g
		}
	}
	return least
}

// seconds reads a duration as OpenAI writes it (6m0s, 20ms) or an instant as Anthropic
// does (RFC 3339); not a number where it is neither.
func seconds(v string, now time.Time) float64 {
	if d, err := time.ParseDuration(v); err == nil {
		return d.Seconds()
	}
	if t, err := time.Parse(time.RFC3339, v); err == nil {
		return t.Sub(now).Seconds()
	}
	return math.NaN()
}
