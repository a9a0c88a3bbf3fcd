package record

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"assay/audit/score"
)

// Auditors holds the newest audit with a valid trial by auditor and project.
type Auditors map[string]map[string]*Record

// ReadAuditors reads the records of Regression below root, and baselines without a newer
// record. It returns what it could read together with an error that names the files that are no
// records.
func ReadAuditors(root string) (Auditors, error) {
	records, errs := ReadAll(filepath.Join(root, "records"))
	fsys := os.DirFS(root)
	files, err := fs.Glob(fsys, "fixtures/baselines/*/*.json")
	errs = errors.Join(errs, err)
	for _, file := range files {
		if path.Base(path.Dir(file)) == "stated" {
			continue
		}
		r, err := Read(fsys, file)
		if errs = errors.Join(errs, err); err == nil {
			records = append(records, r)
		}
	}
	as := Auditors{}
	for _, r := range records {
		if r.Suite != "Regression" || len(r.Counting()) == 0 {
			continue
		}
		if as[r.Auditor] == nil {
			as[r.Auditor] = map[string]*Record{}
		}
		if old := as[r.Auditor][r.Project]; old == nil || !r.Date.Before(old.Date) {
			as[r.Auditor][r.Project] = r
		}
	}
	return as, errs
}

// Find returns the audits of an auditor by project. If there are none, the error lists the
// auditors that have some.
func (as Auditors) Find(name string) (map[string]*Record, error) {
	if found := as[name]; found != nil {
		return found, nil
	}
	if len(as) == 0 {
		return nil, fmt.Errorf(
			"no record and no baseline of an auditor %q, nor of any other: run go test -run Regression -auditor %s first", name, name)
	}
	return nil, fmt.Errorf("no record and no baseline of an auditor %q: expected one of %q", name,
		slices.Sorted(maps.Keys(as)))
}

// Counting returns the results of the valid trials.
func (r *Record) Counting() []*score.Result {
	var rs []*score.Result
	for _, t := range r.Trials {
		if t.Invalid == "" && t.Result != nil {
			rs = append(rs, t.Result)
		}
	}
	return rs
}

// OfRun returns the newest record of each project of a run of an auditor. A record that reads
// kept reports again is of no run.
func OfRun(records []*Record, auditor, run string) (found []*Record) {
	at := map[string]int{}
	for _, r := range records {
		if r.Suite != "Regression" || r.Auditor != auditor || r.Run != run || r.Again != "" {
			continue
		}
		if i, ok := at[r.Project]; !ok {
			at[r.Project] = len(found)
			found = append(found, r)
		} else if !r.Date.Before(found[i].Date) {
			found[i] = r
		}
	}
	return found
}
