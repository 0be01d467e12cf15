package main

import (
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

// timed runs a command several times and prints the medians of its wall time and of its processor
// time (of all cores together), and the largest of its peak memory.
func timed(args []string) {
	flags := flag.NewFlagSet("timed", flag.ExitOnError)
	runs := flags.Int("runs", 5, "number of runs, 1 or more")
	flags.Parse(args)
	if flags.NArg() == 0 || *runs < 1 {
		check(fmt.Errorf("it needs a command, and one run or more"))
	}
	var seconds, processor []float64
	var peak int64
	for range *runs {
		cmd := exec.Command(flags.Arg(0), flags.Args()[1:]...)
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			check(fmt.Errorf("%v\n%s", err, out))
		}
		seconds = append(seconds, time.Since(start).Seconds())
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		processor = append(processor, used.Seconds())
		peak = max(peak, peakMemory(cmd.ProcessState))
	}
	slices.Sort(seconds)
	slices.Sort(processor)
	fmt.Printf("median %.2f s of %d runs (%.2f–%.2f), processor time %.2f s, peak memory %d MB\n",
		seconds[*runs/2], *runs, seconds[0], seconds[*runs-1], processor[*runs/2], peak/1_000_000)
}
