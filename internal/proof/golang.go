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

// golang builds Go cases. Each case becomes a package of its own, beside a copy
// of the application's harness*.go.txt, and many packages become one program:
// linking once is what makes hundreds of cases bearable.
type golang struct {
	code     *Code
	binaries map[string]string // by key: the program that holds the case
	failed   map[string]string // by key: the compiler's words
}

func key(code string) string {
	sum := sha256.Sum256([]byte(code))
	return "c" + hex.EncodeToString(sum[:8])
}

// Prepare builds many codes at once, which is much faster than one by one. For
// languages that are not built it does nothing. Codes that do not compile are
// told by Run.
func (c *Code) Prepare(ctx context.Context, codes []string) error {
	if c.golang == nil {
		return nil
	}
	return c.golang.build(ctx, codes)
}

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

func (g *golang) build(ctx context.Context, codes []string) error {
	dir, err := os.MkdirTemp(g.code.dir, "build")
	if err != nil {
		return err
	}
	if err := g.module(dir); err != nil {
		return err
	}
	harness := map[string][]byte{}
	for name, b := range g.code.app.Harness {
		if file, ok := strings.CutSuffix(name, ".go.txt"); ok {
			harness[file+".go"] = b
		}
	}
	var keys []string
	for _, code := range codes {
		k := key(code)
		if g.binaries[k] != "" || g.failed[k] != "" || slices.Contains(keys, k) {
			continue
		}
		keys = append(keys, k)
		p := filepath.Join(dir, k)
		if err := os.MkdirAll(p, 0o700); err != nil {
			return err
		}
		for name, b := range harness {
			if err := os.WriteFile(filepath.Join(p, name), b, 0o600); err != nil {
				return err
			}
		}
		if err := layCase(p, "case.go", code); err != nil {
			g.failed[k] = err.Error()
			keys = keys[:len(keys)-1]
			if err := os.RemoveAll(p); err != nil {
				return err
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	keys, err = g.compile(ctx, dir, keys)
	if err != nil || len(keys) == 0 {
		return err
	}
	return g.link(ctx, dir, keys)
}

var packageError = regexp.MustCompile(`(?m)^# assaycase/(c[0-9a-f]{16})\n((?:[^#].*\n?)*)`)

// compile gives the keys of the packages that compile, and notes why others failed.
func (g *golang) compile(ctx context.Context, dir string, keys []string) ([]string, error) {
	out, err := g.tool(ctx, dir, "build", "-trimpath", "./...")
	if err == nil {
		return keys, nil
	}
	for _, m := range packageError.FindAllStringSubmatch(string(out), -1) {
		g.failed[m[1]] = m[2]
	}
	// A file that does not parse has no "# package" line of its own.
	for _, k := range keys {
		if g.failed[k] == "" && bytes.Contains(out, []byte(k+string(filepath.Separator)+"case.go")) {
			g.failed[k] = string(out)
		}
	}
	left := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return g.failed[k] != "" })
	if len(left) == len(keys) {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return left, nil
}

func (g *golang) link(ctx context.Context, dir string, keys []string) error {
	var imports, table strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&imports, "\t%s \"assaycase/%s\"\n", k, k)
		fmt.Fprintf(&table, "\t%q: %s.Run,\n", k, k)
	}
	main := fmt.Sprintf(mainGo, imports.String(), table.String())
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o600); err != nil {
		return err
	}
	bin := filepath.Join(dir, "cases")
	if out, err := g.tool(ctx, dir, "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "."); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	for _, k := range keys {
		g.binaries[k] = bin
	}
	return nil
}

func (g *golang) tool(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, g.code.program, args...)
	cmd.Dir = dir
	// Everything that a harness may import is among Assay's own dependencies.
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off", "GO111MODULE=on", "GOSUMDB=off")
	return cmd.CombinedOutput()
}

var ignored = regexp.MustCompile(`(?m)^ignore (\((?s:.*?)^\)|.*)$`)

// module lets the cases import what Assay itself depends on, from the module
// cache.
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
