package events

import (
	"regexp"
	"slices"
	"strings"
)

// SameModel reports whether a served name is the model that was asked. Upper and lower case, a
// provider's prefix, dots for dashes, the order of words and numbers, and a date or a host's
// variant (":free") that one of the names lacks make no difference. Everything else does: a
// model with another size, version or word is another model. The aliases are further names of
// the model that was asked. A router, such as openrouter/auto, chooses itself: every model that
// it chose is the one that was asked.
func SameModel(asked, served string, aliases []string) bool {
	if router.MatchString(strings.ToLower(asked)) {
		return true
	}
	return slices.ContainsFunc(append([]string{asked}, aliases...), func(name string) bool {
		return sameName(name, served)
	})
}

var (
	router = regexp.MustCompile(`^(?:openrouter/(?:auto|free)|@preset/.*)$`)
	// makerPrefix is that of Bedrock: a region, and the model's maker.
	makerPrefix = regexp.MustCompile(`^(?:(?:us|eu|apac|au|jp|ca|global|us-gov)\.)?` +
		`(?:anthropic|openai|meta|mistral|amazon|deepseek|qwen|google|zai|moonshotai?|minimax)\.`)
	bedrockRevision = regexp.MustCompile(`-v\d+(?::\d+)?$`) // of a name with such a prefix
	// hostVariant is what hosts add behind a colon; a size such as Ollama's :8b is none.
	hostVariant = regexp.MustCompile(
		`:(?:free|nitro|floor|online|exacto|batch|extended|thinking|beta|latest)$`)
	contextMark = regexp.MustCompile(`\[\d+[km]\]$`)
	// date is a release at the end of a name: 20251001, 2024-08-06, 05-20, 0709, 09-2025, and
	// Google's revisions such as 001.
	date = regexp.MustCompile(
		`[-@](?:20\d{2}-?[01]\d-?[0-3]\d|[01]\d-?[0-3]\d|[01]\d-20\d{2}|00\d|latest)$`)
	part = regexp.MustCompile(`[a-z]*\d+[a-z][a-z0-9]*|[a-z]+|\d+`)
)

func sameName(a, b string) bool {
	a, dateA := undated(a)
	b, dateB := undated(b)
	if dateA != "" && dateB != "" && dateA != dateB {
		return false
	}
	wordsA, numbersA := partsOf(a)
	wordsB, numbersB := partsOf(b)
	return slices.Equal(wordsA, wordsB) && slices.Equal(numbersA, numbersB)
}

// undated returns a name without what its host adds, and its date without separators.
func undated(name string) (bare, release string) {
	name = strings.ToLower(strings.TrimSpace(name))
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = contextMark.ReplaceAllString(name, "")
	if maker := makerPrefix.FindString(name); maker != "" {
		name = bedrockRevision.ReplaceAllString(name[len(maker):], "")
	}
	name = hostVariant.ReplaceAllString(name, "")
	if at := date.FindStringIndex(name); at != nil {
		name, release = name[:at[0]], strings.Trim(strings.ReplaceAll(name[at[0]:], "-", ""), "@")
	}
	if release == "latest" {
		release = ""
	}
	return name, release
}

// partsOf returns the words of a name, and its numbers.
func partsOf(name string) (words, numbers []string) {
	for _, p := range part.FindAllString(name, -1) {
		if strings.Trim(p, "0123456789") == "" {
			numbers = append(numbers, p)
		} else {
			words = append(words, p)
		}
	}
	return words, numbers
}
