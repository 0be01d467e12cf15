//go:build unix

package disk

import (
	"errors"
	"syscall"
)

// alive reports whether a process with this number runs on this machine.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
