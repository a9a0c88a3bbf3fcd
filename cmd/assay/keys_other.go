//go:build !linux

package main

import "os"

// keystrokes makes a terminal deliver each key as it is pressed, and returns a function that
// undoes it. It does nothing for other files.
func keystrokes(*os.File) (restore func()) { return func() {} }
