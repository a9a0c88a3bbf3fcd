package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const maxEntry = 32 << 20

var ErrName = errors.New("name not allowed")

var formats = map[string]string{"pdf": "pdf", "odt": "odt", "html": "html"}

// Conversion describes one document conversion.
type Conversion struct {
	Source string `json:"source"`
	Target string `json:"target"`
	Title  string `json:"title"`
	Format string `json:"format"`
}

func inside(base, name string) (string, error) {
	full := filepath.Join(base, name)
	rel, err := filepath.Rel(base, full)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", ErrName
	}
	return full, nil
}

func copyEntry(f *zip.File, dest string) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(dest), 0o750); err != nil {
		return err
	}
	out, err := os.OpenFile(dest, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, io.LimitReader(in, maxEntry))
	return err
}

// UnpackMail expands an exported mailbox into the spool.
func UnpackMail(data []byte, spool string) (int, error) {
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	n := 0
	for _, f := range zr.File {
		if f.FileInfo().IsDir() || !strings.HasSuffix(f.Name, ".eml") {
			continue
		}
		if err := copyEntry(f, filepath.Join(spool, f.Name)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// UnpackLogos expands a branding bundle.
func UnpackLogos(data []byte, dir string) error {
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	for _, f := range zr.File {
		if f.FileInfo().IsDir() {
			continue
		}
		dest, err := inside(dir, f.Name)
		if err != nil {
			return err
		}
		body, err := readEntry(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(dest, body, 0o640); err != nil {
			return err
		}
	}
	return nil
}

func readEntry(f *zip.File) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, maxEntry))
}

// ReadExport returns a finished export.
func ReadExport(dir, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(dir, name))
}

// ReadSpool returns a message of the spool.
func ReadSpool(dir, name string) ([]byte, error) {
	full, err := inside(dir, name)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(full)
}

// WriteReport keeps a rendered report.
func WriteReport(dir string, id int64, body []byte) (string, error) {
	name := fmt.Sprintf("report-%d.html", id)
	return name, os.WriteFile(filepath.Join(dir, name), body, 0o640)
}

func (c Conversion) arguments() []string {
	return []string{"--metadata", "title=" + c.Title, "-o", c.Target, c.Source}
}

// Convert renders a document with pandoc.
func Convert(ctx context.Context, dir string, c Conversion) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	line := "cd " + dir + " && pandoc " + strings.Join(c.arguments(), " ")
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// Office turns a stored report into another format.
func Office(ctx context.Context, dir, format string, id int64) error {
	ext, ok := formats[format]
	if !ok {
		return fmt.Errorf("format %q not supported", format)
	}
	cmd := exec.CommandContext(ctx, "soffice", "--headless", "--convert-to", ext, fmt.Sprintf("report-%d.html", id))
	cmd.Dir = dir
	return cmd.Run()
}
