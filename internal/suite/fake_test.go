package suite

import (
	"fmt"
	"path"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// A fake is a T that records what a suite does to it, so that a test can show
// that a suite fails, and for which reason. It runs subtests as *testing.T does:
// one that calls Parallel waits until the function of its parent has returned.
type fake struct {
	name     string
	parent   *fake
	choose   func(path string) bool // which subtests -run chose; nil: all
	dir      string
	deadline time.Time

	mu       sync.Mutex
	logs     []string
	errors   []string
	skipped  string
	attrs    map[string]string
	children []*fake
	waiting  []*fake
	cleanups []func()

	yielded chan struct{} // closed when the subtest calls Parallel
	release chan struct{} // closed when the parent's function has returned
	done    chan struct{}
}

// play runs a suite on a fake and gives it when everything has ended.
func play(t *testing.T, name string, f func(T), edit ...func(*fake)) *fake {
	t.Helper()
	if testing.Short() && name != "TestSmoke" {
		t.Skipf("-short: %s skips itself, and leaves nothing to look at", name)
	}
	ft := newFake(name, nil)
	ft.dir = t.TempDir()
	for _, e := range edit {
		e(ft)
	}
	go ft.run(f)
	<-ft.done
	return ft
}

func newFake(name string, parent *fake) *fake {
	return &fake{name: name, parent: parent, attrs: map[string]string{},
		yielded: make(chan struct{}),
		release: make(chan struct{}), done: make(chan struct{})}
}

func (f *fake) run(body func(T)) {
	defer close(f.done)
	ended := make(chan struct{})
	go func() {
		defer close(ended) // FailNow and SkipNow end this goroutine
		defer func() {
			if r := recover(); r != nil {
				f.Errorf("panic: %v", r)
			}
		}()
		body(f)
	}()
	<-ended
	for _, c := range f.waiting {
		close(c.release)
	}
	for _, c := range f.waiting {
		<-c.done
	}
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
}

func (f *fake) Run(name string, body func(T)) bool {
	c := newFake(path.Join(f.name, strings.ReplaceAll(name, " ", "_")), f)
	c.choose, c.dir, c.deadline = f.choose, f.dir, f.deadline
	if f.choose != nil && !f.choose(c.name) {
		return true
	}
	f.children = append(f.children, c)
	go c.run(body)
	select {
	case <-c.done:
		return !c.Failed()
	case <-c.yielded:
		f.waiting = append(f.waiting, c)
		return true
	}
}

func (f *fake) Parallel() {
	close(f.yielded)
	<-f.release
}

func (f *fake) Deadline() (time.Time, bool) { return f.deadline, !f.deadline.IsZero() }

func (f *fake) add(to *[]string, s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*to = append(*to, strings.TrimSpace(s))
}

func (f *fake) Helper()                   {}
func (f *fake) Name() string              { return f.name }
func (f *fake) TempDir() string           { return f.dir }
func (f *fake) ArtifactDir() string       { return f.dir }
func (f *fake) Logf(s string, a ...any)   { f.add(&f.logs, fmt.Sprintf(s, a...)) }
func (f *fake) Error(args ...any)         { f.fail(fmt.Sprintln(args...)) }
func (f *fake) Errorf(s string, a ...any) { f.fail(fmt.Sprintf(s, a...)) }
func (f *fake) Fatal(args ...any)         { f.Error(args...); runtime.Goexit() }
func (f *fake) Fatalf(s string, a ...any) { f.Errorf(s, a...); runtime.Goexit() }
func (f *fake) Skip(args ...any)          { f.add(&f.logs, fmt.Sprintln(args...)); f.SkipNow() }
func (f *fake) Skipf(s string, a ...any)  { f.skip(fmt.Sprintf(s, a...)); runtime.Goexit() }
func (f *fake) SkipNow()                  { f.skip("skipped"); runtime.Goexit() }

// fail fails the test, and with it at once those that it is a part of.
func (f *fake) fail(why string) {
	f.add(&f.errors, why)
	for p := f.parent; p != nil; p = p.parent {
		p.add(&p.errors, "")
	}
}

func (f *fake) skip(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.skipped = why
}

func (f *fake) Skipped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skipped != ""
}

func (f *fake) Attr(key, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attrs[key] = value
}

func (f *fake) Cleanup(c func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cleanups = append(f.cleanups, c)
}

func (f *fake) Failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.errors) > 0
}

// complaints gives what failed, as "path: message", here and below.
func (f *fake) complaints() []string {
	var all []string
	for _, e := range f.errors {
		if e != "" {
			all = append(all, f.name+": "+e)
		}
	}
	for _, c := range f.children {
		all = append(all, c.complaints()...)
	}
	return all
}

// leaf gives the subtest of that path, or nil.
func (f *fake) leaf(name string) *fake {
	if f.name == name {
		return f
	}
	for _, c := range f.children {
		if l := c.leaf(name); l != nil {
			return l
		}
	}
	return nil
}
