package seal

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// gitPasses names the variables that git is started with: the rest of the environment holds
// keys, and GIT_ variables that name programs.
var gitPasses = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE",
	"SYSTEMROOT", "USERPROFILE", "TEMP", "TMP",
	"SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
}

// gitConfig wins over the configuration of the repository that git works in, which may be
// foreign: no setting of it starts a program.
var gitConfig = []string{
	"core.fsmonitor", "false", "core.hooksPath", os.DevNull, "core.attributesFile", os.DevNull,
	"protocol.ext.allow", "never", "log.showSignature", "false", "commit.gpgSign", "false",
	"fetch.recurseSubmodules", "false", "submodule.recurse", "false", "diff.ignoreSubmodules",
	"all",
	"gc.auto", "0", "maintenance.auto", "false",
}

// Git returns the command git with these arguments. It reads no configuration of the user or
// the system, runs no hook and no monitor, and is started without the keys of our environment.
// An argument that comes from a file follows "--". ASSAY_GIT_TOKEN is sent to github.com, or
// to the host that it names as in "git.example.com=TOKEN", and nowhere else.
func Git(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(gitPasses, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1")
	config := gitConfig
	if token := os.Getenv("ASSAY_GIT_TOKEN"); token != "" {
		host, rest, found := strings.Cut(token, "=")
		if !found || rest == "" || !strings.Contains(host, ".") {
			host, rest = "github.com", token
		}
		basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + rest))
		config = slices.Concat(config,
			[]string{"http.https://" + host + "/.extraHeader", "Authorization: Basic " + basic})
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(config)/2))
	for i := 0; i < len(config); i += 2 {
		n := strconv.Itoa(i / 2)
		cmd.Env = append(cmd.Env,
			"GIT_CONFIG_KEY_"+n+"="+config[i], "GIT_CONFIG_VALUE_"+n+"="+config[i+1])
	}
	return cmd
}

// GitOutput runs git with these arguments and returns what it prints.
func GitOutput(ctx context.Context, args ...string) (string, error) {
	out, err := Git(ctx, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		said := strings.TrimSpace(string(exit.Stderr) + string(out))
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, said)
	}
	return strings.TrimSpace(string(out)), err
}
