package box

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestProxySeesModels checks that each pair of a model that was asked and one that answered is
// logged
// once, by the body, the path or the header, in one piece or as a stream.
func TestProxySeesModels(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/header":
			w.Header().Set("Openai-Model", "b")
		case "/refused":
			w.WriteHeader(http.StatusBadRequest)
		}
		if strings.Contains(string(b), "silent") {
			return
		}
		for range 400 { // what comes before does not matter
			_, _ = io.WriteString(w, "data: {\"text\":\"\\\"model\\\": \\\"quoted\\\"\"}\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = io.WriteString(w, `data: {"model" : "a-2026-01-01"}`)
	}))
	defer provider.Close()
	t.Setenv("BASE", provider.URL)
	t.Setenv("KEY", "sk-0123456789abcdef0123")
	p, err := newProxy(audit.Network{Provider: "https://api.example.com",
		BaseURL: "BASE", Key: "KEY"}, false)
	require.NoError(t, err)
	ask := func(path, body string) {
		for range 5 { // an answer in many pieces may be cut off; each pair is noted once
			res, err := http.Post("http://"+p.address+path, "application/json",
				strings.NewReader(body))
			require.NoError(t, err)
			_, err = io.ReadAll(res.Body)
			require.NoError(t, res.Body.Close())
			require.Equal(t, path == "/refused", res.StatusCode != http.StatusOK, path)
			if err == nil {
				return
			}
		}
	}
	for range 2 {
		ask("/plain", `{"messages":["`+strings.Repeat("x", 1<<10)+
			`\"model\":\"quoted\""],"model":"a"}`)
	}
	ask("/header", `{"model":"a"}`)
	ask("/v1beta/models/g:generateContent", `{"contents":[]}`)
	ask("/refused", `{"model":"r"}`)
	ask("/plain", `{"model":"silent"}`)
	all := p.close()
	require.Len(t, all, 1)
	require.Equal(t, "[{a a-2026-01-01} {a b} {g a-2026-01-01}]", fmt.Sprint(all[0].Models))
	sum := audit.AddTraffic(all, all)
	require.Equal(t, all[0].Models, sum[0].Models)
}

// TestAnswersAreCounted: requests to the provider, and those that it answered in full.
func TestAnswersAreCounted(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/breaks":
			_, _ = io.WriteString(w, "data: half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			_, _ = io.WriteString(w, "data: all")
		}
	}))
	defer provider.Close()
	provider.Config.ErrorLog = log.New(io.Discard, "", 0)
	p, err := newProxy(audit.Network{Provider: provider.URL, BaseURL: "PROVIDER_URL",
		Key: "PROVIDER_KEY"}, false)
	require.NoError(t, err)
	defer p.close()
	for _, path := range []string{"/busy", "/breaks", "/whole", "/whole"} {
		resp, err := http.Post("http://"+p.address+path, "text/plain", strings.NewReader("x"))
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	resp, err := http.Get("http://" + p.address + "/whole")
	require.NoError(t, err)
	_ = resp.Body.Close()
	all := p.close()
	require.Len(t, all, 1)
	require.Equal(t, []int{4, 2, 429}, []int{all[0].Requests, all[0].Answers, all[0].Status})
}
