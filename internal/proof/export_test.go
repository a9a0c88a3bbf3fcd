package proof

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"assay/audit"
)

// SetDeadline shortens the deadline of one runner, in milliseconds.
func SetDeadline(t *testing.T, c *LanguageRunner, ms int) {
	t.Helper()
	c.deadline = time.Duration(ms) * time.Millisecond
}

// SetForeign has one runner take its application for that of a foreign root.
func SetForeign(c *LanguageRunner) { c.foreign = true }

// Conn is the session in which the rows stand as in data.sql, after which p runs
// in no other.
func Conn(p *Postgres) *pgx.Conn {
	p.only(1)
	return p.sides[0].conn
}

var Difference = difference

// TwinFamily gives fam with every case replaced by its twin of a kind, where
// there is one; nil where no case has one.
func TwinFamily(app *audit.App, fam *audit.Family, kind string) *audit.Family {
	twin, some := *fam, false
	twin.Cases = make([]*audit.Case, len(fam.Cases))
	for i, c := range fam.Cases {
		copied := *c
		for _, t := range Twins(app, fam, c) {
			if t.Kind == kind {
				copied.Code, some = t.Code, true
			}
		}
		twin.Cases[i] = &copied
	}
	if !some {
		return nil
	}
	return &twin
}
