//go:build !linux

package proof

import "os/exec"

// isolate does nothing: network namespaces and dying with the parent are Linux
// features, and CommandContext still kills the process itself.
func isolate(*exec.Cmd, bool) {}
