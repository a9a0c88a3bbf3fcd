//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// begin writes into the books that this run has begun, and gives its number among
// all that have, from 1. It waits where it was told to.
func (o *options) begin() (nth int, err error) {
	if o.books == "" {
		return 1, o.wait()
	}
	line := fmt.Sprintf("begun %d %d", os.Getpid(), time.Now().UnixNano())
	if err := o.enter(line); err != nil {
		return 0, err
	}
	b, err := os.ReadFile(o.books)
	if err != nil {
		return 0, err
	}
	begun := slices.DeleteFunc(strings.Split(string(b), "\n"), func(l string) bool { return !strings.HasPrefix(l, "begun ") })
	return slices.Index(begun, line) + 1, o.wait()
}

// end writes what the run cost.
func (o *options) end() error {
	if o.books == "" {
		return nil
	}
	return o.enter(fmt.Sprintf("ended %d %g", os.Getpid(), o.usd))
}

// enter appends a line to the books: in one write, as others do at the same time.
func (o *options) enter(line string) error {
	f, err := os.OpenFile(o.books, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// wait returns when the file of -until is there.
func (o *options) wait() error {
	for o.until != "" {
		if _, err := os.Stat(o.until); err == nil {
			return nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}
