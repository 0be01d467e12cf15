//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// cpu is the processor time that this process has used, in seconds.
func cpu() float64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// peakMemory is the most memory that a process that has ended has had, in bytes.
func peakMemory(p *os.ProcessState) float64 {
	use, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "linux" {
		return float64(use.Maxrss) * 1024 // kilobytes there, bytes elsewhere
	}
	return float64(use.Maxrss)
}
