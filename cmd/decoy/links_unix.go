//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// hardLinks is the number of names of a file.
func hardLinks(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}
