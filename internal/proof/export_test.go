package proof

import (
	"testing"
	"time"
)

// SetDeadline shortens the deadline of one runner, in milliseconds.
func SetDeadline(t *testing.T, c *Code, ms int) {
	t.Helper()
	c.deadline = time.Duration(ms) * time.Millisecond
}
