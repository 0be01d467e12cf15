package kernels

// withLevel runs f as on a processor that can do no more than l.
func withLevel(l Level, f func()) {
	defer func(was Level) { cpu = was }(cpu)
	cpu = l
	f()
}
