package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// writeLines stores a baseline under a name with slashes.
func writeLines(name string, v any, depth int) error {
	text, err := lines(v, depth)
	if err != nil {
		return err
	}
	name = filepath.FromSlash(name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// lines gives v as JSON in which what is nested deeper than depth stands on
// one line. A baseline is read as a diff: one finding, or one answer, is one line
// of it.
func lines(v any, depth int) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return nil, err
	}
	next := regexp.MustCompile(fmt.Sprintf(`,\n {%d,}`, depth+1))
	ends := regexp.MustCompile(fmt.Sprintf(`([\[{])\n {%d,}|\n {%d,}([\]}])`, depth+1, depth))
	return append(ends.ReplaceAll(next.ReplaceAll(text, []byte(", ")), []byte("$1$2")), '\n'), nil
}
