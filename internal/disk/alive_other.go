//go:build !unix

package disk

import "os"

// alive reports whether a process with this number runs on this machine. Where that cannot be told
// it says yes.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	p, err := os.FindProcess(pid) // on Windows an error when there is none
	if err != nil {
		return false
	}
	p.Release()
	return true
}
