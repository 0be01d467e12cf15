package matrix

import "github.com/decoy-dp/decoy/internal/kernels"

// withLevel runs f as on a processor that can do no more than l.
func withLevel(l kernels.Level, f func()) {
	defer func(was kernels.Level) { cpu = was }(cpu)
	cpu = l
	f()
}
