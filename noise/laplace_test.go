package noise

import (
	"math"
	"math/big"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestQuotient compares with big integers, for geometric parts v that no run will see too.
func TestQuotient(t *testing.T) {
	b := testSource(t).state()
	for _, scale := range []float64{MinScale, .3, 1, 4.7, 0x1p24, math.Nextafter(MaxScale, 0),
		MaxScale} {
		d := stattest.Must(NewDiscreteLaplace(scale))
		if !inside(rat(d.t, -int(d.shift)), scale, scale) {
			t.Errorf("scale %v became %d/2^%d", scale, d.t, d.shift)
		}
		for _, v := range []uint64{0, 1, 2, 40, 1<<11 - 1, 1 << 11, 1<<11 + 1, 1 << 15, 1 << 16, 1 << 40,
			1 << 63} {
			for _, u := range []uint64{0, 1, d.t / 2, d.t - 1, b.uniform(d.t)} {
				want := new(big.Int).Mul(new(big.Int).SetUint64(v), new(big.Int).SetUint64(d.t))
				want.Add(want, new(big.Int).SetUint64(u)).Rsh(want, d.shift)
				low := int64(new(big.Int).And(want, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
				if y, zero := d.quotient(u, v); y != low || zero != (want.Sign() == 0) {
					t.Errorf("scale %v, u %d, v %d: %d, %v, want %d, %v", scale, u, v, y, zero, low,
						want.Sign() == 0)
				}
			}
		}
	}
}

// TestDiscreteLaplaceWithUnitShift: the proposal of the discrete Gaussian, an integer scale with
// shift 0.
func TestDiscreteLaplaceWithUnitShift(t *testing.T) {
	src := testSource(t)
	for _, scale := range []uint64{1, 2, 5} {
		d, draws := DiscreteLaplace{t: scale}, make([]int64, 200_000)
		d.AddTo(draws, src)
		s := float64(scale)
		if s, th, ok := fits(draws, int64(10*s), laplacePMF(s)); !ok {
			t.Errorf("scale %d: %v > %v", scale, s, th)
		}
		if _, _, ok := fits(draws, int64(10*s), laplacePMF(1.3*s)); ok {
			t.Errorf("scale %d passes for 1.3 times it", scale)
		}
	}
}
