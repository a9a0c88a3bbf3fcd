package planted

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/seal"
)

// A File is a file of an export.
type File struct {
	Path    string // slash path from the root
	Content []byte
}

// An Export is a drawn target: the files for an auditor, and the key.
type Export struct {
	Files   []File      // by path
	Places  []SitePlace // where every region stands
	project *Template
	entries []entry
	reviews []audit.FindingReview
}

// An entry is a site of a draw with its fields in the key.
type entry struct {
	ID        string
	Bad       bool
	CWEs      []audit.CWE
	File      string
	Functions []string
	Lines     audit.Range
	Title     string // of the flaw
	Why       string // evidence of a bad site, the reason of a good one
	Pos       audit.Pos
	dimension audit.Dimension
	severity  audit.Severity
	also      []string
}

// entry returns the entry of a site; id is the site's ID in the target.
func (d *Draw) entry(s Site, id string, places []SitePlace, rename renamer) entry {
	e := entry{ID: id, Bad: d.bad[s.ID], CWEs: s.CWEs, Functions: rename.all(s.Functions),
		Title: rename.apply(s.Title), Why: rename.apply(s.Reason), Pos: s.Pos,
		dimension: s.Dimension, severity: s.Severity}
	if e.Bad {
		e.Why = rename.apply(s.Evidence)
	}
	for _, p := range places {
		if p.Site == id && !p.Plus {
			e.File, e.Lines = p.File, p.Lines
		}
	}
	for _, p := range places {
		if p.Site == id && p.File != e.File && !slices.Contains(e.also, p.File) {
			e.also = append(e.also, p.File)
		}
	}
	slices.Sort(e.also)
	return e
}

// Combine returns the draws of several projects as one target, each in a folder of its name. An
// ID that occurs in two projects is prefixed with its project's name. It is an error to pass no
// draw, or two of one project.
func Combine(name, title string, draws ...*Draw) (*Export, error) {
	if len(draws) == 0 {
		return nil, errors.New("no project to set side by side: expected at least one draw")
	}
	all := &Export{project: &Template{Name: name, Title: title, Pos: draws[0].project.Pos}}
	folders, holders := map[string]bool{}, map[string]int{}
	for _, d := range draws {
		if folders[d.project.Name] {
			return nil, fmt.Errorf("the project %s stands twice side by side: expected each once",
				d.project.Name)
		}
		folders[d.project.Name] = true
		for _, s := range d.project.Sites {
			holders[s.ID]++
		}
		all.project.Languages = append(all.project.Languages, d.project.Languages...)
		all.project.RecallGoal = max(all.project.RecallGoal, d.project.RecallGoal)
	}
	slices.Sort(all.project.Languages)
	all.project.Languages = slices.Compact(all.project.Languages)
	for _, d := range draws {
		folder := d.project.Name
		all.add(d, folder, func(id string) string {
			if holders[id] > 1 {
				return folder + "-" + id
			}
			return id
		})
	}
	return all, nil
}

// Project returns the target as a project with its key: bad sites are vulnerabilities, good
// ones decoys. Commit is git's hash of the export's tree, so that draws with equal bytes are
// the same target.
func (r *Export) Project() *audit.Project {
	p := &audit.Project{Name: r.project.Name, Planted: true, Repository: "planted:" +
		r.project.Name, Title: r.project.Title, Languages: r.project.Languages, Pos: r.project.Pos,
		RecallGoal: r.project.RecallGoal, Tree: audit.Tree{}, Commit: treeHash(r.Files),
		Reviews: r.reviews}
	for _, f := range r.Files {
		p.Tree[f.Path] = audit.TreeFile{Path: f.Path, Lines: audit.CountLines(f.Content),
			Blob: seal.GitHash("blob", f.Content)}
	}
	dimensions := map[audit.Dimension]bool{}
	for _, e := range r.entries {
		if !e.Bad {
			p.Decoys = append(p.Decoys, audit.Decoy{ID: e.ID, Dimension: e.dimension, CWEs: e.CWEs,
				File:      e.File,
				Functions: e.Functions, Lines: e.Lines, Title: e.Title, Reason: e.Why, Pos: e.Pos})
			continue
		}
		dimensions[e.dimension] = true
		p.Vulnerabilities = append(p.Vulnerabilities, audit.Vulnerability{ID: e.ID, Dimension: e.dimension, CWEs: e.CWEs,
			Severity: e.severity,
			File:     e.File, Functions: e.Functions, Lines: e.Lines, OtherFiles: e.also, Title: e.Title,
			Evidence: e.Why, Pos: e.Pos})
	}
	// A thousandth less than a whole number is that number: a goal of 70 % of 10 is 7.
	p.Expected = int(math.Ceil(p.RecallGoal*float64(len(p.Vulnerabilities)) - 1e-3))
	if len(dimensions) < fullCoverage {
		p.Coverage = len(dimensions)
	}
	p.KeyHash = fixture.KeyHash(p.Vulnerabilities, p.Decoys)
	return p
}

// fullCoverage is the default coverage goal. A key with fewer dimensions states its own.
const fullCoverage = 8

// Write writes the files into dir, which must be empty or absent.
func (r *Export) Write(dir string) error { return r.write(dir, 0o644) }

// Export writes the files into dir for an auditor: files and folders are read-only.
func (r *Export) Export(dir string) error {
	if err := r.write(dir, 0o444); err != nil {
		return err
	}
	return seal.ReadOnly(dir)
}

// write writes the files with a mode.
func (r *Export) write(dir string, mode os.FileMode) error {
	root, err := seal.OpenEmpty(dir, "the draw")
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range r.Files {
		if err := root.MkdirAll(path.Dir(f.Path), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(f.Path, f.Content, mode); err != nil {
			return err
		}
	}
	return nil
}

// treeHash returns git's hash of a tree with these files.
func treeHash(files []File) string {
	here, below := map[string][]byte{}, map[string][]File{}
	for _, f := range files {
		if dir, rest, nested := strings.Cut(f.Path, "/"); nested {
			below[dir+"/"] = append(below[dir+"/"], File{rest, f.Content})
		} else {
			here[f.Path] = f.Content
		}
	}
	var b bytes.Buffer
	// git sorts a folder as if its name ended with a slash.
	for _, name := range slices.Sorted(slices.Values(append(slices.Sorted(maps.Keys(here)),
		slices.Sorted(maps.Keys(below))...))) {
		mode, hash := "100644", seal.GitHash("blob", here[name])
		if strings.HasSuffix(name, "/") {
			mode, hash = "40000", treeHash(below[name])
		}
		raw, _ := hex.DecodeString(hash) // made by us a line above
		fmt.Fprintf(&b, "%s %s\x00", mode, strings.TrimSuffix(name, "/"))
		b.Write(raw)
	}
	return seal.GitHash("tree", b.Bytes())
}
