package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// parses checks that the command line is one of ours.
func parses(t *testing.T, args []string) {
	t.Helper()
	var c cli
	p, err := kong.New(&c, kong.Vars{"version": ""},
		kong.Exit(func(int) { t.Errorf("%v ends at once", args) }))
	require.NoError(t, err)
	_, err = p.Parse(dashes(args))
	require.NoError(t, err, "%v", args)
}

// A manifest is read as what it says, whatever it is.
type manifest = map[string]any

func readManifest(t *testing.T, name string) manifest {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", name))
	require.NoError(t, err)
	m := manifest{}
	require.NoError(t, yaml.Unmarshal(b, &m), name)
	return m
}

// find gives every value of a key, at any depth.
func find(in any, key string) (found []any) {
	switch v := in.(type) {
	case map[string]any:
		for k, e := range v {
			if k == key {
				found = append(found, e)
			}
			found = append(found, find(e, key)...)
		}
	case []any:
		for _, e := range v {
			found = append(found, find(e, key)...)
		}
	}
	return found
}

func words(t *testing.T, list any) (args []string) {
	t.Helper()
	items, ok := list.([]any)
	require.True(t, ok, "%v: expected a list of words", list)
	for _, a := range items {
		args = append(args, a.(string))
	}
	return args
}

// TestDeploymentsSpeakOurLanguage: every command of the manifests is one that the
// program takes. Their form is checked by the module deploy/check, against
// Kubernetes' own types.
func TestDeploymentsSpeakOurLanguage(t *testing.T) {
	seen := []string{}
	for _, name := range []string{"deploy/kubernetes.yaml", "deploy/kubernetes-run.yaml"} {
		for _, list := range find(readManifest(t, name), "args") {
			args := words(t, list)
			parses(t, args)
			seen = append(seen, args[0])
		}
	}
	compose := readManifest(t, "compose.yaml")
	worker := compose["services"].(map[string]any)["worker"].(map[string]any)
	args := words(t, worker["command"])
	parses(t, args)
	require.Equal(t, "work", args[0])
	require.Contains(t, worker["environment"].(map[string]any)["ASSAY_DB"], "postgres://")
	slices.Sort(seen)
	require.Equal(t, []string{"enqueue", "work", "work"}, seen)

	// What the comments tell people to type is typed as it stands.
	typed := regexp.MustCompile(
		`(?m)^# +(?:docker compose run --rm worker|docker run .* assay) (.*)$`)
	n := 0
	for _, name := range []string{"compose.yaml", "Dockerfile"} {
		b, err := os.ReadFile(filepath.Join("../..", name))
		require.NoError(t, err)
		for _, m := range typed.FindAllStringSubmatch(string(b), -1) {
			parses(t, strings.Fields(m[1]))
			n++
		}
	}
	require.Equal(t, 2, n)
}

// TestImageIsBuilt runs the Dockerfile's step that makes the image's content, and
// the program from there: it finds its cases and fixtures, and nothing else is
// copied. Packages are not installed here.
func TestImageIsBuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: nothing is built")
	}
	b, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	var steps []string
	for _, line := range strings.Split(string(b), "\n") {
		if s, ok := strings.CutPrefix(line, "RUN deploy/"); ok {
			steps = append(steps, "deploy/"+s)
		}
	}
	require.Len(t, steps, 1)
	require.Contains(t, string(b), "COPY --from=build /out /\n")
	require.Contains(t, string(b), "\nWORKDIR /assay\n")
	out := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("sh", "-c", strings.Replace(steps[0], "/out", out, 1))
	// An image is built from scratch, which takes minutes; here the cache serves.
	cgo, err := exec.Command("go", "env", "CGO_ENABLED").Output()
	require.NoError(t, err)
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "ASSAY_BUILD_FLAGS=",
		"CGO_ENABLED="+strings.TrimSpace(string(cgo)))
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	entries, err := os.ReadDir(filepath.Join(out, "assay"))
	require.NoError(t, err)
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"fixtures", "smoke-test-fixture", "tests"}, names)

	entry := regexp.MustCompile(`ENTRYPOINT \["(.*)"\]`).FindStringSubmatch(string(b))
	require.NotNil(t, entry)
	cmd = exec.Command(filepath.Join(out, entry[1]), "work")
	cmd.Dir, cmd.Env = filepath.Join(out, "assay"), []string{"HOME=" + t.TempDir()}
	text, err = cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(text), "ASSAY_DB is not set")

	// Neither secrets nor results get into the image's build.
	ignored, err := os.ReadFile("../../.dockerignore")
	require.NoError(t, err)
	for _, name := range []string{".env", ".git", "records", "results.db*"} {
		require.Contains(t, strings.Split(string(ignored), "\n"), name)
	}
}
