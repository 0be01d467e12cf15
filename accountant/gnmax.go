package accountant

import "math"

// GNMaxLogQ returns the logarithm of a bound on the probability that GNMax with noise N(0, sigma²)
// on every count names another class than the one with the most votes:
//
//	q = ½ Σ_{j≠i*} erfc((n_{i*} − n_j)/(2σ)),   at most 1 − 1/classes
//
// (Papernot et al. 2018, https://arxiv.org/abs/1802.08908, proposition 7). At least two counts,
// sigma > 0. What it returns depends on the votes and is as private as they are.
func GNMaxLogQ(counts []int64, sigma float64) float64 {
	top := 0
	for j, n := range counts {
		if n > counts[top] {
			top = j
		}
	}
	// erfc(x)/2 = Φ(−√2·x): sum in logarithms, largest first.
	largest, logs := math.Inf(-1), make([]float64, 0, len(counts))
	for j, n := range counts {
		if j != top {
			l := logPhi(-float64(counts[top]-n) / (math.Sqrt2 * sigma))
			logs, largest = append(logs, l), max(largest, l)
		}
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - largest)
	}
	return min(largest+math.Log(sum), math.Log1p(-1/float64(len(counts))))
}

// GNMaxRDP returns a bound on the Rényi divergence of order alpha > 1 of the winner, and nothing
// else, of one GNMax answer with noise N(0, sigma²) on every count, where the winner is not the
// most probable one with probability at most e^logQ: the smaller of alpha/sigma² and the
// data-dependent bound of Papernot et al. 2018 (https://arxiv.org/abs/1802.08908, theorem 6 at the
// μ of their proposition 10). With a logQ from votes it is as private as they are, and no guarantee
// may rest on it.
func GNMaxRDP(alpha, sigma, logQ float64) float64 {
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
