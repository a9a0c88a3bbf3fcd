package auditor

import (
	"regexp"
	"strconv"
	"strings"

	"assay/audit"

	"github.com/openai/openai-go/v3"
	"github.com/tidwall/gjson"
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

// Cost gives what one request is expected to cost, and costs at most, in USD.
func (c *chat) Cost(task audit.ReviewTask) (expected, most float64, known bool) {
	m := c.config.Model
	if !m.Priced {
		return 0, 0, false
	}
	n := float64(len(Prompt(task)))
	expected = price(m, n/bytesPerToken+overheadTokens, answerTokens)
	most = price(m, n/bytesPerTokenWorst+overheadTokens, float64(c.config.MaxTokens))
	return expected, most, true
}

// price gives USD for tokens at a model's price per million.
func price(m audit.Model, in, out float64) float64 { return (in*m.In + out*m.Out) / 1e6 }

// usage reads tokens and cost of a response: the provider's own figure where it
// gives one, else tokens times the listed price.
func (c *chat) usage(done *openai.ChatCompletion) audit.Usage {
	u := audit.Usage{TokensIn: max(0, done.Usage.PromptTokens), TokensOut: max(0, done.Usage.CompletionTokens)}
	raw := done.Usage.RawJSON()
	if cost := gjson.Get(raw, "cost"); cost.Type == gjson.Number && cost.Num >= 0 {
		u.USD, u.Priced = cost.Num, true
		// With a key of one's own at the model's host, OpenRouter bills its fee
		// alone, and the host the rest.
		if gjson.Get(raw, "is_byok").Bool() {
			u.USD += max(0, gjson.Get(raw, "cost_details.upstream_inference_cost").Num)
		}
		return u
	}
	if c.config.Model.Priced && u.TokensIn+u.TokensOut > 0 {
		u.USD, u.Priced = price(c.config.Model, float64(u.TokensIn), float64(u.TokensOut)), true
	}
	if m := c.config.Model; m.Priced && m.In == 0 && m.Out == 0 {
		u.Priced = true
	}
	return u
}

// keyForm is what the providers' keys look like, for those that come from
// somewhere else than our configuration.
var keyForm = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|Bearer\s+[A-Za-z0-9._~+/-]{16,}=*)`)

// Redact replaces secrets in a text that is going to be kept or shown: those
// given, and whatever looks like a provider's key.
func Redact(s string, secrets ...string) string {
	for _, k := range secrets {
		if len(k) >= 6 { // shorter ones are no keys, and would tear words apart
			s = strings.ReplaceAll(s, k, "[key]")
			s = strings.ReplaceAll(s, strconv.Quote(k), `"[key]"`)
		}
	}
	return keyForm.ReplaceAllString(s, "[key]")
}
