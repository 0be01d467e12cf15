package validate

import "time"

// Limits hold a program on each block.
type Limits struct {
	Time time.Duration // > 0, from its start; whatever it started is killed then
	MiB  int           // of memory for each process, at least 1
}
