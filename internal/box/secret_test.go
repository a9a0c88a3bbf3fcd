package box

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSecret checks that variables which hold a secret are known by a word of their name.
func TestSecret(t *testing.T) {
	for _, name := range strings.Fields(
		"OPENAI_API_KEY OPENAI_APIKEY API_KEYS AWS_SECRET_ACCESS_KEY ANTHROPIC_AUTH_TOKEN GITHUB_TOKEN token OPENAI_KEY_STAGING KEY_2 PGPASSWORD DB_PASSWD PASSPHRASE GOOGLE_APPLICATION_CREDENTIALS PROXY_AUTHORIZATION BASIC_AUTH npm-token") {
		require.True(t, Secret(name), name)
	}
	for _, name := range strings.Fields(
		"MAX_THINKING_TOKENS CLAUDE_CODE_MAX_OUTPUT_TOKENS GIT_AUTHOR_NAME KEYBOARD TOKENIZERS_PARALLELISM PATH HOME") {
		require.False(t, Secret(name), name)
	}
}
