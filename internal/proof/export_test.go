package proof

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// SetDeadline shortens the deadline of one runner, in milliseconds.
func SetDeadline(t *testing.T, c *Code, ms int) {
	t.Helper()
	c.deadline = time.Duration(ms) * time.Millisecond
}

// Conn is the session in which the rows stand as in data.sql, after which p runs
// in no other.
func Conn(p *Postgres) *pgx.Conn {
	p.only(1)
	return p.sides[0].conn
}

var Difference = difference
