//go:build unix

// Command timed runs a command several times and prints the medians of its wall time and of its
// processor time (of all cores together), and the largest of its peak memory.
//
//	go run ./internal/cmd/timed [-runs 5] COMMAND ARGUMENTS...
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"
)

func main() {
	runs := flag.Int("runs", 5, "number of runs, 1 or more")
	flag.Parse()
	if flag.NArg() == 0 || *runs < 1 {
		flag.Usage()
		os.Exit(2)
	}
	var seconds, processor []float64
	var peak int64
	for range *runs {
		cmd := exec.Command(flag.Arg(0), flag.Args()[1:]...)
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "timed: %v\n%s", err, out)
			os.Exit(1)
		}
		seconds = append(seconds, time.Since(start).Seconds())
		processor = append(processor,
			(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
		if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
			peak = max(peak, int64(use.Maxrss))
		}
	}
	if runtime.GOOS == "linux" {
		peak *= 1024 // kilobytes there, bytes elsewhere
	}
	slices.Sort(seconds)
	slices.Sort(processor)
	fmt.Printf("median %.2f s of %d runs (%.2f–%.2f), processor time %.2f s, peak memory %d MB\n",
		seconds[*runs/2], *runs, seconds[0], seconds[*runs-1], processor[*runs/2], peak/1_000_000)
}
