package auditor

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"assay/audit"
)

type provider struct {
	name, baseURL, keyName string
	free                   bool // runs on this machine
}

// Anthropic is asked by its OpenAI-compatible endpoint: it takes max_tokens and
// ignores the schema, which is all that a review needs.
var providers = map[string]provider{
	"openrouter": {"openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", false},
	"openai":     {"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", false},
	"anthropic":  {"anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", false},
	"ollama":     {"ollama", "http://localhost:11434/v1", "", true},
}

// A Directory is where the name of a reviewer or an auditor is looked up.
type Directory struct {
	Models   []audit.Model                     // of models.md
	Auditors []audit.AuditorEntry              // of auditors.md
	Given    []audit.Reviewer                  // handed over as Go values
	Getenv   func(string) string               // keys, ASSAY_BASE_URL, ASSAY_API_KEY, OLLAMA_HOST
	Prompt   func(name string) (string, error) // of fixtures/prompts: what a model that audits is told
	Budget   float64                           // USD that one audit by a model may cost; +Inf for no limit
}

// Reviewer finds a reviewer by name: one of Given, "static", a control, a name of auditors.md, a name of
// models.md, or provider:model. Any other name is taken as an ID of OpenRouter's.
//
// With ASSAY_BASE_URL the model is asked there instead, by the name as it was
// given (less "provider:"), with the key in ASSAY_API_KEY if there is one:
// providers' keys are sent to the providers alone.
func (d Directory) Reviewer(name string) (audit.Reviewer, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return nil, fmt.Errorf("no reviewer named: expected static, a name of models.md or auditors.md, or provider:model")
	}
	if i := slices.IndexFunc(d.Given, func(r audit.Reviewer) bool { return r.Name() == name }); i >= 0 {
		return d.Given[i], nil
	}
	if name == "static" {
		return staticReviewer{}, nil
	}
	if c := Control(name); c != nil {
		return c, nil
	}
	model := name
	if i := slices.IndexFunc(d.Auditors, func(e audit.AuditorEntry) bool { return e.Name == name }); i >= 0 {
		switch e := d.Auditors[i]; e.Kind {
		case "static":
			return staticReviewer{}, nil
		case "model":
			model = cmp.Or(e.Model, name)
		default:
			return CommandReviewer(e), nil
		}
	}
	c, err := d.chat(model)
	if err != nil {
		if c.Provider == "openrouter" && c.Model.ID == name && c.Model.Pos.File == "" {
			err = fmt.Errorf("neither fixtures/auditors.md nor fixtures/models.md names %s, and as a model of OpenRouter's: %w", name, err)
		}
		return nil, err
	}
	c.Name = name
	return Chat(c)
}

// Auditor finds an auditor by name: a section of auditors.md or a model, named as
// Reviewer takes it. A model is told the prompt that its section names, by default
// [AuditPrompt]; model+prompt names another one, so that two prompts of a model have
// names, records and baselines of their own.
func (d Directory) Auditor(name string) (audit.Auditor, error) {
	entry, listed := d.entry(name)
	if listed && entry.Kind != "model" {
		return FromEntry(entry), nil
	}
	c, err := d.chat(cmp.Or(entry.Model, entry.Name))
	if err != nil {
		if !listed {
			err = fmt.Errorf("fixtures/auditors.md has no section \"## %s\", and as a model: %w", entry.Name, err)
		}
		return nil, err
	}
	text, err := d.Prompt(entry.Prompt[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return newModel(entry, c, text, d.Budget)
}

// WithPrompt gives the name under which a model audits with a prompt; of an auditor
// that is no model, whose section says what it is told, the name as it is.
func (d Directory) WithPrompt(name, prompt string) string {
	if entry, listed := d.entry(name); listed && entry.Kind != "model" || prompt == AuditPrompt {
		return name
	}
	return name + "+" + prompt
}

// entry gives the section that a name means, or the one that a model without a
// section has. The name of the entry is the whole one, its prompt stands in it.
func (d Directory) entry(name string) (e audit.AuditorEntry, listed bool) {
	model, prompt, _ := strings.Cut(name, "+")
	for _, section := range []string{name, model} {
		if i := slices.IndexFunc(d.Auditors, func(e audit.AuditorEntry) bool { return e.Name == section }); i >= 0 && (section == name || d.Auditors[i].Kind == "model") {
			e, listed = d.Auditors[i], true
			break
		}
	}
	if listed && e.Kind != "model" {
		return e, true
	}
	if !listed {
		e = audit.AuditorEntry{Kind: "model", Model: model}
	}
	e.Name, e.Model = name, cmp.Or(e.Model, model)
	if prompt != "" || len(e.Prompt) == 0 {
		e.Prompt = []string{cmp.Or(prompt, AuditPrompt)}
	}
	return e, listed
}

// Variables gives the variables of the environment that decide who answers to a
// reviewer's name, keys among them, whether they are set or not.
func (d Directory) Variables(name string) []string {
	name = strings.TrimSpace(name)
	if slices.ContainsFunc(d.Given, func(r audit.Reviewer) bool { return r.Name() == name }) || Deterministic(name) {
		return nil
	}
	e, listed := d.entry(name)
	if listed && e.Kind != "model" {
		return append([]string{"ASSAY_SANDBOX"}, e.Variables()...)
	}
	c, _ := d.chat(e.Model) // who cannot be asked has no run to carry on
	names := []string{"ASSAY_BASE_URL", "OLLAMA_HOST"}
	if c.KeyName != "" {
		names = append(names, c.KeyName)
	}
	return names
}

// CheckProvider tells what is wrong with the provider that a line of models.md names.
func CheckProvider(m audit.Model) error {
	if _, known := providers[m.Provider]; known {
		return nil
	}
	return fmt.Errorf("%s: the provider is %q: expected openrouter, openai, anthropic or ollama; every other is asked by ASSAY_BASE_URL (docs/providers.md)", m.Pos, m.Provider)
}

func (d Directory) chat(name string) (ChatConfig, error) {
	p, id := providers["openrouter"], name
	c := ChatConfig{Name: name}
	if before, after, ok := strings.Cut(name, ":"); ok {
		if named, known := providers[before]; known {
			p, id = named, after
		}
	}
	c.Model = audit.Model{Name: name, Provider: p.name, ID: id}
	// A line of models.md is found by its name, or by provider and ID.
	for _, m := range d.Models {
		if m.Name == name || m.Provider == p.name && m.ID == id {
			c.Model = m
			break
		}
	}
	if err := CheckProvider(c.Model); err != nil {
		return c, err
	}
	switch before, _, ok := strings.Cut(id, ":"); {
	case id == "":
		return c, fmt.Errorf("%s names no model: expected one after the colon, like %sNAME", name, name)
	case ok && p.name == "openrouter" && c.Model.Pos.File == "" && !strings.Contains(before, "/") && d.Getenv("ASSAY_BASE_URL") == "": // its IDs are owner/model:variant
		return c, fmt.Errorf("%s: %q is no provider: expected openrouter, openai, anthropic or ollama before the colon; every other is asked by ASSAY_BASE_URL and ASSAY_API_KEY, its model named without a prefix (docs/providers.md: Azure, Bedrock, Vertex, Gemini)", name, before)
	}
	p = providers[c.Model.Provider]
	c.Provider, c.BaseURL, c.KeyName = p.name, p.baseURL, p.keyName
	if base := d.Getenv("ASSAY_BASE_URL"); base != "" {
		u, err := url.Parse(base)
		if err != nil || u.Host == "" {
			return c, fmt.Errorf("ASSAY_BASE_URL is %q: expected a form like http://localhost:8000/v1", withoutPassword(base))
		}
		c.Provider, c.BaseURL, c.KeyName, c.Model.ID = u.Host, base, "ASSAY_API_KEY", id
		c.Key = d.Getenv(c.KeyName)
		return c, nil
	}
	if p.free {
		c.Model.Priced = true
		if h := d.Getenv("OLLAMA_HOST"); h != "" {
			c.BaseURL = ollama(h)
		}
		return c, nil
	}
	if c.Key = d.Getenv(c.KeyName); c.Key == "" {
		return c, fmt.Errorf("%s: %s is not set: put it into .env, or name another reviewer (static needs none)", name, c.KeyName)
	}
	return c, nil
}

// ollama makes a base URL of OLLAMA_HOST, which may lack scheme and port, and have a path.
func ollama(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return host // Chat says what is wrong with it
	}
	if u.Port() == "" && u.Scheme == "http" {
		u.Host += ":11434"
	}
	return strings.TrimSuffix(strings.TrimSuffix(u.String(), "/"), "/v1") + "/v1"
}
