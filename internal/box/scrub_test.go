package box

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

const canary = "sk-canary-8d1f/0c77+aZ"

// forms returns the canary as an answer might hold it.
func forms() map[string]string {
	percent, unicode := "", ""
	for _, c := range []byte(canary) {
		percent += fmt.Sprintf("%%%02X", c)
		unicode += fmt.Sprintf(`\u%04x`, c)
	}
	all := map[string]string{
		"literal": canary, "query": url.QueryEscape(canary), "percent": percent,
		"lower":   strings.ToLower(percent),
		"unicode": unicode, "slash": strings.ReplaceAll(canary, "/", `\/`),
		"nested":         strings.ReplaceAll(canary, "/", `\\\/`),
		"mixed":          strings.Replace(percent[:9]+unicode[18:], `\u002d`, "-", 1),
		"nested unicode": strings.ReplaceAll(unicode, `\`, `\\`),
	}
	for _, before := range []string{"", "x", "xy"} {
		text := before + canary + "z!"
		all["base64 after "+before] = base64.StdEncoding.EncodeToString([]byte(text))
		all["base64url after "+before] = base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	return all
}

// TestScrubbedBodies checks that the key does not come through in any form and however it is cut,
// and that the text around it does.
func TestScrubbedBodies(t *testing.T) {
	s := newScrubber(canary, "TOKEN")
	read := func(r io.Reader) string {
		b := &scrubbedBody{scrubber: s, answer: &http.Response{}, body: io.NopCloser(r)}
		out, err := io.ReadAll(b)
		require.NoError(t, err)
		return string(out)
	}
	for name, form := range forms() {
		in := `{"a":"sk-can %73k \u0073 ` + form + ` and ` + form + `"}`
		want := read(strings.NewReader(in))
		require.Equal(t, 2, strings.Count(want, "TOKEN"), "%s: %s", name, want)
		require.NotContains(t, want, form[4:len(form)-6], name)
		require.True(t, strings.HasPrefix(want, `{"a":"sk-can %73k \u0073 `) &&
			strings.HasSuffix(want, `"}`), want)
		require.Equal(t, want, read(iotest.OneByteReader(strings.NewReader(in))), name)
		for cut := range len(in) {
			require.Equal(t, want,
				read(io.MultiReader(strings.NewReader(in[:cut]), strings.NewReader(in[cut:]))),
				name)
		}
	}
	require.Equal(t, "is TOKEN", read(strings.NewReader("is "+canary[:12])),
		"an answer that ends within the key")
	require.Equal(t, "task sk-c", read(strings.NewReader("task sk-c")))
	require.Equal(t, "", read(strings.NewReader("")))
}

// TestScrubberHoldsBackTheKeyAlone checks that only what may be the beginning of the key waits for
// the bytes after it.
func TestScrubberHoldsBackTheKeyAlone(t *testing.T) {
	s := newScrubber(canary, "TOKEN")
	for in, held := range map[string]string{"x": "", "data: {\"a\": 1}\n": "", "s": "s",
		"asks ": "", "%": "%", "%7": "%7", "%74": "", `\`: `\`, `\n`: "",
		"a" + canary[:20]: canary[:20]} {
		_, rest := s.replace(nil, []byte(in), false)
		require.Equal(t, held, string(rest), in)
	}
}

// TestTokenElsewhere checks that a request is refused if the token stands where no key belongs,
// so that no answer quotes the key.
func TestTokenElsewhere(t *testing.T) {
	asked := 0
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("X-Coding") != "" {
			w.Header().Set("Content-Encoding", r.Header.Get("X-Coding"))
		}
		w.Header().Set("Trailer", "X-After")
		_, _ = fmt.Fprintln(w, r.Header, r.URL.RawQuery)
		w.Header().Set("X-After", r.Header.Get("X-Api-Key"))
	}))
	defer provider.Close()
	t.Setenv("PROVIDER_KEY", canary)
	p, err := newProxy(audit.Network{Provider: provider.URL, BaseURL: "PROVIDER_URL",
		Key: "PROVIDER_KEY"}, false)
	require.NoError(t, err)
	defer p.close()
	ask := func(target, header, value string) (*http.Response, string) {
		r, err := http.NewRequest("GET", "http://"+p.address+target, nil)
		require.NoError(t, err)
		r.Header[header] = []string{value}
		resp, err := (&http.Transport{DisableCompression: true}).RoundTrip(r)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		var all bytes.Buffer
		require.NoError(t, resp.Header.Write(&all))
		require.NoError(t, resp.Trailer.Write(&all))
		for name, form := range forms() {
			require.NotContains(t, all.String()+string(body), form, name)
		}
		return resp, string(body)
	}
	for _, header := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		resp, body := ask("/v1/x", header, "Bearer "+p.token)
		require.Equal(t, http.StatusOK, resp.StatusCode)
		require.Contains(t, body, header+":[Bearer "+p.token+"]",
			"the provider got the key, and the program sees its token")
		require.Contains(t, body, "Accept-Encoding:[identity]")
	}
	_, body := ask("/v1/x?a=1&key="+p.token, "X-A", "1")
	require.Contains(t, body, "a=1&key="+p.token)
	before := asked
	for _, r := range [][3]string{{"/v1/x", "Anthropic-Beta", p.token},
		{"/v1/x", "X-" + p.token, "1"}, {"/v1/x?model=" + p.token, "X-A", "1"},
		{"/v1/x?key=1" + p.token, "X-A", "1"}, {"/v1/" + p.token, "X-A", "1"},
		{"/v1/x", "Upgrade", "websocket"}} {
		resp, body := ask(r[0], r[1], r[2])
		require.Equal(t, http.StatusForbidden, resp.StatusCode, r)
		require.Contains(t, body, "the request is not let through: ")
	}
	require.Equal(t, before, asked)
	resp, body := ask("/v1/x", "X-Coding", "br")
	require.Equal(t, http.StatusBadGateway, resp.StatusCode)
	require.Contains(t, body, `coding "br"`)
}
