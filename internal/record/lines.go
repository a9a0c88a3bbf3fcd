package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
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
	var out bytes.Buffer
	joined := false // the line before goes on
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(line, []byte("\n"))
		rest := bytes.TrimLeft(line, " ")
		deep := len(line) - len(rest)
		switch {
		case deep > depth:
			joined = true
			out.Write(rest)
			if rest[len(rest)-1] == ',' {
				out.WriteByte(' ')
			}
		case joined: // the bracket that closes it
			joined = false
			out.Write(rest)
			out.WriteByte('\n')
		default:
			out.Write(line)
			if next := rest[len(rest)-1]; deep < depth || next != '{' && next != '[' {
				out.WriteByte('\n')
			}
		}
	}
	return out.Bytes(), nil
}
