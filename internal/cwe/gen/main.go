// Command gen writes the table of internal/cwe from MITRE's XML catalogue.
//
// It takes the catalogue out of a pinned npm package with the npm client, checks
// its SHA-256 and writes one table. Run it with go generate in internal/cwe; it
// needs npm and the network, which nothing else in this package does.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The pins: change them together, and say in the commit what the catalogue changed.
const (
	npmPackage = "cwe-sdk@1.1.19"
	xmlFile    = "node_modules/cwe-sdk/raw/cwe-archive.xml"
	xmlSHA256  = "a7c64f3c642726b3aebfde6ecec096d6779b6e9cd7343dbc4165920bb6ad86c7"
)

// researchView is the view whose ChildOf relations make the taxonomy: "Research
// Concepts", the one view that holds every weakness.
const researchView = 1000

type catalog struct {
	Version    string  `xml:"Version,attr"`
	Date       string  `xml:"Date,attr"`
	Weaknesses []entry `xml:"Weaknesses>Weakness"`
	Categories []entry `xml:"Categories>Category"`
	Views      []entry `xml:"Views>View"`
}

type entry struct {
	ID      int    `xml:"ID,attr"`
	Name    string `xml:"Name,attr"`
	Status  string `xml:"Status,attr"`
	Related []struct {
		Nature string `xml:"Nature,attr"`
		ID     int    `xml:"CWE_ID,attr"`
		View   int    `xml:"View_ID,attr"`
	} `xml:"Related_Weaknesses>Related_Weakness"`
	Description text `xml:"Description"` // of a weakness
	Summary     text `xml:"Summary"`     // of a category
	Members     []struct {
		ID int `xml:"CWE_ID,attr"`
	} `xml:"Relationships>Has_Member"`
	kind string
}

// A text is what an element says, that of the elements in it too.
type text struct {
	XML string `xml:",innerxml"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("cwe/gen: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	raw, err := source()
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(raw); hex.EncodeToString(sum[:]) != xmlSHA256 {
		return fmt.Errorf(
			"catalogue has SHA-256 %x, expected %s: look at what changed before moving the pin",
			sum, xmlSHA256)
	}
	var c catalog
	if err := xml.Unmarshal(raw, &c); err != nil {
		return fmt.Errorf("reading the catalogue: %w", err)
	}
	src, err := render(&c)
	if err != nil {
		return err
	}
	return os.WriteFile("table.tsv", src, 0o644)
}

// source gives the catalogue's bytes, out of the npm package.
func source() ([]byte, error) {
	dir, err := os.MkdirTemp("", "cwe-gen-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-save",
		"--silent", npmPackage)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("npm install %s: %w", npmPackage, err)
	}
	return os.ReadFile(filepath.Join(dir, xmlFile))
}

func render(c *catalog) ([]byte, error) {
	var all []entry
	for _, group := range []struct {
		kind    string
		entries []entry
	}{{"weakness", c.Weaknesses}, {"category", c.Categories}, {"view", c.Views}} {
		if len(group.entries) == 0 {
			return nil, fmt.Errorf("the catalogue holds no %s: has its form changed?", group.kind)
		}
		for _, e := range group.entries {
			e.kind = group.kind
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })

	var b bytes.Buffer
	fmt.Fprintf(&b, "# CWE\t%s\t%s\t%s\t%s\n", c.Version, c.Date, npmPackage, xmlSHA256)
	next := successors(all)
	for i, e := range all {
		if i > 0 && all[i-1].ID == e.ID {
			return nil, fmt.Errorf("CWE-%d stands twice in the catalogue", e.ID)
		}
		kind := e.kind
		if e.deprecated() {
			kind = "deprecated " + kind
		}
		fmt.Fprintf(&b, "%d\t%s\t%s\t%s\t%s\n", e.ID, kind, list(parents(&e)),
			list(next[e.ID]), e.Name)
	}
	return b.Bytes(), nil
}

func parents(e *entry) []int {
	var ps []int
	for _, r := range e.Related {
		if r.Nature == "ChildOf" && r.View == researchView {
			ps = append(ps, r.ID)
		}
	}
	slices.Sort(ps)
	return slices.Compact(ps)
}

func (e *entry) deprecated() bool { return e.Status == "Deprecated" }

var number = regexp.MustCompile(`CWE-(\d+)`)

// successors gives, for deprecated numbers and for categories, the weaknesses that
// are named in their place, ascending.
//
// Of a deprecated number they are those that its own text names ("a duplicate of
// CWE-170", "see CWE-532"), of a category its members; what is itself deprecated or
// a category is followed. A category without members of its own that other
// categories list (an older edition's category among those of a newer one) has
// the weaknesses that stand beside it there.
func successors(all []entry) map[int][]int {
	by, holders := map[int]*entry{}, map[int][]*entry{}
	for i := range all {
		e := &all[i]
		by[e.ID] = e
		if e.kind == "category" {
			for _, m := range e.Members {
				holders[m.ID] = append(holders[m.ID], e)
			}
		}
	}
	var follow func(id int, seen map[int]bool) []int
	follow = func(id int, seen map[int]bool) []int {
		e := by[id]
		if e == nil || seen[id] || e.kind == "view" {
			return nil
		}
		seen[id] = true
		if e.kind == "weakness" && !e.deprecated() {
			return []int{id}
		}
		var named []int
		for _, m := range e.Members {
			named = append(named, m.ID)
		}
		if e.deprecated() {
			for _, m := range number.FindAllStringSubmatch(e.Description.XML+e.Summary.XML, -1) {
				n, _ := strconv.Atoi(m[1])
				named = append(named, n)
			}
		}
		var found []int
		for _, n := range named {
			found = append(found, follow(n, seen)...)
		}
		if len(named) == 0 {
			for _, holder := range holders[id] {
				for _, m := range holder.Members {
					if b := by[m.ID]; b != nil && b.kind == "weakness" && !b.deprecated() {
						found = append(found, m.ID)
					}
				}
			}
		}
		return found
	}
	next := map[int][]int{}
	for i := range all {
		if e := &all[i]; e.kind == "category" || e.deprecated() {
			found := follow(e.ID, map[int]bool{})
			slices.Sort(found)
			next[e.ID] = slices.Compact(found)
		}
	}
	return next
}

// list writes numbers in one cell.
func list(ns []int) string { return strings.Trim(fmt.Sprint(ns), "[]") }
