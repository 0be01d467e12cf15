package accountant

import (
	"math"
	"testing"
)

func TestLogPhi(t *testing.T) {
	for _, row := range readOracle(t).Normal.LogPhi {
		if got := logPhi(row.X); math.Abs(got-row.LogPhi) > 4*ulp*(1+math.Abs(row.LogPhi)) &&
			math.Abs(got-row.LogPhi) > 3e-12 {
			t.Errorf("logPhi(%v) = %v, want %v", row.X, got, row.LogPhi)
		}
	}
}
