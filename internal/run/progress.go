package run

import (
	"time"

	"assay/audit"
)

// An EventKind is what an event is about.
type EventKind string

// The kinds of events.
const (
	Began    EventKind = "began"    // the run began
	Done     EventKind = "done"     // a job has its outcome
	Retry    EventKind = "retry"    // a job will be tried again
	Throttle EventKind = "throttle" // a provider asks for less
	Waiting  EventKind = "waiting"  // nothing was answered for Config.Stall
	Stopping EventKind = "stopping" // nothing more is sent: to a provider, a reviewer, or at all
	Ended    EventKind = "ended"    // the run ended
)

// An Event is something that happened in a run, with the state after it.
type Event struct {
	Kind  EventKind
	Text  string // why; one line for people, that may quote what a provider wrote
	State State
}

// A State is how far a run is.
type State struct {
	Planned, Done, InFlight int
	Reused                  int // of Done
	Retries                 int
	// USD in this process, with what was charged for attempts of unknown cost
	Spent    float64
	Earlier  float64 // USD that the runs cost which this one continues
	Expected float64 // USD in the end, as far as can be told
	Elapsed  time.Duration
	tally    map[tallyKey]int
}

type tallyKey struct {
	label   audit.Label
	outcome audit.Outcome
}

// Add counts one job more with this expected label and outcome.
func (s *State) Add(l audit.Label, o audit.Outcome) {
	if s.tally == nil {
		s.tally = map[tallyKey]int{}
	}
	s.tally[tallyKey{l, o}]++
	s.Done++
}

// Count returns how many jobs with this expected label ("" for jobs without a
// key) have this outcome so far. It may be called only while the event is being
// told, or after the run.
func (s *State) Count(l audit.Label, o audit.Outcome) int { return s.tally[tallyKey{l, o}] }

// Outcome returns how many jobs have this outcome so far.
func (s *State) Outcome(o audit.Outcome) int {
	return s.Count(audit.Good, o) + s.Count(audit.Bad, o) + s.Count("", o)
}

// Rate returns the number of jobs answered per second since the run began, reused ones aside.
func (s *State) Rate() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Done-s.Reused) / s.Elapsed.Seconds()
}

// Left estimates the time that is left; 0 when nothing can be said yet.
func (s *State) Left() time.Duration {
	r := s.Rate()
	if r == 0 {
		return 0
	}
	return time.Duration(float64(s.Planned-s.Done) / r * float64(time.Second))
}
