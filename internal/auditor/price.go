package auditor

import (
	"cmp"
	"math"

	"github.com/tidwall/gjson"

	"assay/audit"
)

// How many tokens a prompt has is only known to the model. English and code take
// about four bytes a token; two are on the safe side for all but rare scripts.
const (
	bytesPerToken      = 3.5
	bytesPerTokenWorst = 2
	// overheadTokens is what schema and message frame add.
	overheadTokens = 200
	// answerTokens is what an answer takes as a rule.
	answerTokens = 400
)

// Cost returns what one request is expected to cost, and costs at most, in USD.
func (c *client) Cost(task audit.ReviewTask) (expected, most float64, known bool) {
	m := c.config.Model
	if !m.Priced {
		return 0, 0, false
	}
	n := float64(len(Prompt(task)))
	expected = price(m, n/bytesPerToken+overheadTokens, answerTokens)
	most = price(m, n/bytesPerTokenWorst+overheadTokens, float64(c.config.MaxTokens))
	return expected, most, true
}

// price returns USD for tokens at a model's price per million.
func price(m audit.Model, in, out float64) float64 { return (in*m.In + out*m.Out) / 1e6 }

// usage returns tokens and cost of a response: the provider's own cost if it states one, else
// tokens times the listed price. If the response states no tokens, or ended before that, they
// are estimated from the bytes sent and received, and the cost is unknown.
func (c *client) usage(got *reply, sent int) audit.Usage {
	m, t := c.config.Model, c.api.tokens(got)
	u := audit.Usage{TokensIn: t.in, TokensOut: t.out}
	counted := u.TokensIn > 0 && (u.TokensOut > 0 || got.written == 0) &&
		(!got.streamed || got.whole)
	if !counted {
		u.TokensIn = max(u.TokensIn, int64(float64(sent)/bytesPerToken))
		u.TokensOut = max(u.TokensOut, int64(math.Ceil(float64(got.written)/bytesPerToken)))
	}
	switch cost := got.used("cost"); {
	case cost.Type == gjson.Number && cost.Num >= 0 && cost.Num < 1e9 &&
		(!got.streamed || got.whole):
		u.USD, u.Priced = cost.Num, true
		// With a key of one's own at the model's host, OpenRouter bills its fee
		// alone, and the host the rest.
		if got.used("is_byok").Bool() {
			u.USD += min(max(0, got.used("cost_details.upstream_inference_cost").Num), 1e9)
		}
	case m.Priced && (counted || m.In == 0 && m.Out == 0):
		u.USD, u.Priced = price(m, float64(u.TokensIn), float64(u.TokensOut))+
			cacheDifference(m, t), true
	}
	return u
}

// cacheDifference returns USD by which tokens of the cache cost more or less than others:
// writing them costs a quarter more (Anthropic, OpenAI), reading them what the model's row says.
func cacheDifference(m audit.Model, t tokenCount) float64 {
	read := float64(min(t.cached, t.in)) * (cmp.Or(m.Cached, m.In) - m.In)
	return (read + float64(min(t.stored, t.in))*m.In/4) / 1e6
}
