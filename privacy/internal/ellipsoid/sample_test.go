package ellipsoid

import (
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// TestPoissonSample. Null: each unit is in the sample with probability q, all its rows or none; 400
// samples of 500 units.
func TestPoissonSample(t *testing.T) {
	units := make([]uint32, 1000)
	for i := range units {
		units[i] = uint32(i * 7 % 500)
	}
	withUnits := gatetest.Table(t, gatetest.Schema("u", 2), gatetest.SomeRows(1000), units)
	single := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(500), nil)
	for name, tab := range map[string]*table.Table{"rows": single, "units of two rows": withUnits} {
		src := noise.NewSource()
		for _, q := range []float64{.01, .3, .9} {
			var included int64
			for range 400 {
				rows, n := sample(tab, src, q)
				if n != len(rows) {
					t.Fatalf("%s: %d rows, said %d", name, len(rows), n)
				}
				if tab.Units() == nil {
					included += int64(n)
					continue
				}
				in := map[uint32]int{}
				for _, r := range rows {
					in[tab.Units()[r]]++
				}
				for u, k := range in {
					if k != 2 {
						t.Fatalf("%s: unit %d has %d of its 2 rows in the sample", name, u, k)
					}
				}
				included += int64(len(in))
			}
			if _, _, ok := stattest.Binomial(included, 400*500, q); !ok {
				t.Errorf("%s: %d of %d units at rate %v", name, included, 400*500, q)
			}
			if _, _, ok := stattest.Binomial(included, 400*500, 1.3*q/(1+.3*q)); ok {
				t.Errorf("%s: another rate is accepted at %v", name, q)
			}
		}
		if rows, n := sample(tab, src, 1); rows != nil || n != tab.Rows() {
			t.Errorf("%s: at rate 1 %d rows of %d, list %v", name, n, tab.Rows(), rows != nil)
		}
	}
}
