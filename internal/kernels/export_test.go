package kernels

// EachUnit runs f once with plain Go, and once with the vector unit if this machine has it.
func EachUnit(f func(unit string)) {
	defer func() { vectors = Vectors() }()
	vectors = false
	f(Unit())
	if vectors = Vectors(); vectors {
		f(Unit())
	}
}
