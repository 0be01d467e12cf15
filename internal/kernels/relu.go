package kernels

import "fmt"

// Same panics, naming what needs it, unless the lengths are equal.
func Same(name string, n int, others ...int) {
	for _, m := range others {
		if m != n {
			panic(fmt.Sprintf("%s of slices of lengths %d and %d", name, n, m))
		}
	}
}

// LeakyReLUTo sets dst to max(x, slope·x), 0 ≤ slope ≤ 1, and to x where slope·x is not a number.
// dst may be src.
func LeakyReLUTo(dst, src []float32, slope float32) {
	Same("kernels: LeakyReLU", len(dst), len(src))
	n := whole(len(src), 8)
	if n > 0 {
		leakyAVX2(n, &dst[0], &src[0], slope)
	}
	for i, x := range src[n:] {
		// as VMAXPS does, NaN and all: the last rows of a batch end up here
		if y := slope * x; y > x {
			x = y
		}
		dst[n+i] = x
	}
}

// DescendTo multiplies dst by the derivative of [LeakyReLUTo] at s: by 1 where s > 0, else by
// slope.
func DescendTo(dst, s []float32, slope float32) {
	Same("kernels: Descend", len(dst), len(s))
	n := whole(len(s), 8)
	if n > 0 {
		descendAVX2(n, &dst[0], &s[0], slope)
	}
	for i, x := range s[n:] {
		if !(x > 0) {
			dst[n+i] *= slope
		}
	}
}
