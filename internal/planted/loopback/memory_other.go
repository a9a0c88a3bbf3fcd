//go:build !linux

package loopback

// folder gives the folder for a cluster: "" is that for temporary files.
func folder() string { return "" }
