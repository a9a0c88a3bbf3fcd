package workflow

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// isCommand follows actions/runner's ActionCommand.TryParseV2 and TryParse, with every name
// registered: white space is trimmed, "::" begins and ends what names the command; else "##["
// and a later "]" do, wherever they stand.
func isCommand(line string) bool {
	if rest, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok &&
		strings.Contains(rest, "::") {
		return true
	}
	_, rest, ok := strings.Cut(line, "##[")
	return ok && strings.Contains(rest, "]")
}

func lines(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"::error::x":                     ": :error::x",
		"a\n \t::add-mask::y\nb":         "a\n \t: :add-mask::y\nb",
		"a\r::set-env name=A::b":         "a\r: :set-env name=A::b",
		"\u00a0\u2003\u0085::error::x":   "\u00a0\u2003\u0085: :error::x",
		"\x1b[0m::error::x":              "\x1b[0m::error::x",
		":::error::":                     ": ::error::",
		"see Foo::bar and ::baz":         "see Foo::bar and ::baz",
		": ::error::":                    ": ::error::",
		"x ##[error]y ###[group]z":       "x ## [error]y ### [group]z",
		"##vso[task.x]y ##teamcity[z ']": "##vso [task.x]y ##teamcity [z ']",
		"# [a](b) ## x [y] #[derive(A)]": "# [a](b) ## x [y] #[derive(A)]",
	} {
		require.Equal(t, want, Text(in))
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"::error::x", "a\n  ::x::", "##[error]x", "##\n[a]", "\x00::a::",
		"::\u200b::a::", "#\xff#[a]"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		text := Text(s)
		for _, line := range lines(text) {
			require.False(t, isCommand(line), "%q", line)
		}
		require.Equal(t, strings.ReplaceAll(s, " ", ""), strings.ReplaceAll(text, " ", ""))
		var b strings.Builder
		w := &Writer{To: &b}
		cut = min(max(cut, 0), len(s))
		_, _ = w.Write([]byte(s[:cut]))
		_, _ = w.Write([]byte(s[cut:]))
		require.Equal(t, text, b.String())
	})
}
