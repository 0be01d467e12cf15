package noise

import (
	"math/big"
	"testing"
)

// TestGamma compares with (y − σ²/t)²/2σ² by hand.
func TestGamma(t *testing.T) {
	for _, c := range []struct {
		sigma float64
		y     uint64
		want  *big.Rat
	}{
		{1, 0, ratio(1, 8)},      // t = 2: (0 − ½)²/2
		{1, 3, ratio(25, 8)},     // (3 − ½)²/2
		{2.5, 2, ratio(1, 1800)}, // t = 3: (2 − 25/12)²/12.5
		{.5, 1, ratio(9, 8)},     // t = 1: (1 − ¼)²/½
	} {
		d, _ := NewDiscreteGaussian(c.sigma)
		if got := new(big.Rat).SetFrac(d.gamma(c.y)); got.Cmp(c.want) != 0 {
			t.Errorf("σ %v, y %d: γ = %v, want %v", c.sigma, c.y, got, c.want)
		}
	}
}
