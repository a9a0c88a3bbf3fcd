package fixes

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/seal"
)

// TestFunctions finds functions and their ends, also those that ctags knows no end of.
func TestFunctions(t *testing.T) {
	found, err := functionsOf(context.Background(), seal.Ctags(), map[string]string{
		"a.ts": "export const one = <E extends Env = Env>(\n  a: E,\n  { b }: B = {}\n): F => {\n  return a\n}\n" +
			"const total = (a + b)\nconst two = async x => {\n  const rows = all.map((r) => {\n    return r\n  })\n}\n",
		"b.go":   "package b\n\nvar get = handle(func(w W) {\n\tf(w)\n})\n\nfunc (t *T) put() {\n}\n",
		"c.php":  "<?php\nclass A {\n  public function f($a)\n  {\n    $x = $a->get();\n    return 1;\n  }\n}\n",
		"d.kt":   "class A {\n  fun f(x: Int): Int {\n    return 1\n  }\n  fun g() = 3\n}\n",
		"e.py":   "@login\n@admin\ndef f(x):\n    return x\n",
		"f.java": "class A {\n  @Get(\"/x\")\n  int f(int a) {\n    return 1;\n  }\n}\n",
	})
	require.NoError(t, err)
	got := map[string]string{}
	for file, fs := range found {
		for _, f := range fs {
			got[file] += f.name + " " + f.lines.String() + ", "
		}
	}
	require.Equal(t, map[string]string{"a.ts": "one 1-6, two 8-12, ", "b.go": "get 3-5, put 7-8, ",
		"c.php": "f 3-7, ",
		"d.kt":  "f 2-4, g 5, ", "e.py": "f 1-4, ", "f.java": "f 2-5, "}, got)
}
