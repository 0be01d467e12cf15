//go:build faults && unix

package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// This file is in no ordinary build. It reads the environment:
//
//	DISK_FAULT=N:ACTION   what happens at the N-th point, from 1:
//	    kill      the process dies (SIGKILL) before the operation
//	    half      a write writes half of its bytes, then the process dies; all else is as with kill
//	    after     the process dies after the operation
//	    term hup  the process sends itself SIGTERM or SIGHUP, and goes on
//	    enospc    the disk is full from here on: the operation fails (a write after half of its
//	              bytes), and so does every later one. A remove or truncate needs no room, and works
//	    eio       the operation fails, and does nothing (a write writes half of its bytes)
//	DISK_FAULT_LOG=FILE   a line "OPERATION NAME" is appended for each point, before it acts
//	DISK_FAULT_KEEP=DIR   a file that is removed goes to this folder instead

var actions = []string{"kill", "half", "after", "term", "hup", "enospc", "eio"}

// faults is the state of this process.
type faults struct {
	sync.Mutex
	at     int // 0 is never
	action string
	log    *os.File // may be nil
	keep   string
	passed int  // points so far
	full   bool // the disk
}

var state = sync.OnceValue(func() *faults {
	s := &faults{keep: os.Getenv("DISK_FAULT_KEEP")}
	if text := os.Getenv("DISK_FAULT"); text != "" {
		at, action, _ := strings.Cut(text, ":")
		n, err := strconv.Atoi(at)
		if err != nil || n < 1 || !slices.Contains(actions, action) {
			panic("disk: DISK_FAULT must be N:ACTION")
		}
		s.at, s.action = n, action
	}
	if path := os.Getenv("DISK_FAULT_LOG"); path != "" {
		var err error
		if s.log, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			panic("disk: DISK_FAULT_LOG: " + err.Error())
		}
	}
	return s
})

// arrive counts a point and says what is to happen there: one of the actions, or "".
func arrive(op, name string) string {
	s := state()
	s.Lock()
	defer s.Unlock()
	s.passed++
	if s.log != nil {
		fmt.Fprintln(s.log, op, filepath.Base(name))
	}
	switch {
	case s.passed == s.at:
		s.full = s.action == "enospc"
		return s.action
	case s.full:
		return "enospc"
	}
	return ""
}

// act does an operation as the point says; half is what a fault leaves of it.
func act(op, name string, do func() error, half func()) error {
	action := arrive(op, name)
	switch action {
	case "kill":
		die()
	case "half":
		half()
		die()
	case "after":
		do()
		die()
	case "term", "hup":
		signal := map[string]syscall.Signal{"term": syscall.SIGTERM, "hup": syscall.SIGHUP}[action]
		syscall.Kill(os.Getpid(), signal)
		time.Sleep(5 * time.Millisecond) // for whoever listens
	case "eio":
		half()
		return &fs.PathError{Op: op, Path: name, Err: syscall.EIO}
	case "enospc":
		if op != "remove" && op != "truncate" {
			half()
			return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
		}
	}
	return do()
}

// die ends the process as a power cut would.
func die() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func step(op, name string, do func() error) error { return act(op, name, do, func() {}) }

// Write is f.Write.
func Write(f *os.File, b []byte) (n int, err error) {
	all := func() error { n, err = f.Write(b); return err }
	err = act("write", f.Name(), all, func() { n, _ = f.Write(b[:len(b)/2]) })
	return n, err
}

// Remove is os.Remove.
func Remove(name string) error {
	return step("remove", name, func() error {
		info, err := os.Lstat(name) // with a file in it, a folder stays
		if keep := state().keep; keep != "" && (err != nil || !info.IsDir()) {
			return os.Rename(name, filepath.Join(keep, filepath.Base(name)))
		}
		return os.Remove(name)
	})
}
