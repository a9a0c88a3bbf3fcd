package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPatchBlocks(t *testing.T) {
	shown := []Block{{Path: "a.py", Language: "python", Code: "one\ntwo\nthree\nfour\nfive\n"},
		{Path: "b.py", Language: "python", Code: "gone\n"}}
	patched := func(diff string) ([]Block, error) {
		return PatchBlocks(append(shown[:2:2], Block{Language: "diff", Code: diff}))
	}
	files, err := patched(`diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,2 +1,3 @@ what git shows of the function
+zero
 one
-two
+TWO
@@ -5 +6 @@
-five
+--- 5
\ No newline at end of file
diff --git a/b.py b/b.py
deleted file mode 100644
--- a/b.py
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1,2 @@
+
+new
`)
	require.NoError(t, err)
	require.Equal(t,
		[]Block{{Path: "a.py", Language: "python", Code: "zero\none\nTWO\nthree\nfour\n--- 5\n"},
			{Path: "new.py", Language: "py", Code: "\nnew\n"}}, files)
	require.Equal(t, "one\ntwo\nthree\nfour\nfive\n", shown[0].Code, "what was shown stays")

	files, err = PatchBlocks([]Block{{Path: "c.py", Code: "one\r\n\r\ntwo\r\n"},
		{Language: "diff",
			Code: "--- a/c.py\r\n+++ b/c.py\r\n@@ -1,3 +1,3 @@\r\n one\r\n\r\n-two\r\n+2\r\n"}})
	require.NoError(t, err, "an empty line, whose blank an editor took, may end in CR LF")
	require.Equal(t, "one\r\n\r\n2\r\n", files[0].Code)

	for diff, want := range map[string]string{
		"-one\n+two\n": "the change names no file: expected lines --- a/path and +++ b/path above its hunks",
		"--- a/c.py\n+++ b/c.py\n@@ -1 +1 @@\n-x\n+y\n":                "line 2 of the change: changes c.py, which is not shown: expected a block with that path",
		"--- a/a.py\n@@ -1 +1 @@\n":                                    "line 2 of the change: expected the line +++",
		"--- /dev/null\n+++ b/a.py\n@@ -0,0 +1 @@\n+y\n":               "creates a.py, which is there",
		"--- a/a.py\n+++ b/z.py\n@@ -1 +1 @@\n-one\n+y\n":              "renames a.py: expected one name",
		"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-two\n+y\n":              `line 4 of the change: "two" is not line 1 of a.py`,
		"--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n one\n":              "the hunk ends early: expected 8 lines more of the old file, 8 of the new",
		"--- a/a.py\n+++ b/a.py\n@@ -99 +1 @@\n-one\n":                 "begins at line 99 of a.py, which has 5",
		"--- a/a.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n":             "deletes a.py, and leaves 4 lines of it: expected a hunk that takes all",
		"similarity index 100%\nrename from a.py\nrename to c.py\n":    "expected files to be created, deleted or changed line by line",
		"--- a/a.py\n+++ b/a.py\n@@ -99999999999999999999 +1 @@\n+y\n": "begins at line",
	} {
		_, err := patched(diff)
		require.ErrorContains(t, err, want, diff)
	}
}

// FuzzPatchBlocks: no change panics, and what is joined is split again.
func FuzzPatchBlocks(f *testing.F) {
	f.Add("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n", "x\n")
	f.Add("@@ -0,0 +1 @@\n", "")
	f.Fuzz(func(t *testing.T, diff, code string) {
		blocks := []Block{{Path: "a", Code: code}, {Language: "diff", Code: diff}}
		_, _ = PatchBlocks(blocks)
		if text := JoinBlocks(blocks); !strings.Contains(code+diff, "==>") {
			require.Equal(t, blocks, SplitBlocks("", text))
		}
	})
}
