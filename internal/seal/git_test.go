package seal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestARepositoryIsNoOption: what a project names as its repository is no option of git and
// starts no program, whoever made the project.
func TestARepositoryIsNoOption(t *testing.T) {
	p, _ := project(t)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, repository := range []string{"--upload-pack=touch " + ran + ";", "ext::touch " + ran,
		"ssh://-oProxyCommand=touch%20" + ran + "/x"} {
		q := *p
		q.Repository = repository
		_, err := Fetch(t.Context(), &q, t.TempDir(), "")
		require.Error(t, err)
		require.NoFileExists(t, ran, repository)
	}
}

// TestAMirrorIsNotLeft: owner and name cannot lead out of the folder of clones.
func TestAMirrorIsNotLeft(t *testing.T) {
	for repository, want := range map[string]string{
		"https://git.example/a/b.git": "/m/a/b", "git@git.example:a/b.git": "/m/a/b",
		"ssh://git.example/x/a/b/":  "/m/a/b",
		"https://git.example/../..": "", "https://git.example/../b": "",
		"https://git.example/a/...git": "",
	} {
		got, err := source(repository, "/m")
		require.Equal(t, want, got, repository)
		require.Equal(t, want == "", err != nil)
	}
}

// TestGitGetsNoKeys: the environment of git holds no key, and the token of a private
// repository is sent to the host that it is for.
func TestGitGetsNoKeys(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-canary")
	t.Setenv("GIT_EXTERNAL_DIFF", "touch x")
	t.Setenv("SSH_AUTH_SOCK", "/run/agent")
	for token, host := range map[string]string{"": "", "ghp_secret": "github.com",
		"git.example=glpat": "git.example", "abc==": "github.com"} {
		t.Setenv("ASSAY_GIT_TOKEN", token)
		cmd := Git(t.Context(), "config", "--get-regexp", "^http")
		env := strings.Join(cmd.Env, "\n")
		require.NotContains(t, env, "sk-canary")
		require.NotContains(t, env, "GIT_EXTERNAL_DIFF")
		require.NotContains(t, env, "ASSAY_GIT_TOKEN")
		require.Contains(t, env, "SSH_AUTH_SOCK=/run/agent")
		cmd.Dir = os.TempDir()
		out, err := cmd.Output()
		require.Equal(t, host == "", err != nil, "git config finds nothing")
		if host != "" {
			require.True(t, strings.HasPrefix(string(out), "http.https://"+host+
				"/.extraheader Authorization: Basic "), string(out))
		}
	}
}
