// Package matrix holds the float32 arithmetic that decides the speed of the GANs on rows that are
// public: products of matrices, exp and log, softmax over blocks of columns, and the Adam update.
// Package kernels has what runs on private rows.
//
// On amd64 they use AVX2 with fused multiply-add when the processor has them; everywhere else, and
// where it has not, plain Go, which differs in the last places.
//
// All functions may be called from several goroutines at once. Shapes that do not fit panic. NaN
// and Inf travel as in IEEE arithmetic, except that [expTo] and [negLogTo] state their domains.
package matrix

import "github.com/decoy-dp/decoy/internal/kernels"

// vectors is changed by tests only.
var vectors = kernels.Vectors()

// same panics unless the lengths are equal.
func same(name string, n int, others ...int) { kernels.Same("matrix: "+name, n, others...) }
