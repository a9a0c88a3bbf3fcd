package suite

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// server is an OpenAI-compatible server that knows nothing of cases: it answers
// by a word of the code, and keeps what it was asked.
func server(t *testing.T, status int) (url string, requests func() []string) {
	var mu sync.Mutex
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // who asks whether anybody is there
			http.NotFound(w, r)
			return
		}
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		got = append(got, string(b))
		mu.Unlock()
		if status != http.StatusOK {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":{"message":"no such key `+canary+`"}}`)
			return
		}
		verdict, violates := "good", ""
		if strings.Contains(string(b), "evil") {
			verdict, violates = "bad", "1"
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w,
			`{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"{\"explanation\":\"x\",\"verdict\":\"%s\",\"violates\":[%s]}"}}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, verdict, violates)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1", func() []string { mu.Lock(); defer mu.Unlock(); return got }
}

// canary is the key of a run; nothing that a run leaves behind may hold it.
const canary = "sk-canary-5f1e0c7d9ab34"

func TestBenchOfAChatModel(t *testing.T) {
	h := newHouse(t)
	h.corpus(2)
	url, requests := server(t, http.StatusOK)
	t.Setenv("ASSAY_BASE_URL", url)
	t.Setenv("ASSAY_API_KEY", canary)
	s := h.suite("-model", "some/model", "-budget", "none")
	f := play(t, "TestBench", s.Bench)
	require.Empty(t, f.complaints())
	require.NotNil(t, f.leaf("TestBench/some~model/evaluation-prompt/shop/q00-01-good"),
		"a / in a model's name is written ~")
	require.Len(t, requests(), 12)
	for _, r := range requests() {
		require.NotRegexp(t, `q0[01]|-0[1-6]-|tests/|Expected|Description`, r,
			"no label, file name, number or description reaches a model")
	}

	// A complete run is made again by the same command; -reuse asks an edited case alone.
	f = play(t, "TestBench", h.suite("-model", "some/model", "-budget", "none").Bench)
	require.Empty(t, f.complaints())
	require.Len(t, requests(), 24)
	b, err := os.ReadFile(h.path("tests/shop/q00-03-bad.md"))
	require.NoError(t, err)
	h.write("tests/shop/q00-03-bad.md", strings.Replace(string(b), "SELECT evil",
		"SELECT evil, 1", 1))
	play(t, "TestBench", h.suite("-model", "some/model", "-budget", "none", "-reuse").Bench)
	require.Len(t, requests(), 25)
	play(t, "TestBench", h.suite("-model", "some/model", "-budget", "none",
		"-filter", "q01-02").Bench)
	require.Len(t, requests(), 26)

	// -add pools the trials of the newest run with the new ones.
	adds := h.suite("-model", "some/model", "-budget", "none", "-filter", "q01-02", "-add")
	f = play(t, "TestBench", adds.Bench)
	require.Empty(t, f.complaints())
	require.Len(t, requests(), 27)
	require.Contains(t, adds.summary.heads[0], "Bench: adds 1 trials to the 1 of the run of ")
}

func TestBudgetZeroTellsAndSendsNothing(t *testing.T) {
	h := newHouse(t)
	h.corpus(1)
	url, requests := server(t, http.StatusOK)
	t.Setenv("ASSAY_BASE_URL", url)
	s := h.suite("-model", "gpt-4o-mini", "-budget", "0")
	f := play(t, "TestBench", s.Bench)
	require.Empty(t, f.complaints())
	require.Empty(t, requests())
	require.Contains(t, f.leaf("TestBench/gpt-4o-mini/evaluation-prompt/shop/q00-01-good").skipped,
		"-budget 0")
	var b strings.Builder
	s.summary.print(&b, view{all: true, width: screenWidth})
	require.Contains(t, b.String(), "estimate: 6 trials planned: about $")
}

// TestKeysStayInside plants a key and reads every byte that a run leaves behind:
// one that goes well, and one whose server throws the key back in its error.
func TestKeysStayInside(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusUnauthorized} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			h := newHouse(t)
			h.corpus(1)
			url, _ := server(t, status)
			t.Setenv("ASSAY_BASE_URL", url)
			t.Setenv("ASSAY_API_KEY", canary)
			s := h.suite("-model", "m", "-budget", "none")
			f := play(t, "TestBench", s.Bench)
			require.Equal(t, status != http.StatusOK, f.Failed())
			var out strings.Builder
			s.summary.print(&out, view{all: true, width: screenWidth})
			said := out.String() + strings.Join(f.complaints(), "\n") + everything(f)
			require.NotContains(t, said, canary)
			err := filepath.WalkDir(h.dir, func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(name)
				require.NotContains(t, string(b), canary, name)
				return err
			})
			require.NoError(t, err)
		})
	}
}

// everything gives all that a fake was told.
func everything(f *fake) string {
	parts := append([]string{f.skipped}, f.logs...)
	for k, v := range f.attrs {
		parts = append(parts, k, v)
	}
	for _, c := range f.children {
		parts = append(parts, everything(c))
	}
	return strings.Join(parts, "\n")
}
