package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// A Stated holds figures that a source states for an auditor on a project without the findings.
// They are shown next to measured figures and are never a baseline. Its file is
// fixtures/baselines/stated/<project>.json.
type Stated struct {
	Auditor    string  `json:"auditor"`
	Source     string  `json:"source"`     // who states it
	Findings   int     `json:"findings"`   // reported
	Dimensions int     `json:"dimensions"` // covered, of ten, as its source counts
	Recall     float64 `json:"recall"`     // 0 to 1, against its source's own key
	FalseBelow float64 `json:"false_below,omitempty"`
	Tokens     int64   `json:"tokens,omitempty"`
	// fields that the source gives as approximate or estimated
	Approx []string `json:"approximate,omitempty"`
}

// ReadStated reads what is stated for a project; none where there is no file.
func ReadStated(fsys fs.FS, dir, project string) ([]Stated, error) {
	name := path.Join(dir, "stated", clean(project)+".json")
	b, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ss []Stated
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&ss); err != nil {
		return nil, fmt.Errorf("%s: %w: expected an array of stated figures", name, err)
	}
	for i, s := range ss {
		switch {
		case s.Auditor == "" || s.Source == "":
			return nil, fmt.Errorf(
				"%s: number %d: the auditor or the source is missing: figures without a source are no figures", name, i+1)
		case s.Findings < 1 || s.Dimensions < 0 || s.Dimensions > 10 || s.Recall < 0 ||
			s.Recall > 1 || s.FalseBelow < 0 || s.FalseBelow > 1 || s.Tokens < 0:
			return nil, fmt.Errorf(
				"%s: %s: a figure is out of its range: expected findings above 0, dimensions of ten, shares from 0 to 1", name, s.Auditor)
		}
	}
	return ss, nil
}

// String returns the line of the record's notes.
func (s Stated) String() string {
	about := func(field, text string) string {
		if slices.Contains(s.Approx, field) {
			return "about " + text
		}
		return text
	}
	line := fmt.Sprintf(
		"stated for %s (%s; its own key and matching, so beside these figures and not a baseline of them): %d findings, %d of 10 dimensions, recall %s",
		s.Auditor, s.Source, s.Findings, s.Dimensions,
		about("recall", fmt.Sprintf("%.0f %%", 100*s.Recall)))
	if s.FalseBelow > 0 {
		line += fmt.Sprintf(", false positives below %.0f %%", 100*s.FalseBelow)
		if slices.Contains(s.Approx, "false_below") {
			line += " (estimated)"
		}
	}
	if s.Tokens > 0 {
		line += ", " + about("tokens", fmt.Sprintf("%dK tokens", s.Tokens/1000))
	}
	return line
}
