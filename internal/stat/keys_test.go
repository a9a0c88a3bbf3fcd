package stat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readKeys counts the entries by file of the shipped keys, by project; nothing else
// of the keys is read.
func readKeys() (names []string, out [][]int) {
	paths, _ := filepath.Glob("../../fixtures/projects/*.md")
	for _, path := range paths {
		if strings.HasSuffix(path, ".reviews.md") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		_, rest, _ := strings.Cut(string(text), "\n# Known Vulnerabilities\n")
		rest, _, _ = strings.Cut(rest, "\n# ")
		files := map[string]int{}
		for i, row := range slices.Collect(strings.SplitSeq(strings.TrimSpace(rest), "\n")) {
			if cells := strings.Split(row, "|"); i > 1 && len(cells) > 6 {
				files[strings.TrimSpace(cells[5])]++
			}
		}
		var counts []int
		for _, n := range files {
			counts = append(counts, n)
		}
		slices.Sort(counts)
		slices.Reverse(counts)
		names = append(names, strings.TrimSuffix(filepath.Base(path), ".md"))
		out = append(out, counts)
	}
	return names, out
}
