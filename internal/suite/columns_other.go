//go:build !unix

package suite

import "os"

// columnsOf returns the width of a terminal; 0 for other files.
func columnsOf(*os.File) int { return 0 }
