package box

import (
	"cmp"
	"fmt"
	"time"

	"assay/audit"
)

// usual are the limits of a section that states none: far above the usage of the auditors in
// auditors.md, and below what harms a machine.
var usual = audit.Limits{
	Memory:    8 << 30,
	Processes: 4096,
	OpenFiles: 16384,
	CPU:       24 * time.Hour,
	Disk:      4 << 30,
	Report:    MaxReport,
	Findings:  100_000,
}

// Limits returns the limits of a section, with the usual ones where it states none.
func Limits(l audit.Limits) audit.Limits {
	l.Memory = cmp.Or(l.Memory, usual.Memory)
	l.Processes = cmp.Or(l.Processes, usual.Processes)
	l.OpenFiles = cmp.Or(l.OpenFiles, usual.OpenFiles)
	l.CPU = cmp.Or(l.CPU, usual.CPU)
	l.Disk = cmp.Or(l.Disk, usual.Disk)
	l.Report = cmp.Or(l.Report, usual.Report)
	l.Findings = cmp.Or(l.Findings, usual.Findings)
	return l
}

// usage is what the processes of a program use together.
type usage struct {
	memory    int64 // bytes; shared memory counts for each process
	processes int   // and threads
	openFiles int   // of the process that has most
	cpu       time.Duration
	disk      int64
	folder    string // that disk counts; empty for the home
}

// crossed returns a message that names the limit that the usage is over; "" if there is none.
// The kernel lets no process have more open files than the limit, so reaching it counts.
func (u usage) crossed(l audit.Limits) string {
	over := func(what, most, field string) string {
		return fmt.Sprintf(
			"it was stopped: it used more than %s of %s (the limit %s of its section)",
			most, what, field)
	}
	switch {
	case u.memory > l.Memory:
		return over("memory", Size(l.Memory), "Memory")
	case u.processes > l.Processes:
		return fmt.Sprintf("it was stopped: it had more than %d processes and threads "+
			"(the limit Processes of its section)", l.Processes)
	case u.openFiles >= l.OpenFiles:
		return fmt.Sprintf("it was stopped: one process had %d open files "+
			"(the limit Open files of its section)", l.OpenFiles)
	case u.cpu > l.CPU:
		return over("CPU time", l.CPU.String(), "CPU time")
	case u.disk > l.Disk && u.folder != "":
		return over("disk in "+u.folder, Size(l.Disk), "Disk")
	case u.disk > l.Disk:
		return over("disk", Size(l.Disk), "Disk")
	}
	return ""
}
