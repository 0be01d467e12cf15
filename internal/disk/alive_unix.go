//go:build unix

package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// alive reports whether a process with this number runs on this machine. One that has ended keeps
// its number until its parent has asked for its end, which in a container may be never: it is gone,
// where the system tells its state.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // NUMBER (NAME) STATE …
	state := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
	ended := len(state) > 0 && slices.Contains([]byte("ZX"), state[0])
	return !ended && (err == nil || errors.Is(err, syscall.EPERM))
}
