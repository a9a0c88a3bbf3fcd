package report

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"assay/audit"
	"assay/internal/record"
)

// A transcriptPart is what one run of an auditor wrote.
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

// transcripts gives what the auditors of the page's records wrote, as far as it was
// kept and there is room.
func (s *site) transcripts(p *projectPage) (parts []transcriptPart) {
	if s.in.Transcripts == nil {
		return nil
	}
	room := transcriptsMost
	for _, r := range p.Rows {
		ts, err := s.in.Transcripts(r.Record)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			p.Notes = append(p.Notes, clip(err.Error(), 400))
		}
		for i := range ts {
			t := &ts[i]
			part := transcriptPart{Who: fmt.Sprintf("%s, %s", r.Label(), clip(t.Name, 60)), Facts: runFacts(t)}
			for _, k := range t.Kept {
				text := audit.Clip(t.Text(k.Name), min(streamMost, max(0, room)))
				room -= len(text)
				part.Streams = append(part.Streams, streamPart{clip(k.Name, 20), fmt.Sprintf("%d bytes", k.Size), strings.ToValidUTF8(string(text), "?")})
			}
			parts = append(parts, part)
		}
	}
	return parts
}

func runFacts(t *record.Transcript) string {
	facts := []string{fmt.Sprintf("exit %d", t.Exit), fmt.Sprintf("%.1f s", t.Seconds)}
	if t.Model != "" {
		facts = append(facts, clip(t.Model, 80))
	}
	if u := t.Usage; u.TokensIn+u.TokensOut > 0 {
		facts = append(facts, fmt.Sprintf("%d turns, %d tokens in, %d out", u.Turns, u.TokensIn, u.TokensOut))
	}
	if t.Usage.USD > 0 {
		facts = append(facts, fmt.Sprintf("%.2f USD", t.Usage.USD))
	}
	if t.Invalid != "" {
		facts = append(facts, "proves nothing: "+clip(t.Invalid, 200))
	}
	return strings.Join(facts, ", ")
}
