package matrix

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// GumbelTo fills dst with independent standard Gumbel numbers −ln(−ln U), U uniform on the odd
// multiples of 2⁻²⁴ in (0, 1).
func GumbelTo(dst []float32, u *rand.Rand) {
	const step = 1. / (1 << 24)
	n := len(dst) &^ 1
	for i := 0; i < n; i += 2 {
		bits := u.Uint64()
		dst[i] = float32(int32(bits>>41)*2+1) * step
		dst[i+1] = float32(int32(bits<<32>>41)*2+1) * step
	}
	if n < len(dst) {
		dst[n] = float32(int32(u.Uint64()>>41)*2+1) * step
	}
	negLogTo(dst, dst)
	negLogTo(dst, dst)
}

// checkBlocks panics unless offsets are those of non-empty blocks that make up the columns.
func checkBlocks(cols int, offsets []int) {
	if len(offsets) == 0 || offsets[0] != 0 || offsets[len(offsets)-1] != cols {
		panic(fmt.Sprintf("matrix: blocks %v of %d columns", offsets, cols))
	}
}

// ordered maps the bits of x so that integers compare as the numbers do: a maximum without
// branches. It is its own inverse.
func ordered(x float32) int32 {
	bits := int32(math.Float32bits(x))
	return bits ^ bits>>31&math.MaxInt32
}

// SoftmaxTo sets every block of every row of dst to the softmax of (x + noise)/temperature, where x
// is in dst. Block b is the columns offsets[b] up to offsets[b+1]; none is empty. noise is as long
// as dst.Data, or nil for none; temperature > 0.
func SoftmaxTo(dst Matrix, noise []float32, offsets []int, temperature float32) {
	checkBlocks(dst.Cols, offsets)
	inverse := 1 / temperature
	if noise != nil {
		same("Softmax", len(dst.Data), len(noise))
		for i, g := range noise {
			dst.Data[i] += g
		}
	}
	for r := range dst.Rows {
		row := dst.Row(r)
		for b := 1; b < len(offsets); b++ {
			block := row[offsets[b-1]:offsets[b]]
			top := int32(math.MinInt32)
			for _, x := range block {
				top = max(top, ordered(x))
			}
			shift := math.Float32frombits(uint32(ordered(math.Float32frombits(uint32(top)))))
			for i, x := range block {
				block[i] = (x - shift) * inverse
			}
		}
	}
	expTo(dst.Data, dst.Data)
	for r := range dst.Rows {
		row := dst.Row(r)
		for b := 1; b < len(offsets); b++ {
			block := row[offsets[b-1]:offsets[b]]
			var sum float32
			for _, x := range block {
				sum += x
			}
			sum = 1 / sum
			for i, x := range block {
				block[i] = x * sum
			}
		}
	}
}

// SoftmaxBackTo turns the gradient with respect to y, the result of [SoftmaxTo], in dst, into that
// with respect to x, in place: y ⊙ (dy − Σ_block y·dy)/temperature.
func SoftmaxBackTo(dst, y Matrix, offsets []int, temperature float32) {
	checkBlocks(dst.Cols, offsets)
	same("SoftmaxBack", len(dst.Data), len(y.Data))
	inverse := 1 / temperature
	for r := range dst.Rows {
		down, row := dst.Row(r), y.Row(r)
		for b := 1; b < len(offsets); b++ {
			d, p := down[offsets[b-1]:offsets[b]], row[offsets[b-1]:offsets[b]]
			var sum float32
			for i, x := range d {
				sum += x * p[i]
			}
			for i, x := range d {
				d[i] = (x - sum) * p[i] * inverse
			}
		}
	}
}
