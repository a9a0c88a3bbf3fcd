package auditor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"time"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/box"
)

// Usual limits of one audit by a model. A section of auditors.md of the kind model
// states others.
const (
	DefaultAuditTurns   = 200
	DefaultAuditTokens  = 20_000_000 // read and written
	DefaultAuditUSD     = 5.0
	DefaultAuditContext = 128_000 // tokens
	DefaultAuditTimeout = time.Hour
	// maxTurnTokens is what a model may write in one turn, its reasoning included. A
	// longer report goes on in the next turn.
	maxTurnTokens = 16_384
)

// modelVersion is the version of the loop, its tools and its words: another one is
// another auditor.
const modelVersion = "assay model 1"

// AuditPrompt is the prompt, of fixtures/prompts, of a model whose name says no
// other.
const AuditPrompt = "audit-prompt"

// A modelAuditor is a language model as an auditor: it gets tools to read the export and writes
// the report.
type modelAuditor struct {
	entry  audit.AuditorEntry
	chat   ChatConfig
	prompt string
	budget float64                                    // USD that a run may cost; +Inf for no limit
	pause  func(context.Context, time.Duration) error // before another try
}

// newModel returns the auditor for a model. The entry states name, timeout and limits;
// what it does not say is the usual limit.
func newModel(entry audit.AuditorEntry, c ChatConfig, prompt string,
	budget float64) (*modelAuditor, error) {
	l := &entry.Limits
	l.Turns, l.Tokens = cmp.Or(l.Turns, DefaultAuditTurns), cmp.Or(l.Tokens, DefaultAuditTokens)
	l.USD, l.Context = cmp.Or(l.USD, DefaultAuditUSD), cmp.Or(l.Context, DefaultAuditContext)
	entry.Timeout = cmp.Or(entry.Timeout, DefaultAuditTimeout)
	c.Name, c.MaxTokens = entry.Name, min(maxTurnTokens, l.Context/4)
	if !c.Model.Priced && !math.IsInf(budget, 1) {
		return nil, noPrice(c.Model)
	}
	if _, err := newClient(c); err != nil {
		return nil, err
	}
	return &modelAuditor{entry: entry, chat: c, prompt: prompt, budget: budget, pause: pause}, nil
}

// Name is as in records.
func (m *modelAuditor) Name() string { return m.entry.Name }

// Settings returns what can change reports: model, server, limits, the loop's version and a
// hash of the prompts. It contains no key.
func (m *modelAuditor) Settings() string {
	u, _ := url.Parse(m.chat.BaseURL)
	l := m.entry.Limits
	return fmt.Sprintf("%s: %s at %s%s, turns %d, tokens %d, USD %g, context %d, told %.12s",
		modelVersion, m.chat.Model.ID, u.Host, stated(m.chat.Model.Settings),
		l.Turns, l.Tokens, l.USD, l.Context, m.PromptHash())
}

// PromptHash returns the hash of what the model is told, as [PromptHash] does for
// agents: a sha256, in hex, over the prompt, the report format and the tools.
func (m *modelAuditor) PromptHash() string {
	h := sha256.New()
	add(h, "prompt", []byte(m.prompt))
	add(h, "format", []byte(findings.Instructions))
	add(h, "tools", []byte(plainTools()))
	return hex.EncodeToString(h.Sum(nil))
}

// Provider is whose limits the model shares.
func (m *modelAuditor) Provider() string { return m.chat.Provider }

// Cost returns what an audit costs at most, in USD, and as nothing better is known is
// expected to; known is false where the model has no price, and nothing but its other
// limits holds it.
func (m *modelAuditor) Cost() (expected, most float64, known bool) {
	if p := m.chat.Model; !p.Priced || p.In == 0 && p.Out == 0 {
		return 0, 0, p.Priced
	}
	most = m.most(audit.AuditTask{})
	return most, most, true
}

// most is what one audit may cost, in USD: what its section, the run or the task
// allows, whichever is least.
func (m *modelAuditor) most(task audit.AuditTask) float64 {
	most := min(m.entry.Limits.USD, m.budget)
	if task.MaxUSD > 0 {
		most = min(most, task.MaxUSD)
	}
	if !m.chat.Model.Priced {
		return math.Inf(1)
	}
	return most
}

var errLate = errors.New("its time is up")

// Audit lets the model read the export, turn by turn, until it writes its report. A failure of
// the provider is AuditRun.Invalid with its cause; AuditRun.Usage has the usage until then, and
// AuditRun.Events each turn.
func (m *modelAuditor) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	root, err := os.OpenRoot(task.Dir)
	if err != nil {
		return audit.AuditRun{}, err
	}
	defer root.Close()
	client, err := newClient(m.chat)
	if err != nil {
		return audit.AuditRun{}, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeoutCause(ctx, m.entry.Timeout, errLate)
	defer cancel()
	t := &talk{modelAuditor: m, client: client, assignment: assignment(task),
		view: sourceView{root}, maxTokens: client.config.MaxTokens, context: m.entry.Limits.Context,
		most: m.most(task), perToken: bytesPerToken, usage: audit.Usage{Priced: true},
		findings: box.Limits(m.entry.Limits).Findings}
	run := audit.AuditRun{Command: []string{m.Settings()}, Version: modelVersion,
		Started:  time.Now(),
		Confined: "it runs no program: its tools read the export alone"}
	why := t.audit(ctx)
	run.Raw, run.Report, run.Events = []byte(t.text), t.report, t.events.Bytes()
	run.Whole = t.whole
	run.Invalid, run.EndedEarly = audit.OneLine(client.redact(why), 0), t.report.CutShort
	run.Duration, run.Usage, run.Model = time.Since(run.Started), t.usage, cmp.Or(t.served,
		m.chat.Model.ID)
	run.Unconfirmed = t.served == ""
	return run, nil
}

// pause waits, or returns an error if too little time is left.
func pause(ctx context.Context, d time.Duration) error {
	if at, ok := ctx.Deadline(); ok && time.Until(at) < d {
		return fmt.Errorf("another try is due in %s, and its time ends in %s", d,
			time.Until(at).Round(time.Second))
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
