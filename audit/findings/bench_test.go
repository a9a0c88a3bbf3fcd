package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// A sarifSource generates a SARIF file of about size bytes as it is read, so
// that neither the benchmark nor the memory test holds it. Its results look
// like those of a taint analysis: a location with a snippet, related locations
// and a code flow of steps steps. The rules come last, which is the hard order.
type sarifSource struct {
	size, steps   int
	made, results int
	buf           strings.Builder
	rest          string
	state         int
}

func (g *sarifSource) Read(p []byte) (int, error) {
	for g.rest == "" {
		if g.state == 2 {
			return 0, io.EOF
		}
		g.rest = g.next()
		g.made += len(g.rest)
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

func (g *sarifSource) next() string {
	g.buf.Reset()
	switch {
	case g.state == 0:
		g.state = 1
		return "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n      \"results\": [\n"
	case g.made >= g.size:
		g.state = 2
		g.buf.WriteString(
			"\n      ],\n      \"tool\": {\"driver\": {\"name\": \"probe\", \"version\": \"1\", \"rules\": [")
		for i := range 200 {
			if i > 0 {
				g.buf.WriteByte(',')
			}
			fmt.Fprintf(&g.buf,
				`{"id": "rule-%d", "properties": {"security-severity": "8.%d", "tags": ["security", "external/cwe/cwe-%03d"]}}`, i, i%10, 20+i)
		}
		g.buf.WriteString("]}}\n    }\n  ]\n}\n")
		return g.buf.String()
	}
	for range 50 {
		if g.results > 0 {
			g.buf.WriteString(",\n")
		}
		g.result(g.results)
		g.results++
	}
	return g.buf.String()
}

func (g *sarifSource) result(i int) {
	fmt.Fprintf(&g.buf, `        {
          "ruleId": "rule-%d",
          "ruleIndex": %d,
          "message": {
            "text": "This value flows from [user input](1) to a place where it is used in entry number %d."
          },
          "locations": [`, i%200, i%200, i)
	g.place(i)
	g.buf.WriteString(`
          ],
          "partialFingerprints": {
            "primaryLocationLineHash": "39fa2ee980eb94b0:1",
            "primaryLocationStartColumnFingerprint": "4"
          },
          "codeFlows": [{"threadFlows": [{"locations": [`)
	for s := range g.steps {
		if s > 0 {
			g.buf.WriteByte(',')
		}
		g.buf.WriteString(`{"location": `)
		g.place(i + s)
		g.buf.WriteByte('}')
	}
	g.buf.WriteString("]}]}]\n        }")
}

func (g *sarifSource) place(i int) {
	fmt.Fprintf(&g.buf, `
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "src/main/java/org/example/module%d/Service%d.java",
                  "uriBaseId": "%%SRCROOT%%",
                  "index": %d
                },
                "region": {
                  "startLine": %d,
                  "startColumn": 17,
                  "endColumn": 49,
                  "snippet": {
                    "text": "        String sql = \"SELECT * FROM account WHERE name = '\" + name + \"'\";\n"
                  }
                },
                "contextRegion": {
                  "startLine": %d,
                  "endLine": %d,
                  "snippet": {
                    "text": "    public List<Account> find(String name) {\n        String sql = \"SELECT * FROM account WHERE name = '\" + name + \"'\";\n        return jdbc.query(sql, mapper);\n    }\n"
                  }
                }
              }
            }`, i%40, i%500, i%500, 1+i%900, 1+i%900, 4+i%900)
}

// BenchmarkReadSARIF reads generated files of 100 MB, with and without code
// flows, and for the ratio checks the first one with encoding/json.
func BenchmarkReadSARIF(b *testing.B) {
	for _, bench := range []struct {
		name  string
		steps int
	}{{"flows", 4}, {"plain", 0}} {
		data, err := io.ReadAll(&sarifSource{size: 100 << 20, steps: bench.steps})
		require.NoError(b, err)
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for range b.N {
				rep, err := Read("big.sarif", bytes.NewReader(data), ReadOptions{})
				if err != nil || len(rep.Findings) == 0 {
					b.Fatal(err, len(rep.Findings))
				}
			}
		})
		if bench.steps == 0 {
			continue
		}
		b.Run("encoding-json-Valid", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for range b.N {
				if !json.Valid(data) {
					b.Fatal("the generated file is no JSON")
				}
			}
		})
	}
}

// TestSARIFMemory reads 50 MB and holds what the reader needs over its
// findings under 24 MB: the peak of the heap while it reads, less the heap that
// the report keeps.
func TestSARIFMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 50 MB")
	}
	for name, steps := range map[string]int{"flows": 4, "plain": 0} {
		t.Run(name, func(t *testing.T) {
			// What is live counts, not how late a busy machine collects.
			defer debug.SetGCPercent(debug.SetGCPercent(10))
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			src := &again{peakReader: &peakReader{},
				make: func() io.Reader { return &sarifSource{size: 50 << 20, steps: steps} }}
			rep, err := Read("big.sarif", src, ReadOptions{})
			require.NoError(t, err)
			require.Greater(t, src.read, int64(2*50<<20))
			runtime.GC()
			runtime.ReadMemStats(&after)
			held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			over := int64(src.peak) - int64(before.HeapAlloc) - held
			t.Logf("%d findings hold %d MB, the reader took %d MB over them at its peak",
				len(rep.Findings), held>>20, over>>20)
			require.Less(t, over, int64(24<<20))
			require.Greater(t, len(rep.Findings), 9000)
			runtime.KeepAlive(rep)
		})
	}
}

// A peakReader looks at the heap every 8 MB, garbage included.
type peakReader struct {
	r          io.Reader
	read, next int64
	peak       uint64
}

func (p *peakReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.read += int64(n)
	if p.read >= p.next {
		p.next = p.read + 8<<20
		p.look()
	}
	return n, err
}

func (p *peakReader) look() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.peak = max(p.peak, m.HeapAlloc)
}

// BenchmarkEach reads a file of 900 MB with 3.6 million findings on disk, without a limit.
// MB is the peak of the heap, garbage included.
//
//	go test -run '^$' -bench Each -benchtime 1x ./audit/findings
func BenchmarkEach(b *testing.B) {
	name := filepath.Join(b.TempDir(), "flood.sarif")
	file, err := os.Create(name)
	require.NoError(b, err)
	defer file.Close()
	result := `{"ruleId":"r","message":{"text":"m %d"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/f%d.go"},"region":{"startLine":7}}}],"properties":{"severity":"HIGH","cwe":"CWE-89","pad":"` + strings.Repeat("x", 48) + `"}},`
	size, err := io.Copy(file, &flood{result: result, left: 900 << 20})
	require.NoError(b, err)
	b.SetBytes(size)
	for b.Loop() {
		_, err := file.Seek(0, io.SeekStart)
		require.NoError(b, err)
		src, n := &peakFile{peakReader{r: file}, file}, 0
		_, err = Each(name, src, ReadOptions{MaxFindings: -1},
			func(audit.Finding) error { n++; return nil })
		require.NoError(b, err)
		require.Greater(b, n, 3_600_000)
		b.ReportMetric(float64(src.peak)/1e6, "MB")
		b.ReportMetric(float64(n), "findings")
	}
}

// A peakFile is a peakReader of a file that is read more than once.
type peakFile struct {
	peakReader
	io.Seeker
}
