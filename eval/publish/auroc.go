package publish

import "math"

// auroc is the area under the ROC curve of the binned scores, from a noisy histogram: cell 2·i is
// the negative rows of bin i, 2·i + 1 the positive ones, bins in the order of the score, each cell
// with independent noise of standard deviation sigma. With p_i, n_i the counts, P, N their sums and
// C_i = Σ_{j<i} n_j + n_i/2,
//
//	A = Σ p_i·C_i / (P·N).
//
// The standard error joins the noise, by ∂A/∂p_i = (C_i − A·N)/(P·N) and likewise for n_i, with
// that of the rows drawn (Hanley & McNeil 1982, equation 1). A bin counts ties as half, so that A
// is a little nearer to ½ than the area of the scores themselves. It is left out where either class
// is not clear of the noise.
func auroc(counts []int64, sigma float64) Estimate {
	out := Estimate{Name: "AUROC", Of: "model trained on synthetic rows", Meaning: meaning("AUROC")}
	bins := len(counts) / 2
	var positive, negative float64
	for i := range bins {
		negative += float64(counts[2*i])
		positive += float64(counts[2*i+1])
	}
	if clear := 3 * sigma * math.Sqrt(float64(bins)); positive < clear || negative < clear {
		out.LeftOut = "too few rows of one class for this budget"
		return out
	}
	area, below := 0., 0.
	for i := range bins {
		n, p := float64(counts[2*i]), float64(counts[2*i+1])
		area += p * (below + n/2)
		below += n
	}
	area /= positive * negative
	gradient, above := 0., positive // Σ of squares; the positive rows from bin i on
	below = 0
	for i := range bins {
		n, p := float64(counts[2*i]), float64(counts[2*i+1])
		byPositive := (below + n/2 - area*negative) / (positive * negative)
		byNegative := (above - p/2 - area*positive) / (positive * negative)
		gradient += byPositive*byPositive + byNegative*byNegative
		below += n
		above -= p
	}
	a := min(1, max(0, area))
	q1, q2 := a/(2-a), 2*a*a/(1+a)
	drawn := (a*(1-a) + (positive-1)*(q1-a*a) + (negative-1)*(q2-a*a)) / (positive * negative)
	out.Value, out.StdErr = a, math.Sqrt(sigma*sigma*gradient+max(0, drawn))
	return out
}
