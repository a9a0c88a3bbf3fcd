package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

var ErrName = errors.New("name not allowed")

var protocolName = regexp.MustCompile(`^[a-z0-9-]{3,40}\.pdf$`)

type Files struct {
	uploads string
	reports string
}

func NewFiles(uploads, reports string) *Files {
	return &Files{uploads: uploads, reports: reports}
}

func (f *Files) target(folder, name string) string {
	return filepath.Join(f.uploads, folder, name)
}

func (f *Files) KeepTrace(folder, name string, body io.Reader) (string, error) {
	path := f.target(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return "", err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o640)
	if err != nil {
		return "", err
	}
	defer out.Close()
	_, err = io.Copy(out, io.LimitReader(body, 20<<20))
	return path, err
}

func (f *Files) Report(name string) (*os.File, error) {
	path := filepath.Join(f.reports, filepath.Clean("/"+name))
	if !strings.HasPrefix(path, filepath.Clean(f.reports)+string(os.PathSeparator)) {
		return nil, ErrName
	}
	return os.Open(path)
}

func (f *Files) Protocol(name string) ([]byte, error) {
	if !protocolName.MatchString(name) {
		return nil, ErrName
	}
	return os.ReadFile(filepath.Join(f.reports, "protocols", name))
}

func (f *Files) Plot(ctx context.Context, sample int64, title string) (string, error) {
	out := filepath.Join(f.reports, fmt.Sprintf("plot-%d.png", sample))
	script := fmt.Sprintf(`plotter --in %s/%d.dat --out %s --title "%s"`, f.uploads, sample, out, title)
	if output, err := exec.CommandContext(ctx, "/bin/sh", "-c", script).CombinedOutput(); err != nil {
		return "", fmt.Errorf("plotter: %w: %s", err, output)
	}
	return out, nil
}

func (f *Files) Merge(ctx context.Context, sample int64, title string) (string, error) {
	out := filepath.Join(f.reports, fmt.Sprintf("merged-%d.pdf", sample))
	cmd := exec.CommandContext(ctx, "pdfmerge", "--title="+title, "--out", out, filepath.Join(f.reports, fmt.Sprintf("plot-%d.png", sample)))
	return out, cmd.Run()
}
