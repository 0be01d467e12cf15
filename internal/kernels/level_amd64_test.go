package kernels

var detected = detect()

// withLevel runs f as on a processor that can do no more than l.
func withLevel(l level, f func()) {
	defer func(was level) { cpu = was }(cpu)
	cpu = l
	f()
}
