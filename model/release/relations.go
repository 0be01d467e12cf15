package release

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Relations is what the noisy marginals of a model show of relations between its columns.
type Relations struct {
	Of string // the child table, each of whose rows is there with its parent; "": of one table
	// columns that were measured with no other one; those that were, but of which no pair has counts
	// that differ from those of independent columns by more than noise does; the others
	Alone, Lost, Kept []string
	Pairs             int     // that were measured
	Noise             float64 // share of the rows that it moves in the median table of several columns
}

// Relations follow from what was released, of linked tables those of the rows of each child table.
// A model without marginals has none.
func (m *Model) Relations() []Relations {
	switch p := m.params.(type) {
	case *Marginal:
		return []Relations{p.relations(m.Schema().Names(), m.Rows)}
	case *Linked:
		var out []Relations
		for i, v := range p.views {
			if v.All > 0 {
				r := p.Views[i].relations(v.Schema.Names(), p.Views[i].Total())
				r.Of = p.Schema.Tables[v.All].Name
				out = append(out, r)
			}
		}
		return out
	}
	return []Relations{{}}
}

// relations are those of the columns with these names, in a model of so many rows.
func (p *Marginal) relations(names []string, rows float64) (out Relations) {
	if len(names) < 2 {
		return out
	}
	sizes, moved, pairs := p.Sizes(), []float64{0}, map[[2]int]bool{}
	measured, seen := make([]bool, len(sizes)), make([]bool, len(sizes))
	for _, one := range p.Measured {
		if len(one.Cols) < 2 {
			continue
		}
		shape := one.Shape(sizes)
		for i, a := range one.Cols {
			for j, b := range one.Cols[:i] {
				pairs[[2]int{min(a, b), max(a, b)}] = true
				measured[a], measured[b] = true, true
				if standsOut(one.Counts, one.Noise(), shape, j, i) {
					seen[a], seen[b] = true, true
				}
			}
		}
		// half the L1 error of its cells, at σ·√(2/π) each
		cells := math.Sqrt(float64(len(one.Counts)))
		moved = append(moved, one.Noise()*cells/math.Sqrt(2*math.Pi)/max(rows, 1))
	}
	for i, name := range names {
		switch {
		case seen[i]:
			out.Kept = append(out.Kept, name)
		case measured[i]:
			out.Lost = append(out.Lost, name)
		default:
			out.Alone = append(out.Alone, name)
		}
	}
	slices.Sort(moved)
	out.Pairs, out.Noise = len(pairs), moved[len(moved)/2]
	return out
}

// standOut is how far the squares must be above noise, in standard deviations: of a thousand
// independent pairs less than one passes.
const standOut = 4

// standsOut tests whether two columns of a table of noisy counts are independent. What the product
// of their margins, in shares p and q, does not explain is the noise N as (I − p1ᵀ)·N·(I − 1qᵀ).
// The sum of its squares is one of chi-squares, each times σ² and a product of eigenvalues, which
// for k shares are k − 2 ones and k·Σp²: about one chi-square (Satterthwaite 1946), whose cube root
// is nearly normal (Wilson & Hilferty 1931). noise is that of the sum of all counts.
func standsOut(counts []float64, noise float64, shape []int, a, b int) bool {
	rows, columns := shape[a], shape[b]
	strideA, strideB := inner(shape, a), inner(shape, b)
	pair := make([]float64, rows*columns)
	first, second := make([]float64, rows), make([]float64, columns)
	total := 0.0
	for i, x := range counts {
		k, l := i/strideA%rows, i/strideB%columns
		pair[k*columns+l] += x
		first[k] += x
		second[l] += x
		total += x
	}
	if total < 3*noise || rows < 2 || columns < 2 { // its rows are noise, or a column says nothing
		return false
	}
	mean, spread := 1.0, 1.0
	for _, margin := range [][]float64{first, second} {
		k, norm := float64(len(margin)), floats.Norm(margin, 2)/total
		mean *= k - 2 + k*norm*norm
		spread *= k - 2 + math.Pow(k*norm*norm, 2)
	}
	squares := 0.0
	for i, x := range pair {
		off := x - first[i/columns]*second[i%columns]/total
		squares += off * off
	}
	squares *= float64(len(pair)) / (noise * noise)
	width := 2 * spread / (9 * mean * mean)
	return math.Cbrt(squares/mean) > 1-width+standOut*math.Sqrt(width)
}

// inner is how many cells of a table of this shape have the same codes up to that dimension.
func inner(shape []int, at int) int {
	n := 1
	for _, k := range shape[at+1:] {
		n *= k
	}
	return n
}
