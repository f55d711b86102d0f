package kvmatrix

import (
	"errors"
	"sync"
	"time"
)

const (
	pollPause = time.Millisecond
	idlePolls = 3      // in a row: an engine may be between two jobs
	mostPolls = 10_000 // for which work is due and nothing runs: about ten seconds
)

// WaitUntilIdle returns once `poll` says that no job is running or due, for engines
// that cannot wait for that themselves.  It fails if work that is due is not
// started.
func WaitUntilIdle(poll func() (running, due bool, err error)) error {
	for idle, stuck := 0, 0; idle < idlePolls; time.Sleep(pollPause) {
		running, due, err := poll()
		if err != nil {
			return err
		}
		switch {
		case running:
			idle, stuck = 0, 0
		case due:
			idle, stuck = 0, stuck+1
		default:
			idle++
		}
		if stuck > mostPolls {
			return errors.New("work that is due is not started")
		}
	}
	return nil
}

// FirstError keeps the first error of an engine's background work.
type FirstError struct {
	mutex sync.Mutex
	err   error
}

// Set keeps `err` if it is the first.
func (f *FirstError) Set(err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// Get returns what is kept.
func (f *FirstError) Get() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.err
}
