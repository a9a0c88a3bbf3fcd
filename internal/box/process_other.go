//go:build unix && !linux

package box

import (
	"os"
	"syscall"
)

// attributes start a program in a session of its own, so that it has no terminal
// and one signal reaches all of it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Without /proc only the leader is known; signals go to its group.
func processTree(leader int) []int { return []int{leader} }

func markedProcesses(string) []int { return nil }

func residentMemory([]int) int64 { return 0 }

func ownPeak(*os.ProcessState) int64 { return 0 }
