// Package kernels holds the float32 arithmetic that decides the speed of the GANs: matrix products,
// activations, exp and log, softmax over blocks of columns, and the Adam update; and the exact sums
// of products of integers that gradients are released as.
//
// On amd64 the products use AVX-512 or AVX2 with fused multiply-add when the processor has them,
// chosen at start; everywhere else, and where it has not, plain Go. Both vector kernels round
// alike, bit for bit; plain Go differs in the last places. In each of them an element of a product
// depends on its row of A, its column of B and the sizes alone, not on the other rows: a row of a
// batch has the same image whatever the batch is, infinities and NaN included
// (TestSumsAreSumsOfRows).
//
// What runs on private rows is in gemm.go, relu.go and sums.go (and kernels_amd64.go, which calls
// their assembly), and in no other file.
//
// All functions may be called from several goroutines at once. Shapes that do not fit panic. NaN
// and Inf travel as in IEEE arithmetic, except that [ExpTo] and [NegLogTo] state their domains.
package kernels

//go:generate go run ./asm

// level is what the processor can do.
type level int

const (
	plain level = iota
	avx2        // and FMA
	avx512
)

// Vectorised names what the products use: "avx512", "avx2" or "go".
func Vectorised() string { return [...]string{"go", "avx2", "avx512"}[cpu] }
