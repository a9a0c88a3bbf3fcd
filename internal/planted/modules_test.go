package planted

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestX(t *testing.T) {
	for _, name := range []string{"club", "grants", "marina", "workshop"} {
		p, err := Open(path.Join("../../fixtures/planted", name))
		if err != nil {
			t.Log(err)
			continue
		}
		for seed := uint64(1); seed <= 2; seed++ {
			for i := range p.Modules {
				m, err := p.drawModule(&p.Modules[i], seed, nil)
				if err != nil {
					t.Log(err)
					continue
				}
				bad, n, bytes := 0, 0, 0
				for _, s := range m.Sites {
					if s.Bad {
						bad++
					}
				}
				for _, f := range m.Files {
					n += countLines([]byte(f.Code))
					bytes += len(f.Code) + 6*countLines([]byte(f.Code))
				}
				t.Log(m.ID(), len(m.Sites), bad, len(m.Files), n, bytes, (bytes+len(m.Rules))*10/35)
			}
		}
	}
	require.True(t, true)
}
