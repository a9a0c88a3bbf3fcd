package suite

import (
	"context"
	"fmt"
	"io"
	"os"

	"assay/audit"
	"assay/internal/auditor"
)

// Doctor tells what an auditor would miss here, with the fixtures and variables that the
// suites at own would run with. It gives the number of things
// that are missing.
func Doctor(ctx context.Context, own, name string, out io.Writer) (missing int, err error) {
	budget, err := ParseBudget(os.Getenv(variable("budget")))
	if err != nil {
		return 0, err
	}
	e, err := checkout(own, Config{Budget: budget})
	if err != nil {
		return 0, err
	}
	dir, err := e.registry()
	if err != nil {
		return 0, err
	}
	checks := dir.Examine(ctx, name)
	for _, c := range checks {
		state := "ok"
		if c.Missing {
			state = "MISSING"
			missing++
		}
		fmt.Fprintf(out, "%-8s %-9s %s\n", state, c.What, auditor.Redact(audit.OneLine(c.Text, 0)))
	}
	if missing == 0 {
		fmt.Fprintf(out, "%s: nothing is missing\n", name)
	} else {
		fmt.Fprintf(out, "%s: %d of %d are missing: an audit would fail\n", name, missing, len(checks))
	}
	return missing, nil
}
