package kernels

import (
	"fmt"
	"math"
)

// AddScaledTo adds x·y to dst, exactly but for wrapping around. x and every element of y lie in
// [−2³¹, 2³¹).
func AddScaledTo(dst []int64, x int32, y []int64) {
	Same("kernels: AddScaled", len(dst), len(y))
	n := whole(len(y), 4)
	if n > 0 {
		addScaledAVX2(n, &dst[0], int64(x), &y[0])
	}
	for i, y := range y[n:] {
		dst[n+i] += int64(x) * y
	}
}

// AddOuterTo adds to dst, in × units row-major, the sum of the outer products x_i ⊗ y_i of n rows,
// exactly but for wrapping around: x is n × in and y n × units, row-major, of numbers in [−2³¹,
// 2³¹).
func AddOuterTo(dst []int64, n int, x, y []int64) {
	if n <= 0 {
		if n < 0 || len(x) > 0 || len(y) > 0 {
			panic(fmt.Sprintf("kernels: outer products of %d rows of %d and %d numbers in all", n,
				len(x), len(y)))
		}
		return
	}
	in, units := len(x)/n, len(y)/n
	if len(x) != n*in || len(y) != n*units || len(dst) != in*units {
		panic(fmt.Sprintf("kernels: %d rows of %d and %d numbers in all, into %d", n, len(x),
			len(y), len(dst)))
	}
	if units == 1 {
		for i, y := range y {
			AddScaledTo(dst, int32(y), x[i*in:][:in])
		}
		return
	}
	// Whole tiles first; what is left are columns from wide on and rows from tall on.
	tall, wide := whole(in, 4), whole(units, 8)
	for from := 0; from < n && tall > 0; from += outerRows { // so many rows stay in the cache
		x, y, m := x[from*in:], y[from*units:], min(outerRows, n-from)
		for j := 0; j < wide; j += 8 {
			for k := 0; k < tall; k += 4 {
				outerAVX2(m, &dst[k*units+j], 8*units, &x[k], 8*in, &y[j], 8*units)
			}
		}
	}
	for i := range n {
		x, y := x[i*in:][:in], y[i*units:][:units]
		for k := 0; k < tall && wide < units; k++ {
			for j := wide; j < units; j++ {
				dst[k*units+j] += int64(int32(x[k])) * y[j] // as VPMULDQ does, whatever x is
			}
		}
		for k := tall; k < in; k++ {
			AddScaledTo(dst[k*units:][:units], int32(x[k]), y)
		}
	}
}

const outerRows = 128

// RoundTo sets dst to factor·x, rounded to the nearest integers, ties to even. factor is a power of
// two, and no product reaches 2⁵¹.
func RoundTo(dst []int64, x []float32, factor float64) {
	Same("kernels: Round", len(dst), len(x))
	// 1.5·2⁵² leaves in a float64 below 2⁵¹ no digits after the point, and the integer in its low
	// bits.
	const magic = 0x1.8p52
	n := whole(len(x), 4)
	if n > 0 {
		roundAVX2(n, &dst[0], &x[0], factor, magic)
	}
	for i, v := range x[n:] {
		dst[n+i] = int64(math.Float64bits(float64(float64(v)*factor)+magic) - math.Float64bits(magic))
	}
}

// AddProductTo adds to dst the product of the row x with w, len(x) × len(dst) and row-major: Σ_i
// x_i·w_ij over ascending i.
func AddProductTo(dst, x, w []float32) {
	n := len(dst)
	Same("kernels: AddProduct", len(w), len(x)*n)
	j := 0
	for step := 64; vectors && !plain && len(x) > 0 && n-j >= 8; j += step {
		kernel := productAVX2x64
		if n-j < 64 {
			kernel, step = productAVX2x8, 8
		}
		kernel(len(x), &dst[j], &x[0], &w[j], 4*n)
	}
	for i, x := range x {
		row := w[i*n:][:n]
		for k := j; k < n; k++ {
			dst[k] += float32(x * row[k]) // rounded: the compiler may not fuse
		}
	}
}

// AddTo adds src to dst, element by element.
func AddTo(dst, src []float32) {
	Same("kernels: Add", len(dst), len(src))
	n := whole(len(src), 8)
	if n > 0 {
		addAVX2(n, &dst[0], &src[0])
	}
	for i, x := range src[n:] {
		dst[n+i] += x
	}
}
