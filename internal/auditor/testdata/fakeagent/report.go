//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"

	"assay/audit"
	"assay/audit/findings"
)

// report gives what the agent prints.
func (o *options) report() (string, error) {
	fs, err := o.findings()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	switch o.format {
	case "sarif":
		err = findings.WriteSARIF(&b, "fakeagent", "1", fs)
	case "text":
		err = findings.WriteText(&b, findings.TextReport{Root: ".", Tool: "fakeagent", Version: "1", Coverage: audit.Dimensions(), Findings: fs})
	default:
		err = fmt.Errorf("-format is %q: expected text or sarif", o.format)
	}
	if err != nil {
		return "", err
	}
	text := b.String()
	if o.escape {
		text = "\x1b[31m" + strings.ReplaceAll(text, "\n", "\x1b[0m\n")
	}
	return o.wrap(text)
}

// findings gives what it says that it found.
func (o *options) findings() ([]audit.Finding, error) {
	var known []audit.Finding
	if o.key != "" {
		b, err := os.ReadFile(o.key)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, &known); err != nil {
			return nil, fmt.Errorf("%s: %w: expected an array of findings", o.key, err)
		}
	}
	if o.find >= 0 {
		known = known[:min(o.find, len(known))]
	}
	if o.vary > 0 {
		known = o.overlook(known)
	}
	if o.misplace > len(known) || o.same > 0 && len(known) == 0 {
		return nil, errors.New("-misplace and -same: more than it found")
	}
	files := make([]string, len(known))
	for i := range known {
		files[i] = known[i].File
	}
	for i := range o.misplace {
		known[i].File, known[i].Function, known[i].Lines = files[(i+1)%len(files)], "", audit.Range{Start: 1, End: 1}
	}
	for range o.same {
		known = append(known, known[0])
	}
	for i := range o.invent {
		known = append(known, audit.Finding{CWEs: []audit.CWE{89}, Severity: audit.High, Title: "made up",
			File: fmt.Sprintf("made/up/File%d.java", i+1), Lines: audit.Range{Start: 10, End: 12}})
	}
	return known, nil
}

func (o *options) overlook(known []audit.Finding) []audit.Finding {
	seed := o.seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var seen []audit.Finding
	for _, f := range known {
		if r.Float64() >= o.vary {
			seen = append(seen, f)
		}
	}
	return seen
}

// wrap puts the report into the JSON that the agent of that name prints.
func (o *options) wrap(report string) (string, error) {
	lines := func(events ...any) (string, error) {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		for _, e := range events {
			if err := enc.Encode(e); err != nil {
				return "", err
			}
		}
		return b.String(), nil
	}
	type m map[string]any
	result := m{"type": "result", "subtype": "success", "is_error": false, "duration_ms": 1200, "num_turns": 3, "result": report,
		"session_id": "0", "total_cost_usd": o.usd,
		"usage": m{"input_tokens": 3, "cache_creation_input_tokens": 7, "cache_read_input_tokens": max(0, o.in-10), "output_tokens": o.out}}
	switch o.envelope {
	case "":
		return report, nil
	case "claude":
		return lines(result)
	case "claude-stream":
		return lines(m{"type": "system", "subtype": "init", "model": "fake"},
			m{"type": "assistant", "message": m{"content": []m{{"type": "text", "text": "I begin."}}}}, result)
	case "codex":
		return lines(m{"type": "thread.started", "thread_id": "0"}, m{"type": "turn.started"},
			m{"type": "item.completed", "item": m{"id": "0", "type": "agent_message", "text": "I begin."}},
			m{"type": "item.completed", "item": m{"id": "1", "type": "agent_message", "text": report}},
			m{"type": "turn.completed", "usage": m{"input_tokens": o.in, "cached_input_tokens": o.in / 2, "output_tokens": o.out}})
	case "gemini":
		return lines(m{"response": report, "stats": m{"models": m{"fake": m{"api": m{"totalRequests": 3}, "tokens": m{"prompt": o.in, "candidates": o.out, "thoughts": 0}}}}})
	case "gemini-stream":
		return lines(m{"type": "init", "model": "fake"}, m{"type": "message", "role": "user", "content": "audit"},
			m{"type": "message", "role": "assistant", "content": "I begin.", "delta": true},
			m{"type": "tool_use", "tool_name": "read_file", "tool_id": "0", "parameters": m{"file_path": "a"}},
			m{"type": "tool_result", "tool_id": "0", "status": "success", "output": "text"},
			m{"type": "message", "role": "assistant", "content": report[:len(report)/2], "delta": true},
			m{"type": "message", "role": "assistant", "content": report[len(report)/2:], "delta": true},
			m{"type": "result", "status": "success", "stats": m{"input_tokens": o.in, "output_tokens": o.out}})
	case "copilot":
		return lines(m{"type": "assistant.turn_start", "data": m{"turnId": "0"}}, m{"type": "assistant.message", "data": m{"content": "I begin.", "model": "fake"}},
			m{"type": "assistant.turn_start", "data": m{"turnId": "1"}}, m{"type": "assistant.message", "data": m{"content": report, "model": "fake"}},
			m{"type": "result", "exitCode": 0, "usage": m{"premiumRequests": 0}})
	case "opencode":
		return lines(m{"type": "step_start", "part": m{"type": "step-start", "messageID": "a"}},
			m{"type": "text", "part": m{"type": "text", "messageID": "a", "text": "I begin."}},
			m{"type": "text", "part": m{"type": "text", "messageID": "b", "text": report}},
			m{"type": "step_finish", "part": m{"messageID": "b", "cost": o.usd,
				"tokens": m{"input": o.in, "output": o.out, "reasoning": 0, "cache": m{"read": 0, "write": 0}}}})
	}
	return "", fmt.Errorf("-envelope is %q: expected claude, claude-stream, codex, gemini, gemini-stream, opencode or copilot", o.envelope)
}
