//go:build unix

package configs

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// hardLinks is the number of names of a file.
func hardLinks(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// fileID is the number of a file, the same by all of its names.
func fileID(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(s.Dev, " ", s.Ino)
	}
	return ""
}

// closed reports whether standard output was closed when the program began. The Go runtime then has
// put /dev/null in its place, open for reading and writing, which a shell's > does not.
func closed(stdout io.Writer) bool {
	f, ok := stdout.(*os.File)
	if !ok {
		return false
	}
	null, err := os.Stat(os.DevNull)
	if err != nil {
		return false
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(info, null) {
		return err != nil
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	return err != nil || flags&unix.O_ACCMODE == unix.O_RDWR
}
