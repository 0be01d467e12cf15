package noise

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func ExampleNewRoundedGaussian() {
	for _, sigma := range []float64{100, 0} {
		_, err := NewRoundedGaussian(sigma)
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// parameter out of range: sigma 0 is not in [2^-10, 2^48]
}

func ExampleSelect() {
	best, err := Select(NewSource(), []int64{3, 1_000_000, 5}, 1)
	fmt.Println(best, err)
	// Output: 1 <nil>
}

func ExampleSource() {
	fmt.Println(NewSource())
	// Output: noise.Source(secret)
}

func TestScaleLimits(t *testing.T) {
	for _, law := range laws {
		for _, c := range []struct {
			scale float64
			ok    bool
		}{
			{MinScale, true}, {MaxScale, true}, {1e-3, true}, {1, true}, {0x1p40, true},
			{math.Nextafter(MinScale, 0), false}, {math.Nextafter(MaxScale, math.Inf(1)), false},
			{0, false}, {math.Copysign(0, -1), false}, {-1, false}, {math.NaN(), false}, {math.Inf(1),
				false}, {math.Inf(-1), false}, {5e-324, false},
		} {
			d, err := law.make(c.scale)
			if (err == nil) != c.ok || (err != nil && !errors.Is(err, ErrParameter)) {
				t.Errorf("%s %v: error %v", law.name, c.scale, err)
			}
			if err == nil {
				d.Sample(testSource(t))
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for _, x := range []float64{1, 3, .1, MinScale, MaxScale, math.Pi, 5e-324, math.MaxFloat64} {
		m, e := split(x)
		if m < 1<<52 || m >= 1<<53 || !inside(rat(m, e), x, x) {
			t.Errorf("split(%v) = %d·2^%d", x, m, e)
		}
	}
}

// TestMaxScaleFits: at the largest scale draws stay far inside int64. Null for the share beyond
// 2^49: that of the law.
func TestMaxScaleFits(t *testing.T) {
	for _, law := range laws {
		src, d := testSource(t), must(t)(law.make(MaxScale))
		beyond := 2 * law.cdf(1)(-2)
		t.Run(law.name, func(t *testing.T) {
			checkRate(t, 200_000, beyond, func() bool {
				x := d.Sample(src)
				if x > 1<<54 || x < -1<<54 {
					t.Errorf("drew %d", x)
				}
				return x > 1<<49 || x < -1<<49
			})
		})
	}
}

func TestErrorsHavePrefix(t *testing.T) {
	_, scale := NewDiscreteLaplace(0)
	_, none := Select(NewSource(), nil, 1)
	_, lambda := Select(NewSource(), []int64{7654321}, -1)
	for _, err := range []error{scale, none, lambda} {
		if !errors.Is(err, ErrParameter) ||
			strings.Contains(err.Error(), "7654321") {
			t.Errorf("error %q", err)
		}
	}
}
