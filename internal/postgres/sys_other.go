//go:build !linux

package postgres

import "syscall"

const quit = syscall.SIGTERM

// attributes leaves the child as it is: ending with us is a Linux feature.
func attributes(*owner) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

// memory gives the folder for a cluster: "" is that for temporary files.
func memory() string { return "" }
