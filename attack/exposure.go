package attack

import (
	"fmt"
	"math"
)

// Exposure is how far a model has memorised a canary, in bits: log₂|R| − log₂ rank, where R are the
// equally likely texts or rows that the canary was drawn from and rank is its place among them by
// the model's log-probability, the most probable first, ties counted against it (Carlini et al.
// 2019, arXiv 1802.08232, definition 2). canary is its log-probability, others are those of the
// rest of R. It is 0 for the least probable and log₂|R| for the most; of a model that has not seen
// the canary the mean is below 1.45, and (ε, 0)-DP keeps it below that + ε/ln 2. It returns an
// error for NaN.
func Exposure(canary float64, others []float64) (float64, error) {
	rank := 1
	for _, x := range others {
		if math.IsNaN(x) {
			return 0, fmt.Errorf("attack: exposure: a log-probability is NaN")
		}
		if x >= canary {
			rank++
		}
	}
	if math.IsNaN(canary) {
		return 0, fmt.Errorf("attack: exposure: the canary's log-probability is NaN")
	}
	return math.Log2(float64(len(others)+1)) - math.Log2(float64(rank)), nil
}
