//go:build !linux

package stats

import "fmt"

// Program refuses: only on Linux is a program kept apart.
func Program(command []string, limits Limits) (Statistic, error) {
	return Statistic{}, fmt.Errorf("a program of your own runs on Linux only: %w",
		ErrStatistic)
}
