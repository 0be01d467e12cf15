package bounds

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the tie rule, a rounded number stays between the rounded ends of its interval, which
// move out by half a step at most.
func TestRoundedIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Ldexp(1, rapid.IntRange(-26, 0).Draw(t, "f"))
		number := rapid.Custom(func(t *rapid.T) float64 {
			half := float64(rapid.IntRange(-1<<26, 1<<26).Draw(t, "halves")) / 2 * f
			for range rapid.IntRange(0, 3).Draw(t, "ulps") {
				half = math.Nextafter(half, math.Inf(rapid.SampledFrom([]int{-1, 1}).Draw(t,
					"way")))
			}
			return half
		})
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		i := interval{min(a, b), max(a, b)}
		r := i.rounded(f)
		for _, x := range []float64{i.lo, i.hi, (i.lo + i.hi) / 2} {
			for name, tie := range map[string]float64{"up": tieUp(x / f), "down": -tieUp(-x / f),
				"even": math.RoundToEven(x / f), "away": math.Round(x / f)} {
				if y := tie * f; y < r.lo || y > r.hi {
					t.Fatalf("%v rounds ties %s to %v, out of %v", x, name, y, r)
				}
			}
		}
		if half := f / 2 * (1 + 0x1p-20); i.lo-r.lo > half || r.hi-i.hi > half {
			t.Fatalf("%v rounded to %v, wider than it need be", i, r)
		}
	})
}

// tieUp is ⌊x + ½⌋ in exact arithmetic.
func tieUp(x float64) float64 {
	floor := math.Floor(x)
	if new(big.Rat).Sub(new(big.Rat).SetFloat64(x),
		new(big.Rat).SetFloat64(floor)).Cmp(big.NewRat(1, 2)) >= 0 {
		return floor + 1
	}
	return floor
}

func TestTimes(t *testing.T) {
	ends := []float64{-2, -1, 0, .5, 3}
	for _, a := range ends {
		for _, b := range ends {
			for _, c := range ends {
				for _, d := range ends {
					if a > b || c > d {
						continue
					}
					got := interval{a, b}.times(interval{c, d})
					want := interval{min(a*c, a*d, b*c, b*d), max(a*c, a*d, b*c, b*d)}
					if got.lo != want.lo || got.hi != want.hi {
						t.Errorf("[%v, %v]·[%v, %v] = %v, want %v", a, b, c, d, got, want)
					}
				}
			}
		}
	}
}
