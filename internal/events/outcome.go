package events

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// An AgentResult is the result of an agent's run according to its own events.
type AgentResult struct {
	Report  string   // the agent's last answer
	Asked   string   // the model that the agent asked; empty where it does not say
	Served  []string // the models that answered, in this order; empty where it does not say
	Swapped bool     // whether the proxy saw that Served answered where Asked was asked
	Refused string   // how the model refused, with what the agent did then; empty where it did not
	Unasked string   // why no model was asked at all; empty where one was
	Failed  string   // why the agent says that its run failed; empty where it does not
	Stopped string   // why its model was stopped before it had finished; empty where it was not
	Skills  []string // the commands and skills that claude knows; nil where it does not say

	// Usage.TokensIn counts everything that the model read, cached or not.
	Usage audit.Usage
}

// Model returns the models that answered, joined by a comma, or the model that was asked if the
// events do not say who answered.
func (o *AgentResult) Model() string { return cmp.Or(strings.Join(o.Served, ", "), o.Asked) }

// Unmeasured returns why the run does not measure the model that was asked: another model
// answered, the model refused, or no request was made. It returns "" if none of that is known.
// asked and aliases take precedence over the model in the events.
func (o *AgentResult) Unmeasured(asked string, aliases []string) string {
	if asked = cmp.Or(asked, o.Asked); o.Swapped {
		asked = o.Asked
	}
	other := slices.IndexFunc(o.Served,
		func(m string) bool { return !SameModel(asked, m, aliases) })
	switch {
	case o.Refused != "":
		return "the model refused: " + o.Refused
	case o.Unasked != "":
		return "no model was asked: " + o.Unasked
	case asked != "" && other >= 0:
		return fmt.Sprintf("another model answered: %s was asked, and %s answered", asked,
			o.Served[other])
	}
	return ""
}

// UnknownCommand returns the first word of a prompt such as "/plug:audit ." if claude does not
// know it as a command or skill: claude then sends it to the model as plain text.
func (o *AgentResult) UnknownCommand(prompt string) string {
	command := slashCommand.FindString(prompt)
	if command == "" || o.Skills == nil || slices.Contains(o.Skills, command[1:]) {
		return ""
	}
	return command
}

var slashCommand = regexp.MustCompile(`^/[A-Za-z][\w:.-]*`)

// refusals matches the words by which providers refuse a request for its content, as agents
// quote them.
var refusals = regexp.MustCompile(
	`(?i)flagged for possible|cyber_policy|safeguards (?:flagged|stopped)|` +
		`content[ _-]?(?:policy|filter)|blocked by .{0,40}filter|violat\w+ .{0,40}usage policy`)

// serves notes that a model answered.
func (o *AgentResult) serves(model string) {
	if model != "" && !slices.Contains(o.Served, model) {
		o.Served = append(o.Served, model)
	}
}

// fails notes why the run failed, and whether that is a refusal of the model.
func (o *AgentResult) fails(why string) {
	if o.Failed = strings.TrimSpace(why); o.Refused == "" && refusals.MatchString(why) {
		o.Refused = audit.OneLine(o.Failed, 300)
	}
}
