package vote

import (
	"math"
	"slices"
)

// wrongWinner returns the logarithm of a bound on the probability that GNMax with noise N(0,
// sigma²) on every count names another class than the one with the most votes:
//
//	q = ½ Σ_{j≠i*} erfc((n_{i*} − n_j)/(2σ)),   at most 1 − 1/classes
//
// (Papernot et al. 2018, https://arxiv.org/abs/1802.08908, proposition 7). At least two counts,
// sigma > 0.
func wrongWinner(counts []int64, sigma float64) (logQ float64) {
	sorted := slices.Sorted(slices.Values(counts))
	rest, top := sorted[:len(sorted)-1], sorted[len(sorted)-1]
	largest, logs := math.Inf(-1), make([]float64, len(rest)) // as q itself may be too small
	for j, n := range rest {
		x := float64(top-n) / (2 * sigma)
		if logs[j] = math.Log(math.Erfc(x) / 2); x > 25 { // erfc x < e^(−x²)/(x√π)
			logs[j] = -x*x - math.Log(2*x*math.SqrtPi)
		}
		largest = max(largest, logs[j])
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - largest)
	}
	return min(largest+math.Log(sum), math.Log1p(-1/float64(len(counts))))
}

// winnerRDP returns a bound on the Rényi divergence of order alpha > 1 of the winner, and nothing
// else, of one GNMax answer with noise N(0, sigma²) on every count, where the winner is not the
// most probable one with probability at most e^logQ: the smaller of alpha/sigma² and the
// data-dependent bound of Papernot et al. 2018 (https://arxiv.org/abs/1802.08908, theorem 6 at the
// μ of their proposition 10).
func winnerRDP(alpha, sigma, logQ float64) float64 {
	independent := alpha / (sigma * sigma)
	if !(logQ < 0) {
		return independent
	}
	mu2 := sigma * math.Sqrt(-logQ)
	mu1 := mu2 + 1
	if mu2 <= 1 || alpha > mu1 {
		return independent
	}
	eps1, eps2 := mu1/(sigma*sigma), mu2/(sigma*sigma)
	if logQ > (mu2-1)*eps2-mu2*(math.Log(mu1/(mu1-1))+math.Log(mu2/(mu2-1))) || logQ+eps2 >= 0 {
		return independent
	}
	log1mq := math.Log1p(-math.Exp(logQ))
	logA := log1mq - math.Log1p(-math.Exp((logQ+eps2)*(mu2-1)/mu2))
	logB := eps1 - logQ/(mu1-1)
	x, y := log1mq+(alpha-1)*logA, logQ+(alpha-1)*logB
	m := max(x, y)
	return min(independent, max(0, (m+math.Log(math.Exp(x-m)+math.Exp(y-m)))/(alpha-1)))
}
