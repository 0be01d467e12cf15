package kernels

// The kernels of sums_amd64.s; n is a positive multiple of 8 (of 4 for int64).

//go:noescape
func leakyAVX2(n int, dst, src *float32, slope float32)

//go:noescape
func descendAVX2(n int, dst, s *float32, slope float32)

//go:noescape
func addAVX2(n int, dst, src *float32)

//go:noescape
func roundAVX2(n int, dst *int64, src *float32, factor, magic float64)

//go:noescape
func addScaledAVX2(n int, dst *int64, x int64, y *int64)

// k ≥ 1 numbers of x and rows of 64, or 8, numbers of w, ldw bytes apart.

//go:noescape
func productAVX2x64(k int, dst, x, w *float32, ldw int)

//go:noescape
func productAVX2x8(k int, dst, x, w *float32, ldw int)

// n rows of 4 numbers of x and 8 of y; strides in bytes.

//go:noescape
func outerAVX2(n int, dst *int64, ldd int, x *int64, ldx int, y *int64, ldy int)
