package auditor

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/events"
	"assay/internal/patterns"
)

type provider struct {
	name, baseURL, keyName string
	api                    string // chat, responses or messages, where a model's row states none
}

// providers are those that a row of models.md may name. The address of own is that of
// ASSAY_BASE_URL; ollama runs on this machine and is free.
var providers = map[string]provider{
	"openrouter": {"openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "chat"},
	"openai":     {"openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "chat"},
	"anthropic":  {"anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "messages"},
	"google": {"google", "https://generativelanguage.googleapis.com/v1beta/openai",
		"GEMINI_API_KEY", "chat"},
	"ollama": {"ollama", "http://localhost:11434/v1", "", "chat"},
	"own":    {"own", "", "ASSAY_API_KEY", "chat"},
}

const providerNames = "openrouter, openai, anthropic, google, ollama or own"

// A Registry is where the name of a reviewer or an auditor is looked up.
type Registry struct {
	Models   []audit.Model        // of models.md
	Auditors []audit.AuditorEntry // of auditors.md
	Provided []audit.Reviewer     // handed over as Go values
	Getenv   func(string) string  // keys, ASSAY_BASE_URL, ASSAY_API_KEY, OLLAMA_HOST
	// of fixtures/prompts: what a model that audits is told
	Prompt func(name string) (string, error)
	// USD that one audit by a model may cost; +Inf for no limit
	Budget float64
}

// Reviewer returns the reviewer of a name: one of Given, "patterns", a control, a name of
// auditors.md or models.md, provider:model, or an ID of OpenRouter's like maker/model.
//
// With ASSAY_BASE_URL the model is asked there instead, with the key in ASSAY_API_KEY if
// there is one: providers' keys are sent to the providers alone. It is asked by the ID of
// its row, and by its name where it has none or the row's ID is OpenRouter's.
func (d Registry) Reviewer(name string) (audit.Reviewer, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return nil, fmt.Errorf(
			"no reviewer named: expected patterns, a name of models.md or auditors.md, or provider:model")
	}
	if i := slices.IndexFunc(d.Provided,
		func(r audit.Reviewer) bool { return r.Name() == name }); i >= 0 {
		return d.Provided[i], nil
	}
	if name == patterns.Name {
		return patterns.Reviewer{}, nil
	}
	if c := Control(name); c != nil {
		return c, nil
	}
	model := name
	if i := slices.IndexFunc(d.Auditors,
		func(e audit.AuditorEntry) bool { return e.Name == name }); i >= 0 {
		switch e := d.Auditors[i]; e.Kind {
		case "patterns":
			return patterns.Reviewer{}, nil
		case "model":
			model = cmp.Or(e.Model, name)
		default:
			return CommandReviewer(e), nil
		}
	}
	c, err := d.chat(model)
	if err == nil && !c.Model.Priced && !math.IsInf(d.Budget, 1) {
		err = noPrice(c.Model)
	}
	if err != nil {
		return nil, err
	}
	c.Name = name
	return Chat(c)
}

// Auditor finds an auditor by name: a section of auditors.md or a model, named as
// Reviewer takes it. A model is told the prompt that its section names, by default
// [AuditPrompt]; model+prompt names another one, so that two prompts of a model have
// names, records and baselines of their own.
func (d Registry) Auditor(name string) (audit.Auditor, error) {
	entry, listed := d.entry(name)
	if listed && entry.Kind != "model" {
		return FromEntry(entry, d.aliases(askedModel(entry))...), nil
	}
	c, err := d.chat(cmp.Or(entry.Model, entry.Name))
	if err != nil {
		if !listed {
			err = fmt.Errorf("fixtures/auditors.md has no section \"## %s\", and as a model: %w",
				entry.Name, err)
		}
		return nil, err
	}
	text, err := d.Prompt(entry.Prompt[0])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return newModel(entry, c, text, d.Budget)
}

// WithPrompt returns the name under which a model audits with a prompt; of an auditor
// that is no model, whose section says what it is told, the name as it is.
func (d Registry) WithPrompt(name, prompt string) string {
	if entry, listed := d.entry(name); listed && entry.Kind != "model" || prompt == AuditPrompt {
		return name
	}
	return name + "+" + prompt
}

// entry gives the section that a name means, or the one that a model without a
// section has. The name of the entry is the whole one, its prompt stands in it.
func (d Registry) entry(name string) (e audit.AuditorEntry, listed bool) {
	model, prompt, _ := strings.Cut(name, "+")
	for _, section := range []string{name, model} {
		if i := slices.IndexFunc(d.Auditors,
			func(e audit.AuditorEntry) bool { return e.Name == section }); i >= 0 &&
			(section == name || d.Auditors[i].Kind == "model") {
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

// Has reports whether a name is that of a section of auditors.md, a row of models.md, a
// provided reviewer or a control.
func (d Registry) Has(name string) bool {
	return Control(name) != nil ||
		slices.ContainsFunc(d.Auditors,
			func(a audit.AuditorEntry) bool { return a.Name == name }) ||
		slices.ContainsFunc(d.Models, func(m audit.Model) bool { return m.Name == name }) ||
		slices.ContainsFunc(d.Provided, func(r audit.Reviewer) bool { return r.Name() == name })
}

// Variables returns the variables of the environment that decide who answers to a
// reviewer's name, keys among them, whether they are set or not.
func (d Registry) Variables(name string) []string {
	name = strings.TrimSpace(name)
	if slices.ContainsFunc(d.Provided, func(r audit.Reviewer) bool { return r.Name() == name }) ||
		Deterministic(name) {
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

// CheckProvider reports what is wrong with the provider and the API of a row of models.md.
func CheckProvider(m audit.Model) error {
	if _, known := providers[m.Provider]; !known {
		return fmt.Errorf("%s: the provider is %q: expected %s, which is the server that "+
			"ASSAY_BASE_URL names (docs/auditors.md)", m.Pos, m.Provider, providerNames)
	}
	return nil
}

// noPrice returns the error for a model whose price nobody has stated.
func noPrice(m audit.Model) error {
	if m.Pos.File != "" {
		return fmt.Errorf("%s: no price is known for %s, so no budget can hold: expected USD per "+
			"million tokens under In and Out, or -budget none", m.Pos, m.Name)
	}
	return fmt.Errorf("no price is known for %s, so no budget can hold: add a row to "+
		"fixtures/models.md, like\n| %s | %s | %s | 0.50 | 1.50 | | 2026-11-24 | | | its price list |\n"+
		"or run with -budget none", m.Name, m.Name, m.Provider, m.ID)
}

// aliases returns the other names that models.md lists for a model.
func (d Registry) aliases(model string) (names []string) {
	for _, m := range d.Models {
		same := slices.Concat([]string{m.Name, m.ID}, m.Aliases)
		if slices.ContainsFunc(same,
			func(name string) bool { return events.SameModel(model, name, nil) }) {
			names = append(names, same...)
		}
	}
	return names
}

// row returns the row of a model: by its name, or by provider and ID. An ID of OpenRouter's
// without a row has the prices of its maker's row, which OpenRouter passes on.
func (d Registry) row(name, provider, id string) audit.Model {
	for _, m := range d.Models {
		if m.Name == name || m.Provider == provider && m.ID == id {
			return m
		}
	}
	found := audit.Model{Name: name, Provider: provider, ID: id}
	if maker, own, ok := strings.Cut(id, "/"); ok && provider == "openrouter" {
		for _, m := range d.Models {
			if m.Provider == maker && (m.ID == own || slices.Contains(m.Aliases, own)) {
				found.In, found.Out, found.Cached, found.Priced = m.In, m.Out, m.Cached, m.Priced
				found.Aliases = append(m.Aliases, m.ID)
				break
			}
		}
	}
	return found
}

// chat returns how the model of a name is asked.
func (d Registry) chat(name string) (ChatConfig, error) {
	p, id := providers["openrouter"], name
	before, after, prefixed := strings.Cut(name, ":")
	if named, known := providers[before]; prefixed && known {
		p, id = named, after
	} else {
		prefixed = false
	}
	c := ChatConfig{Name: name, Model: d.row(name, p.name, id)}
	base := d.Getenv("ASSAY_BASE_URL")
	maker, _, variant := strings.Cut(id, ":")
	switch listed := c.Model.Pos.File != "" || c.Model.Priced; {
	case id == "":
		return c, fmt.Errorf("%s names no model: expected one after the colon, like %sNAME", name,
			name)
	case listed:
		if err := CheckProvider(c.Model); err != nil {
			return c, err
		}
	case prefixed || base != "" || strings.Contains(maker, "/"):
	case variant:
		return c, fmt.Errorf("%s: %q is no provider: expected %s before the colon; every other is "+
			"asked by ASSAY_BASE_URL and ASSAY_API_KEY, its model named without a prefix "+
			"(docs/auditors.md: Azure, Bedrock, Vertex)", name, maker, providerNames)
	default:
		return c, fmt.Errorf("%s is neither a section of fixtures/auditors.md nor a row of "+
			"fixtures/models.md: expected a name of theirs, provider:model (openai:gpt-6-sol), an ID "+
			"of OpenRouter's (maker/model), or a new row, like\n"+
			"| %s | openrouter | maker/%s | 0.50 | 1.50 | | 2026-11-24 | | | its price list |",
			name, name, name)
	}
	p = providers[c.Model.Provider]
	c.Provider, c.BaseURL, c.KeyName = p.name, p.baseURL, p.keyName
	c.Model.Settings.API = cmp.Or(c.Model.Settings.API, p.api)
	switch {
	case base != "":
		u, err := url.Parse(base)
		if err != nil || u.Host == "" {
			return c, fmt.Errorf(
				"ASSAY_BASE_URL is %q: expected a form like http://localhost:8000/v1",
				withoutPassword(base))
		}
		c.Provider, c.BaseURL, c.KeyName = u.Host, base, providers["own"].keyName
		if c.Model.Pos.File == "" {
			c.Model.Provider = providers["own"].name
		}
		if p.name == "openrouter" || c.Model.Pos.File == "" {
			c.Model.ID = id
		}
		c.Key = d.Getenv(c.KeyName)
	case p.name == "own":
		return c, fmt.Errorf("%s: %s is asked on a server of your own: set ASSAY_BASE_URL to its "+
			"address, like http://localhost:8000/v1", c.Model.Pos, name)
	case p.name == "ollama":
		c.Model.Priced = true
		if h := d.Getenv("OLLAMA_HOST"); h != "" {
			c.BaseURL = ollama(h)
		}
	default:
		if c.Key = d.Getenv(c.KeyName); c.Key == "" {
			return c, fmt.Errorf("%s: %s is not set: put it into .env, or name another reviewer "+
				"(patterns needs none)", name, c.KeyName)
		}
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
