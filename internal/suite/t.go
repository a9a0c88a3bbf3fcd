package suite

import "time"

// A T is what the suites need of *testing.T. It is an interface so that a fake
// can prove that the suites fail, and so that nothing here is linked to package
// testing.
type T interface {
	Helper()
	Name() string
	Run(name string, f func(T)) bool
	Parallel()
	Deadline() (deadline time.Time, ok bool)
	Cleanup(f func())
	TempDir() string
	ArtifactDir() string
	Attr(key, value string)
	Failed() bool
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Skip(args ...any)
	Skipf(format string, args ...any)
}
