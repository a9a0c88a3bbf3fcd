package static

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestWriteText: findings, notes, the way of the data and what was left out are told.
func TestWriteText(t *testing.T) {
	tree := fstest.MapFS{
		"src/A.java":            {Data: []byte("class A extends HttpServlet {\n  void doGet(HttpServletRequest r, HttpServletResponse s) throws Exception {\n    Runtime.getRuntime().exec(r.getParameter(\"c\"));\n    log.info(\"got \" + r.getParameter(\"c\"));\n  }\n}\n")},
		"node_modules/x/a.js":   {Data: []byte("eval(location.hash)\n")},
		"src/test/java/AT.java": {Data: []byte("class AT {}\n")},
	}
	for i := range 250 {
		tree["src/p"+strings.Repeat("x", i)+".py"] = &fstest.MapFile{Data: []byte("a = 1\n")}
	}
	var mu sync.Mutex
	told := map[string]int{}
	res, err := New(Options{Progress: func(what string, done, all int) {
		mu.Lock()
		defer mu.Unlock()
		told[what]++
		require.LessOrEqual(t, done, all)
	}}).Analyse(context.Background(), tree)
	require.NoError(t, err)
	require.Equal(t, map[string]int{"read": 2, "judged": 1}, told)
	require.Len(t, res.Open(), 1)
	var b strings.Builder
	require.NoError(t, res.WriteText(&b, false, func(s string) string { return s }))
	out := b.String()
	require.Contains(t, out, "src/A.java:3: CRITICAL: Operating system command")
	require.NotContains(t, out, "src/A.java:4")
	require.Contains(t, out, "node_modules: left out")
	require.Contains(t, out, "1 files of test code")
	require.Contains(t, out, "1 findings and 1 notes")
	b.Reset()
	require.NoError(t, res.WriteText(&b, true, func(s string) string { return s }))
	require.Contains(t, b.String(), "src/A.java:4: note:")
}
