// Package bounds says how far one row can move the gradient of a critic, whatever the row is. Who
// knows that adds noise of the right size to the gradient of a batch, and need not clip. [Certify]
// takes the critic's weights and the public input domain, never a row.
//
// # The critic
//
// s^l = W^lᵀ x^{l−1} + b^l for l = 1..L, x^l = φ(s^l) for l < L, φ = ReLU or LeakyReLU(α), and D(x)
// = s^L is one number. A row's contribution is g(x) = ∇_θ D(x). With δ^l = ∇_{s^l} D:
//
//	∇b^l = δ^l,   ∇W^l_ij = x_i^{l−1}·δ^l_j,   δ^L = 1,   δ^{l−1} = φ'(s^{l−1}) ⊙ W^l δ^l.
//
// (The thesis this follows prints ∇x^{l−1} where ∇W^l needs the activation x^{l−1}; finite
// differences decide for x^{l−1}.) Intervals for every s, x and δ over the whole domain are
// propagated layer by layer, and a [Certificate] is an ellipsoid that holds what a row adds, about
// a public centre, whatever the row is.
//
// # Model of arithmetic: what the implementation of the critic must do
//
// The certificate is about the numbers that a machine computes. It holds for every implementation
// with these properties, where u is the unit roundoff of the type of the weights (2⁻²⁴ for float32,
// 2⁻⁵³ for float64) and F the certificate's factor grid:
//
//  1. A row's s^l, x^l, δ^l are computed from exactly the given weights in that precision or a
//     better one, the terms of each sum in any order, with or without fused multiply-add; terms
//     that are zero may be skipped. A sum of n terms is then within γ_{n+2}·Σ|terms| of the exact
//     sum, γ_n = nu/(1−nu) (Higham 2002, Accuracy and Stability of Numerical Algorithms, section
//     3.1), and results that underflow may be flushed. φ'(0) may be 1 or α.
//  2. They depend on the row and the weights alone, not on the other rows of the batch, nor on the
//     row's place in it. Kernels that sum the last rows of a batch in another order break this: a
//     row on the kink of a ReLU would change its gradient by a whole weight when another row is
//     removed.
//  3. The factors of the gradient, x^l for 1 ≤ l < L and δ^l, are rounded to the nearest multiple
//     of F (ties in any way) before they are multiplied: ∇W^l_ij = x̂_i^{l−1}·δ̂^l_j, ∇b^l_j =
//     δ̂^l_j. Forward and backward passes go on with the unrounded values.
//  4. The batch is summed exactly: every contribution is a whole multiple of F². Integers, or
//     float64 as long as no partial sum exceeds 2⁵³·F². Integer sums that wrap around are safe too:
//     the release is then a function of the exact noisy sum.
//
// Nothing overflows: a network is refused unless, for every sum that the model names (each s_j, the
// score's too, and each element of W^l δ^l), the bounds of the terms' absolute values add up to at
// most 2^100. That bounds every partial sum as well, in whatever order, to less than 2^101, and
// MaxFloat32 is nearly 2^128. Without it the interval of an activation could be [0, 0] where the
// machine has an infinity or no number. Weights that are not finite, layers of more than 2²² inputs
// or units and networks of more than 2²⁶ parameters are refused too: γ_n and this package's margins
// are for no more.
//
// A batch summed in floating point with rounding has no certificate here, on purpose: removing one
// row moves the rounding errors of all the others, in the worst case by 2γ_n·Σ|g|, more than a
// whole row for 48 000 rows in float32. With 3 and 4 the grid costs nothing: rounding is monotone,
// so the rounded ends of an interval hold the rounded factor, no error is left after the sum, and
// [Certificate.Grid] is the grid for exact integer noise.
//
// The package is not for training: it computes no gradient of a row.
package bounds
