//go:build !linux

package main

import "os"

// keystrokes leaves the terminal as it is: keys count when the line ends.
func keystrokes(*os.File) (restore func()) { return func() {} }
