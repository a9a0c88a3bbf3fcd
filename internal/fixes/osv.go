package fixes

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// An Advisory is what a record in the format of OSV says, as GitHub's advisories and Go's
// vulnerability database are published.
type Advisory struct {
	IDs      []string // its own and its aliases
	Title    string
	CWEs     []audit.CWE // a suggestion: an auditor may rightly name another one
	Severity string      // "" where it states none that is read
	Commits  []string    // that fix it
}

// Advisories are those that a user has.
type Advisories []Advisory

// CWEs returns the weaknesses that an advisory names, by its ID; nil for none.
func (as Advisories) CWEs(id string) []audit.CWE {
	for _, a := range as {
		if slices.Contains(a.IDs, id) {
			return a.CWEs
		}
	}
	return nil
}

// ReadAdvisories reads a file of OSV JSON, or all files *.json below a folder.
func ReadAdvisories(path string) (all Advisories, err error) {
	err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || file != path && filepath.Ext(file) != ".json" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		a, err := parseAdvisory(text)
		if err != nil {
			return fmt.Errorf("%s: %w: expected an advisory in the format of OSV", file, err)
		}
		all = append(all, a)
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s holds no advisory: expected OSV JSON, a file each", path)
	}
	return all, err
}

var fixLink = regexp.MustCompile(`/commits?/([0-9a-f]{7,40})\b`)

func parseAdvisory(text []byte) (Advisory, error) {
	var o struct {
		ID         string
		Aliases    []string
		Summary    string
		Withdrawn  string
		References []struct{ Type, URL string }
		Affected   []struct {
			Ranges []struct {
				Type   string
				Events []struct{ Fixed string }
			}
		}
		Specific struct {
			CWEs     []string `json:"cwe_ids"`
			Severity string
		} `json:"database_specific"`
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return Advisory{}, err
	}
	if o.ID == "" {
		return Advisory{}, fmt.Errorf("it has no id")
	}
	a := Advisory{IDs: append([]string{o.ID}, o.Aliases...), Title: o.Summary}
	if o.Withdrawn != "" {
		return a, nil
	}
	add := func(commit string) {
		if !slices.Contains(a.Commits, commit) {
			a.Commits = append(a.Commits, commit)
		}
	}
	for _, r := range o.References {
		m := fixLink.FindStringSubmatch(r.URL)
		if m != nil && (r.Type == "FIX" || r.Type == "WEB") { // GitHub calls all of its links WEB
			add(m[1])
		}
	}
	for _, f := range o.Affected {
		for _, r := range f.Ranges {
			for _, e := range r.Events {
				if r.Type == "GIT" && commitName.MatchString(e.Fixed) {
					add(e.Fixed)
				}
			}
		}
	}
	for _, word := range o.Specific.CWEs {
		if c, err := audit.ParseCWE(word); err == nil {
			a.CWEs = append(a.CWEs, c)
		}
	}
	word := strings.ToLower(o.Specific.Severity)
	if word == "moderate" {
		word = "medium"
	}
	if s, err := audit.ParseSeverity(word); err == nil {
		a.Severity = s.String()
	}
	return a, nil
}
