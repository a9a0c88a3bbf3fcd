package auditor

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"

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
// gives one, else tokens times the listed price. Where the response does not say
// how many tokens it took, or broke off before it could, they are estimated from
// the bytes sent and written, and the cost is unknown.
func (c *chat) usage(got *reply, sent int) audit.Usage {
	var said struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
		Cost       any   `json:"cost"`
		OwnKey     bool  `json:"is_byok"`
		Details    struct {
			Upstream float64 `json:"upstream_inference_cost"`
		} `json:"cost_details"`
	}
	_ = json.Unmarshal(got.Usage, &said) // what cannot be read is as good as not said
	m := c.config.Model
	// Some count reasoning in the total alone.
	u := audit.Usage{TokensIn: max(0, said.Prompt), TokensOut: max(0, said.Completion, said.Total-max(0, said.Prompt))}
	counted := u.TokensIn > 0 && (u.TokensOut > 0 || got.written == 0) && (!got.streamed || got.whole)
	if !counted {
		u.TokensIn = max(u.TokensIn, int64(float64(sent)/bytesPerToken))
		u.TokensOut = max(u.TokensOut, int64(math.Ceil(float64(got.written)/bytesPerToken)))
	}
	switch cost, ok := said.Cost.(float64); {
	case ok && cost >= 0 && (!got.streamed || got.whole):
		u.USD, u.Priced = cost, true
		// With a key of one's own at the model's host, OpenRouter bills its fee
		// alone, and the host the rest.
		if said.OwnKey {
			u.USD += max(0, said.Details.Upstream)
		}
	case m.Priced && (counted || m.In == 0 && m.Out == 0):
		u.USD, u.Priced = price(m, float64(u.TokensIn), float64(u.TokensOut)), true
	}
	return u
}

// keyForm is what the providers' keys look like, for those that come from
// somewhere else than our configuration.
var keyForm = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|Bearer\s+[A-Za-z0-9._~+/-]{16,}=*)`)

// Redact replaces secrets in a text that is going to be kept or shown: those
// given, also where they are written in hex, in base64 (alone or within a longer
// text), for a URL or as a string of JSON; and whatever looks like a provider's
// key.
func Redact(s string, secrets ...string) string {
	for _, k := range secrets {
		if len(k) < 6 { // shorter ones are no keys, and would tear words apart
			continue
		}
		s = strings.ReplaceAll(s, strconv.Quote(k), `"[key]"`)
		for _, form := range written(k) {
			s = strings.ReplaceAll(s, form, "[key]")
		}
	}
	return keyForm.ReplaceAllString(s, "[key]")
}

// written gives the ways in which a secret can stand in a text, longer ones first
// where one holds another.
func written(k string) []string {
	quoted := strconv.Quote(k)
	hexed := hex.EncodeToString([]byte(k))
	var percent strings.Builder
	for _, b := range []byte(k) {
		fmt.Fprintf(&percent, "%%%02x", b)
	}
	forms := []string{percent.String(), strings.ToUpper(percent.String()), k, quoted[1 : len(quoted)-1],
		url.QueryEscape(k), url.PathEscape(k), hexed, strings.ToUpper(hexed)}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// Where it stands in a longer text decides how its bytes fall into groups of
		// three; the digits that its neighbours have a part in are left.
		for before := range 3 {
			digits := enc.EncodeToString(append(make([]byte, before), k...))
			digits = digits[(before*8+5)/6 : (before+len(k))*8/6]
			if len(digits) >= 6 {
				forms = append(forms, digits)
			}
		}
	}
	return forms
}
