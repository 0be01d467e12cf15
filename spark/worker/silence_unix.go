//go:build unix

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// silence sends standard error to null, that of the run time too.
func silence(null *os.File) {
	_ = unix.Dup2(int(null.Fd()), int(os.Stderr.Fd()))
}
