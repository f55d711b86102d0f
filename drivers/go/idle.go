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

// settle returns once no job of the database is running or due.
func (d *openDatabase) settle() error {
	worker, ok := d.Database.(Worker)
	if !ok {
		return d.failure.get()
	}
	for idle, stuck := 0, 0; idle < idlePolls; time.Sleep(pollPause) {
		running, due, err := worker.Working()
		if err := errors.Join(d.failure.get(), err); err != nil {
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
			return errors.New("work that Working says is due is not started")
		}
	}
	return nil
}

type firstError struct {
	mutex sync.Mutex
	err   error
}

func (f *firstError) set(err error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstError) get() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.err
}
