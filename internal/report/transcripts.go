package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/events"
	"assay/internal/record"
)

type transcriptPart struct {
	Who, Facts string
	Streams    []streamPart
}

type streamPart struct {
	Name, Facts, Text string
}

// How much of transcripts a project's page shows.
const (
	streamMost      = 20_000 // bytes of a stream
	transcriptsMost = MaxPage / 8
)

// transcripts adds what the auditors of the page's records wrote, as far as it was kept and
// there is room: turn by turn if the run's events are known, and as text.
func (s *site) transcripts(p *projectPage) {
	if s.in.Transcripts == nil {
		return
	}
	g := newGrid("", gridColumn{Name: "turn", Kind: "num"},
		gridColumn{Name: "did", Kind: "badge", Pick: true}, gridColumn{Name: "what",
			Kind: "text", Opens: true}, gridColumn{Name: "tokens in", Kind: "num"},
		gridColumn{Name: "out", Kind: "num"},
		gridColumn{Name: "USD", Kind: "num"}, gridColumn{Name: "seconds", Kind: "num"},
		gridColumn{Name: "run", Pick: true}, gridColumn{Name: "words", Kind: "words"})
	room := transcriptsMost
	for _, r := range p.Rows {
		ts, err := s.in.Transcripts(r.Record)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.Notes = append(p.Notes, clip(err.Error(), 400))
		}
		for i := range ts {
			t := &ts[i]
			part := transcriptPart{Who: fmt.Sprintf("%s, %s", r.Label(), clip(t.Name, 60)),
				Facts: runFacts(t)}
			addTurns(g, part.Who, t.Turns())
			for _, k := range t.Kept {
				text := audit.Clip(t.Text(k.Name), min(streamMost, max(0, room)))
				room -= len(text)
				part.Streams = append(part.Streams,
					streamPart{clip(k.Name, 20), fmt.Sprintf("%d bytes", k.Size),
						strings.ToValidUTF8(string(text), "?")})
			}
			p.Transcripts = append(p.Transcripts, part)
		}
	}
	if len(g.Rows) > 0 {
		p.Turns = g
	}
}

// addTurns adds a row for what was said in each turn, and for each use of a tool.
func addTurns(g *grid, run string, turns []events.Turn) {
	for i, t := range turns {
		in, out, usd, seconds := number(float64(t.Usage.TokensIn)),
			number(float64(t.Usage.TokensOut)), number(t.Usage.USD), number(t.Seconds)
		row := func(did, what, words string) {
			if words = clipWords(words, wordsMost); words == what {
				words = ""
			}
			g.add(float64(i+1), did, clip(what, 300), in, out, usd, seconds, run, words)
			in, out, usd, seconds = nil, nil, nil, nil // they are the turn's, and stand once
		}
		if t.Said != "" || t.Thought != "" || len(t.Calls) == 0 {
			words := t.Said
			if t.Thought != "" {
				words = "thought: " + t.Thought + "\n\n" + words
			}
			row("said", clip(cmp.Or(t.Said, t.Thought, "nothing"), 200), words)
		}
		for _, c := range t.Calls {
			if c.Failed != "" {
				row("failed", clip(c.Tool+" "+c.What, 300), c.Failed+"\n"+c.Output)
				continue
			}
			row(cmp.Or(clip(c.Kind, 20), "other"), clip(c.Tool+" "+c.What, 300), c.Output)
		}
		for _, n := range t.Notes {
			row("note", clip(n, 300), "")
		}
	}
}

// number returns a figure for a grid; nil if it is unknown.
func number(v float64) any {
	if !(v > 0 && v < score.BeyondAll) { // what an agent states may be below 0, or no number
		return nil
	}
	return math.Round(v*10000) / 10000
}

// runFacts returns exit status, time, model and usage of a run as text.
func runFacts(t *record.Transcript) string {
	facts := []string{fmt.Sprintf("exit %d", t.Exit), fmt.Sprintf("%.1f s", t.Seconds)}
	if t.Model != "" {
		facts = append(facts, clip(t.Model, 80))
	}
	if u := t.Usage; u.TokensIn+u.TokensOut > 0 {
		facts = append(facts, fmt.Sprintf("%d turns, %d tokens in, %d out", u.Turns,
			u.TokensIn, u.TokensOut))
	}
	if t.Usage.USD > 0 {
		facts = append(facts, fmt.Sprintf("%.2f USD", t.Usage.USD))
	}
	if t.Invalid != "" {
		facts = append(facts, "proves nothing: "+clip(t.Invalid, 200))
	}
	return strings.Join(facts, ", ")
}
