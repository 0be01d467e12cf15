package pld

import (
	"math"
	"testing"
)

func TestNormalMass(t *testing.T) {
	for _, row := range readOracle(t).Normal.Masses {
		if row.Mass < 1e-40 { // the oracle's difference is not exact there
			continue
		}
		i := between(row.A, row.B)
		if got := normalMass(i); !near(got, row.Mass, massError) {
			t.Errorf("normalMass[%v, %v] = %v, want %v", row.A, row.B, got, row.Mass)
		}
		mirror := interval{-row.B, -row.A, i.width}
		if got := normalMass(mirror); !near(got, row.Mass, massError) {
			t.Errorf("normalMass[%v, %v] = %v, want %v", mirror.a, mirror.b, got, row.Mass)
		}
	}
	inf := math.Inf(1)
	for _, row := range []struct {
		name string
		i    interval
		want float64
	}{
		{"the line", between(-inf, inf), 1},
		{"left half", between(-inf, 0), 0.5},
		{"right half", between(0, inf), 0.5},
		{"shifted", between(-inf, 3).shifted(-3), 0.5},
		{"empty", between(2, 2), 0},
	} {
		if got := normalMass(row.i); got != row.want {
			t.Errorf("%s: %v, want %v", row.name, got, row.want)
		}
	}
}
