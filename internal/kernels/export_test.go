package kernels

// EachLevel runs f once as on each processor up to this machine's.
func EachLevel(f func(name string)) {
	for _, l := range levels() {
		withLevel(l, func() { f(l.String()) })
	}
}
