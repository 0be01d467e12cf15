// Package kernels holds the arithmetic that runs on private rows: for one row at a time, in
// float32, the product with a layer's weights and the activations; and the exact sums of products
// of integers that gradients are released as.
//
// On amd64 they use AVX2 with fused multiply-add when the processor has them; everywhere else, and
// where it has not, plain Go. Plain Go differs in the last places of [AddProductTo] alone, and is
// the same on every processor: no operation is fused. All else is exact or one operation a number.
// In each of them a number depends on the numbers of its own row and the sizes alone, infinities
// and NaN included (TestSumsAreSumsOfRows).
//
// All functions may be called from several goroutines at once. Shapes that do not fit panic. NaN
// and Inf travel as in IEEE arithmetic.
package kernels

import (
	"runtime"

	x86 "golang.org/x/sys/cpu"
)

// vectors is changed by tests only.
var vectors = Vectors()

// Vectors reports whether this processor has the vector units that the assembly needs.
func Vectors() bool {
	return runtime.GOARCH == "amd64" && x86.X86.HasAVX2 && x86.X86.HasFMA
}

// whole is how many of n numbers the assembly takes, which takes so many at a time.
func whole(n, lanes int) int {
	if !vectors {
		return 0
	}
	return n - n%lanes
}

// plain is whether products are plain Go on every processor.
var plain bool

// UsePlain has this process compute products in plain Go from here on, as all must whose sums are
// added up. None may be at work. It returns the name of what it has set.
func UsePlain() string {
	plain = true
	return "go"
}

// Unit names what this processor computes with, "avx2" or "go".
func Unit() string {
	if vectors {
		return "avx2"
	}
	return "go"
}
