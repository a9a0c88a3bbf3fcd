package proof

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// golang compiles Go cases. Each case becomes a package with a copy of the application's
// harness*.go.txt, and many packages are linked into one program, since linking dominates the
// time.
type golang struct {
	code     *LanguageRunner
	binaries map[string]string // by key: the program that holds the case
	failed   map[string]string // by key: the compiler's words
}

// key returns the package name of a case: a hash of its code.
func key(code string) string {
	sum := sha256.Sum256([]byte(code))
	return "c" + hex.EncodeToString(sum[:8])
}

// Prepare compiles many codes at once, which is much faster than one by one. It does nothing
// for interpreted languages. A code that does not compile is an error of Run.
func (c *LanguageRunner) Prepare(ctx context.Context, codes []string) error {
	if c.golang == nil {
		return nil
	}
	return c.golang.build(ctx, codes)
}

// binary returns the program that holds the case. It is an error if the code does not compile.
func (g *golang) binary(ctx context.Context, code string) (string, error) {
	k := key(code)
	if g.binaries[k] == "" && g.failed[k] == "" {
		if err := g.build(ctx, []string{code}); err != nil {
			return "", err
		}
	}
	if why := g.failed[k]; why != "" {
		return "", fmt.Errorf("the code does not compile:\n%s", why)
	}
	return g.binaries[k], nil
}

const mainGo = `package main

import (
	"bufio"
	"fmt"
	"os"
%s)

var cases = map[string]func([]byte) []byte{
%s}

func main() {
	run := cases[os.Args[1]]
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 8<<20)
	for in.Scan() {
		fmt.Printf("%%s\n", run(in.Bytes()))
	}
}
`

// build compiles the codes into one program. It drops those that do not compile, notes the
// compiler's messages in failed, and tries again.
func (g *golang) build(ctx context.Context, codes []string) error {
	dir, err := os.MkdirTemp(g.code.dir, "build")
	if err != nil {
		return err
	}
	if err := g.module(dir); err != nil {
		return err
	}
	keys, err := g.lay(dir, codes)
	bin := filepath.Join(dir, "cases")
	for err == nil && len(keys) > 0 {
		if err := os.WriteFile(filepath.Join(dir, "main.go"), program(keys), 0o600); err != nil {
			return err
		}
		out, failed := g.tool(ctx, dir, "build", "-trimpath", "-ldflags=-s -w", "-o", bin, ".")
		if failed == nil {
			for _, k := range keys {
				g.binaries[k] = bin
			}
			break
		}
		left := slices.DeleteFunc(slices.Clone(keys), func(k string) bool {
			g.failed[k] = strings.Join(regexp.MustCompile(
				`(?m)^\t?`+k+`/.*\n(?:\s.*\n)*`).FindAllString(string(out), -1), "")
			return g.failed[k] != ""
		})
		if len(left) == len(keys) {
			return fmt.Errorf("go build: %w\n%s", failed, out)
		}
		keys = left
	}
	return err
}

// lay writes a package for each code that was not built before and returns their keys.
func (g *golang) lay(dir string, codes []string) (keys []string, err error) {
	for _, code := range codes {
		k := key(code)
		if g.binaries[k] != "" || g.failed[k] != "" || slices.Contains(keys, k) {
			continue
		}
		p := filepath.Join(dir, k)
		if err := os.MkdirAll(p, 0o700); err != nil {
			return nil, err
		}
		for name, b := range g.code.app.Harness {
			file, ok := strings.CutSuffix(name, ".go.txt")
			if !ok {
				continue
			}
			if err := os.WriteFile(filepath.Join(p, file+".go"), b, 0o600); err != nil {
				return nil, err
			}
		}
		if err := layCase(p, "case.go", code); err != nil {
			g.failed[k] = err.Error()
			continue
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// program returns the source of the main package, which selects a case by its key.
func program(keys []string) []byte {
	var imports, table strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&imports, "\t%s \"assaycase/%s\"\n", k, k)
		fmt.Fprintf(&table, "\t%q: %s.Run,\n", k, k)
	}
	return fmt.Appendf(nil, mainGo, imports.String(), table.String())
}

// tool runs the go command offline in dir and returns its output.
func (g *golang) tool(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.code.program, args...)
	cmd.Dir = dir
	// Everything that a harness may import is among Assay's own dependencies.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off",
		"GO111MODULE=on", "GOSUMDB=off", "CGO_ENABLED=0")
	return cmd.CombinedOutput()
}

var ignored = regexp.MustCompile(`(?m)^ignore (\((?s:.*?)^\)|.*)$`)

// module writes go.mod and go.sum such that cases can import the dependencies of Assay from the
// module cache.
func (g *golang) module(dir string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	mod := []byte("module assaycase\n\ngo 1.24\n")
	var sum []byte
	for ; filepath.Dir(root) != root; root = filepath.Dir(root) {
		b, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err != nil || !bytes.HasPrefix(b, []byte("module assay\n")) {
			continue
		}
		b = bytes.Replace(b, []byte("module assay\n"), []byte("module assaycase\n"), 1)
		mod = ignored.ReplaceAll(b, nil)
		if sum, err = os.ReadFile(filepath.Join(root, "go.sum")); err != nil {
			return err
		}
		break
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), mod, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o600)
}
