package suite

import (
	"assay/audit"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// chatModel finds the model that a chat reviewer asked for in its settings.
var chatModel = regexp.MustCompile(`(?m)^chat \d+ model (\S+) at `)

// servedBy is "" where the model that was asked answered: a provider may fall back to another,
// and what that says is no measure of the first.
func (b *bench) servedBy(s variant) string {
	served, odd := map[string]int{}, false
	for _, r := range b.results(s) {
		ev := &r.Evaluation
		m := chatModel.FindStringSubmatch(ev.Settings)
		if m == nil || ev.Served == "" {
			continue
		}
		served[ev.Served]++
		odd = odd || !alike(m[1], ev.Served)
	}
	if !odd && len(served) < 2 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(served)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", audit.OneLine(name, 80), served[name]))
	}
	return "answers were given by " + strings.Join(parts, ", ")
}

var word = regexp.MustCompile(`[a-z]+|[0-9]+`)

// alike reports whether two names may be one model's: the words of one, its
// maker's aside, are all in the other. Providers add dates, and turn names round.
func alike(a, b string) bool {
	words := func(s string) []string {
		return word.FindAllString(strings.ToLower(s[strings.LastIndexByte(s, '/')+1:]), -1)
	}
	within := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
	}
	return within(words(a), words(b)) || within(words(b), words(a))
}
