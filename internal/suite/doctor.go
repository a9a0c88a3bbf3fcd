package suite

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/audit"
	"assay/internal/auditor"
)

// doctorEnv returns the environment of the root own with the variables that go test would
// read, for the named auditors.
func doctorEnv(own, filter string, names ...string) (*env, error) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	define(flags)
	cfg, err := configure(flags, os.Getenv)
	if err = errors.Join(err, checkVariables(os.Environ())); err != nil {
		return nil, err
	}
	cfg.Auditors, cfg.Root = names, "" // own is the root
	if filter != "" {
		cfg.Filter = filter
	}
	return checkout(own, cfg)
}

// Doctor writes what an auditor would miss here and what go test would refuse, with the
// fixtures and variables that the suites at own would run with. Where nothing is missing so
// far it runs the auditor for some seconds. It returns the number of things that are missing.
func Doctor(ctx context.Context, own, name, filter string, out io.Writer) (missing int, err error) {
	e, err := doctorEnv(own, filter, name)
	if err != nil {
		return 0, err
	}
	dir, err := e.registry()
	if err != nil {
		return 0, err
	}
	n := 0
	show := func(checks []auditor.Check) {
		for _, c := range checks {
			n++
			state := "ok"
			if c.Missing {
				state = "MISSING"
				missing++
			}
			fmt.Fprintf(out, "%-8s %-9s %s\n", state, c.What,
				auditor.Redact(audit.OneLine(c.Text, 0)))
		}
	}
	show(dir.Examine(ctx, name))
	show(e.refused())
	if missing == 0 {
		show(dir.Try(ctx, name))
	}
	if missing == 0 {
		fmt.Fprintf(out, "%s: nothing is missing\n", name)
	} else {
		fmt.Fprintf(out, "%s: %d of %d are missing: an audit would fail\n", name, missing, n)
	}
	return missing, nil
}

// refused returns what Smoke and Regression would refuse before anything runs.
func (e *env) refused() (checks []auditor.Check) {
	refuse := func(err error) {
		if err != nil {
			checks = append(checks, auditor.Check{What: "go test", Missing: true,
				Text: err.Error()})
		}
	}
	_, err := e.goals()
	refuse(err)
	_, err = e.chosenAuditors()
	refuse(err)
	if len(checks) > 0 {
		return checks
	}
	targets := false
	for _, dir := range regressionSuite.needs {
		targets = targets || exists(e.root.fixtures(), dir)
	}
	if !targets { // the rest is held against one shipped area
		areas, err := areaNames()
		refuse(err)
		e.cfg.Filter, e.root.planted = slices.Concat(areas, []string{""})[0], true
	}
	all, err := collectRegression(e, func(string, ...any) {})
	refuse(err)
	r := newRunning(&Suite{}, e, &regressionSuite)
	defer func() {
		for _, c := range r.closers {
			_ = c()
		}
	}()
	seen := map[string]bool{}
	for _, m := range all {
		err := m.err
		for side := range m.sides() {
			if err == nil {
				err = planTrials(r, side)
			}
		}
		if err != nil && !seen[err.Error()] {
			seen[err.Error()] = true
			refuse(err)
		}
	}
	switch {
	case len(checks) > 0:
	case !targets:
		checks = append(checks, auditor.Check{What: "go test",
			Text: "would start: Smoke; for Regression there is no project: name the shipped areas with -filter areas, or add one with assay new project"})
	default:
		checks = append(checks, auditor.Check{What: "go test",
			Text: "would start: Smoke, and Regression on " + plural(len(all), "project")})
	}
	return checks
}

// DoctorAll writes a table of the auditors of the root own: which of them would run here, and
// what the others miss first. It runs none of them.
func DoctorAll(ctx context.Context, own string, out io.Writer) error {
	e, err := doctorEnv(own, "")
	if err != nil {
		return err
	}
	dir, err := e.registry()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "auditor\tkind\truns\twhat is missing")
	for _, a := range dir.Auditors {
		var missing []string
		for _, c := range dir.Examine(ctx, a.Name) {
			if c.Missing {
				missing = append(missing, c.What+": "+strings.TrimPrefix(c.Text,
					fmt.Sprintf("%s: %s: ", a.Pos, a.Name)))
			}
		}
		runs, why := "yes", ""
		if len(missing) > 0 {
			first, _, _ := strings.Cut(missing[0], "\n")
			first, _, _ = strings.Cut(first, ": put what it needs")
			first, _, _ = strings.Cut(first, ": its section says how")
			runs, why = "no", auditor.Redact(audit.OneLine(first, 0))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", a.Name, a.Kind, runs, why)
	}
	return w.Flush()
}
