// Package kernels holds the arithmetic that runs on private rows: for one row at a time, in
// float32, the product with a layer's weights and the activations; and the exact sums of products
// of integers that gradients are released as.
//
// On amd64 they use AVX2 with fused multiply-add, and AVX-512 for sums of integers, when the
// processor has them, chosen at start; everywhere else, and where it has not, plain Go. Plain Go
// differs in the last places of [AddProductTo] alone, and is the same on every processor: no
// operation is fused. All else is exact or one operation a number. In each of them a number depends
// on the numbers of its own row and the sizes alone, infinities and NaN included
// (TestSumsAreSumsOfRows).
//
// All functions may be called from several goroutines at once. Shapes that do not fit panic. NaN
// and Inf travel as in IEEE arithmetic.
package kernels

//go:generate go run ./asm

// plain is whether products are plain Go on every processor.
var plain bool

// UsePlain has this process compute products in plain Go from here on, as all must whose sums are
// added up. None may be at work. It returns what it has set.
func UsePlain() Level {
	plain = true
	return Plain
}

// Level is what a processor can do.
type Level int

// The levels, each with all that those before it have.
const (
	Plain Level = iota
	avx2        // and FMA
	AVX512
)

// String is "go", "avx2" or "avx512".
func (l Level) String() string { return [...]string{"go", "avx2", "avx512"}[l] }
