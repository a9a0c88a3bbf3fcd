//go:build !linux

package postgres

import "syscall"

// quit is the signal for PostgreSQL's fast shutdown.
const quit = syscall.SIGTERM

// attributes does nothing: ending the child with us is a feature of Linux.
func attributes(*owner) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// memory returns "", which stands for the temporary folder.
func memory() string { return "" }
