package marginal

import "math"

// surer is by how much the sum of squares of a rule is less than that of independent columns: a
// likelihood e⁵ times as large.
const surer = 10

// emptyCells says which cells of a table over columns of these sizes are empty by a rule, given
// counts y with normal noise of standard deviations sigma; independent columns expect n·mu. A model
// close to independent columns keeps rows there.
//
// A line holds the k cells that differ in the code of one column. The rule is that all of its rows
// are in its largest cell. It is taken to hold if it explains the counts, with a sum of squares
//
//	Σ ((y − expected)/σ)² ≤ k + √(2k),
//
// the mean and one deviation of that of noise, and far better than independent columns do. Where
// these are right instead, it is found with a probability of at most k·e⁻⁵: the mean of a
// likelihood ratio is 1, and there is one for each cell that may be the largest. It is not looked
// for where independent columns have more than four fifths of the line in the largest cell: the few
// rows of a rare class that noise hides there are what a prediction is made of.
func emptyCells(y, sigma, mu []float64, n float64, sizes []int) []bool {
	empty, apart := make([]bool, len(y)), len(y)
	for _, k := range sizes {
		width := apart
		apart /= k
		for first := range y {
			if first%width >= apart {
				continue // not the first of a line
			}
			total, top, rule, independent := 0.0, first, 0.0, 0.0
			for i := first; i < first+width; i += apart {
				m := n * mu[i]
				a, b := y[i]/sigma[i], (y[i]-m)/sigma[i]
				total, rule, independent = total+m, rule+a*a, independent+b*b
				if y[i] > y[top] {
					top = i
				}
			}
			a, b := y[top]/sigma[top], (y[top]-total)/sigma[top]
			rule += b*b - a*a
			if 5*n*mu[top] <= 4*total && rule <= float64(k)+math.Sqrt(2*float64(k)) &&
				rule+surer < independent {
				for i := first; i < first+width; i += apart {
					empty[i] = i != top
				}
			}
		}
	}
	return empty
}
