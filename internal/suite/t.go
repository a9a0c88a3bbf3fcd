package suite

import (
	"testing"
	"time"
)

// A T is what the suites need of *testing.T. It is an interface so that a fake
// can prove that the suites fail when they must.
type T interface {
	testing.TB
	Run(name string, f func(T)) bool
	Parallel()
	Deadline() (deadline time.Time, ok bool)
}

// real is a *testing.T as a T.
type real struct{ *testing.T }

func (r real) Run(name string, f func(T)) bool {
	return r.T.Run(name, func(t *testing.T) { f(real{t}) })
}
