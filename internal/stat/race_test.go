//go:build race

package stat

// The race detector makes arithmetic about twenty times as slow and finds nothing
// in more of the same.
func init() { raced = true }
