// Command write draws the simulated cohorts and writes them as CSV files into the directory that is
// its only argument. It is what go generate runs in package datasets.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/decoy-dp/decoy/datasets/internal/cohort"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: write DIRECTORY")
		os.Exit(2)
	}
	for _, t := range cohort.Tables() {
		if err := os.WriteFile(filepath.Join(os.Args[1], t.Name+".csv"), t.CSV(), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d rows, intercept %.3f, margin %.2g\n", t.Name, len(t.Rows), t.Intercept,
			t.Margin)
	}
}
