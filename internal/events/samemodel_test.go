package events

import "testing"

func TestSameModel(t *testing.T) {
	for _, c := range []struct {
		asked, served string
		same          bool
	}{
		{"gpt-5", "gpt-5-mini", false},
		{"gpt-5", "gpt-5-2025-08-07", true},
		{"gpt-5", "gpt-5.4", false},
		{"gpt-5", "gpt-5-codex", false},
		{"gpt-5", "gpt-5-chat-latest", false},
		{"gpt-5-mini", "gpt-5-mini-2025-08-07", true},
		{"gpt-5.4", "gpt-4.5", false},
		{"gpt-4o", "gpt-4o-mini", false},
		{"gpt-4o", "gpt-4o-2024-08-06", true},
		{"gpt-4o-2024-08-06", "gpt-4o-2024-11-20", false},
		{"gpt-4o", "chatgpt-4o-latest", false},
		{"gpt-4", "gpt-4-0613", true},
		{"gpt-4-turbo", "gpt-4-turbo-2024-04-09", true},
		{"gpt-6-sol", "gpt-6-luna", false},
		{"gpt-6.2-sol", "gpt-6.1-sol", false},
		{"openai/gpt-4o-mini", "gpt-4o-mini", true},
		{"openai/gpt-4o-mini", "openai/gpt-4o-mini-2024-07-18", true},
		{"o3", "o3-mini", false},
		{"o3", "o4-mini", false},
		{"claude-haiku-4-5", "claude-haiku-4-5-20251001", true},
		{"claude-haiku-4.5", "claude-haiku-4-5-20251001", true},
		{"claude-haiku-4-5", "claude-haiku-5-5", false},
		{"claude-opus-5", "claude-opus-5-5", false},
		{"claude-opus-5-5", "claude-opus-4-8", false},
		{"claude-opus-5-5[1m]", "claude-opus-5-5", true},
		{"claude-sonnet-5-5", "claude-opus-5-5", false},
		{"anthropic/claude-sonnet-4.5", "anthropic/claude-4.5-sonnet-20250929", true},
		{"us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5-20250929", true},
		{"claude-sonnet-4-5@20250929", "claude-sonnet-4-5", true},
		{"openrouter/auto", "anthropic/claude-opus-5-5", true},
		{"openrouter/auto-beta", "anthropic/claude-opus-5-5", false},
		{"qwen/qwen3-coder:free", "qwen/qwen3-coder", true},
		{"qwen/qwen3-coder", "qwen/qwen3-coder-plus", false},
		{"llama3.1:8b", "llama3.1:8b", true},
		{"llama3.1:8b", "llama3.1:70b", false},
		{"llama3.1", "llama3.1:latest", true},
		{"meta-llama/llama-3.3-70b-instruct", "Meta-Llama/Llama-3.3-70B-Instruct", true},
		{"meta-llama/llama-3.3-70b-instruct", "meta-llama/Llama-3.3-70B-Instruct-Turbo", false},
		{"models/gemini-2.5-pro", "gemini-2.5-pro", true},
		{"gemini-2.5-pro", "gemini-2.5-flash", false},
		{"gemini-2.5-flash", "gemini-2.5-flash-lite", false},
		{"gemini-2.0-flash", "gemini-2.0-flash-001", true},
		{"gemini-2.5-flash-preview", "gemini-2.5-flash-preview-09-2025", true},
		{"gemini-3.1-pro-preview", "gemini-3.1-pro", false},
		{"deepseek-v3", "deepseek-v4", false},
		{"deepseek/deepseek-v4-pro", "deepseek-flash", false},
		{"deepseek-ai/DeepSeek-V3", "deepseek-v3-0324", true},
		{"grok-4", "grok-4-0709", true},
		{"grok-4", "grok-4-fast", false},
		{"glm-5.2", "glm-5.3", false},
		{"mistral-large-latest", "mistral-large-2411", false},
		{"my-deployment", "gpt-5", false},
		{"gpt-5", "", false},
	} {
		if got := SameModel(c.asked, c.served, nil); got != c.same {
			t.Errorf("asked %s, served %s: same %v", c.asked, c.served, got)
		}
		if !router.MatchString(c.asked) && SameModel(c.served, c.asked, nil) != c.same {
			t.Errorf("asked %s, served %s: not the same the other way round", c.served, c.asked)
		}
	}
	for _, alias := range []string{"gpt-5", "gpt-5-2025-08-07"} {
		if !SameModel("my-deployment", "gpt-5", []string{"other", alias}) {
			t.Errorf("%s is an alias", alias)
		}
	}
}
