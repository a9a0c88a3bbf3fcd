package planted_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/internal/planted"
)

// FuzzPlanted: whatever stands in the place of a planted project's description, its
// reviews or its source, it is read, and drawn, or refused with the file's name.
func FuzzPlanted(f *testing.F) {
	whole := desk(f)
	doc, rules := "desk/project.md", "desk/source/desk/rules.py"
	f.Add(string(whole[doc].Data), string(whole[rules].Data), "# Reviews\n")
	f.Add(string(bigDoc(2)),
		"# site:XY-0 good\ng\n# site:XY-0+ bad\nb\n# site:XY-0 end\n# order:begin\n\n# order:end\n",
		"")
	f.Fuzz(func(t *testing.T, about, source, reviews string) {
		fsys := fstest.MapFS{}
		for name, file := range whole {
			fsys[name] = file
		}
		for name, text := range map[string]string{doc: about, rules: source,
			"desk/reviews.md": reviews} {
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
		}
		p, err := planted.Read(fsys, "desk")
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				require.True(t, strings.HasPrefix(line, "desk/"), line)
			}
			return
		}
		for seed := range uint64(2) {
			require.NotEmpty(t, p.Draw(seed).Render())
		}
	})
}
