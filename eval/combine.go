package eval

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Combine joins estimates q of m ≥ 2 synthetic tables, with their variances u within the tables,
// which have synthetic rows each while the private table had rows. With b the variance of the q:
//
//	T = (1 + 1/m)·b − ū,  ν = (m − 1)·(1 − ū/((1 + 1/m)·b))²
//
// and where T is not positive, (synthetic/rows)·ū with ν = ∞ (Raghunathan, Reiter, Rubin, Multiple
// imputation for statistical disclosure limitation, J. Official Statistics 2003, section 4). The
// tables must come from models that differ as the uncertainty says (release.Model.Replicates).
// Lists of different lengths, or shorter than two, panic. NaN in gives NaN out.
func Combine(q, u []float64, synthetic, rows float64) (estimate, variance, freedom float64) {
	if len(q) != len(u) || len(q) < 2 {
		panic("eval: Combine: lists that do not fit")
	}
	m := float64(len(q))
	mean, b := stat.MeanVariance(q, nil)
	within := stat.Mean(u, nil)
	between := (1 + 1/m) * b
	if t := between - within; !(t <= 0) {
		part := 1 - within/between
		return mean, t, (m - 1) * part * part
	}
	return mean, synthetic / rows * within, math.Inf(1)
}
