package pategan

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/privacy"
)

// measureColumns buys the one-way marginals.
func (t *training) measureColumns() error {
	for i := range t.encoder.Sizes() {
		counts, err := t.from.oneWay(i)
		if err != nil {
			return err
		}
		t.oneWays = append(t.oneWays, counts)
	}
	return nil
}

// buy measures the pairs with the target and the pairs that these explain worst, and starts the
// generator at the columns.
func (t *training) buy() error {
	p := t.p
	// of the codes of each column, not negative, sum 1
	fractions := make([][]float64, len(p.schema.Columns))
	for i, counts := range t.oneWays {
		t.match.add(newMeasured([]int{i}, nil, []int{len(counts)}, counts, p.oneWay,
			t.rows, t.rowsError))
		fractions[i] = distribution(counts)
	}
	// of column, target code, group of the column: joint fraction
	given := make([][][]float64, len(p.schema.Columns))
	groups := make([][]uint16, len(p.schema.Columns))
	for _, e := range p.targetPairs {
		m, sizes := t.grouped(e, p.targetPair)
		counts, err := t.from.pair(m, true)
		if err != nil {
			return err
		}
		t.match.add(newMeasured(m.Cols, m.Groups, sizes, counts, p.targetPair, t.rows, t.rowsError))
		side := 0 // of the other column
		if e[0] == p.target {
			side = 1
		}
		given[e[side]], groups[e[side]] = split(counts, sizes, side), m.Groups[side]
	}
	t.begin(fractions, given, groups)
	return t.choose(fractions, given, groups)
}

// keepWeights is what is left of the random weights of the generator's last layer at its start.
const keepWeights = .5

// mostSteps is how many codes of the target the generator starts conditional on: each but the first
// takes two of its hidden units.
const mostSteps = 32

// begin starts the generator at the measured columns, independent given the target.
func (t *training) begin(fractions [][]float64, given [][][]float64, groups [][]uint16) {
	prior := fractions[t.p.target]
	if len(t.p.targetPairs) == 0 || len(prior) > mostSteps {
		t.generator.SetMarginals(slices.Concat(fractions...), keepWeights)
		return
	}
	cells := make([][]float64, len(prior))
	for col := range fractions {
		joint := t.joint(col, fractions, given, groups)
		for y, p := range joint {
			sum := 0.0
			for code := range p {
				if col == t.p.target && code != y {
					p[code] = 0
				}
				sum += p[code]
			}
			for code := range p {
				if sum > 0 {
					p[code] /= sum
				} else {
					p[code] = fractions[col][code]
				}
			}
			cells[y] = append(cells[y], p...)
		}
	}
	t.generator.SetConditionals(prior, cells, keepWeights)
}

// choose buys the pairs whose counts differ most from what the pairs with the target predict, if
// columns were independent given it.
func (t *training) choose(fractions [][]float64, given [][][]float64, groups [][]uint16) error {
	p := t.p
	var candidates []privacy.Candidate
	var sizes [][]int
	for _, e := range p.others {
		m, size := t.grouped(e, p.pair)
		estimate := make([]float64, size[0]*size[1])
		a, b := t.joint(e[0], fractions, given, groups), t.joint(e[1], fractions, given, groups)
		for k := range a {
			share := 0.0
			for _, x := range a[k] {
				share += x
			}
			if share <= 0 {
				continue
			}
			left, right := gather(a[k], m.Groups[0], size[0]), gather(b[k], m.Groups[1], size[1])
			for i, x := range left {
				for j, y := range right {
					estimate[i*size[1]+j] += t.rows * x * y / share
				}
			}
		}
		candidates = append(candidates, privacy.Candidate{Query: m, Estimate: estimate,
			Penalty: min(math.Sqrt(2/math.Pi)*p.pair*float64(len(estimate)), 1<<27)})
		sizes = append(sizes, size)
	}
	others := append([][2]int(nil), p.others...)
	for range p.pairs {
		best, err := t.from.choose(candidates)
		if err != nil {
			return err
		}
		c := candidates[best].Query.(privacy.Marginal)
		counts, err := t.from.pair(c, false)
		if err != nil {
			return err
		}
		t.match.add(newMeasured(c.Cols, c.Groups, sizes[best], counts, p.pair, t.rows, t.rowsError))
		t.chosen = append(t.chosen, others[best])
		candidates = append(candidates[:best:best], candidates[best+1:]...)
		sizes = append(sizes[:best:best], sizes[best+1:]...)
		others = append(others[:best:best], others[best+1:]...)
	}
	return nil
}

// grouped is a pair with codes merged for noise of the given σ; the target keeps its codes.
func (t *training) grouped(e [2]int, sigma float64) (m privacy.Marginal, sizes []int) {
	m = privacy.Marginal{Cols: []int{e[0], e[1]}}
	for _, col := range e {
		threshold := t.p.cfg.GroupSigmas * sigma
		noisy := t.oneWays[col]
		if col == t.p.target {
			threshold = 0
		}
		of, n := groupsOf(t.p.schema.Columns[col], noisy, threshold)
		m.Groups, sizes = append(m.Groups, of), append(sizes, n)
	}
	return m, sizes
}

// split turns the counts of a pair into fractions by the code of the other side: [other][this
// side].
func split(counts []int64, sizes []int, side int) [][]float64 {
	f := distribution(counts)
	out := make([][]float64, sizes[1-side])
	for k := range out {
		out[k] = make([]float64, sizes[side])
		for g := range out[k] {
			if side == 0 {
				out[k][g] = f[g*sizes[1]+k]
			} else {
				out[k][g] = f[k*sizes[1]+g]
			}
		}
	}
	return out
}

// joint is the fraction of rows with each target code and code of a column: that of the code,
// shared out as the pair with the target says of its group; and simply that of the code where that
// pair was not measured.
func (t *training) joint(
	col int, fractions [][]float64, given [][][]float64, groups [][]uint16,
) [][]float64 {
	of := given[col]
	target := fractions[t.p.target]
	out := make([][]float64, len(target))
	for k := range out {
		out[k] = make([]float64, len(fractions[col]))
		for code, f := range fractions[col] {
			if of == nil {
				out[k][code] = f * target[k]
				continue
			}
			sum := 0.0
			for _, row := range of {
				sum += row[groups[col][code]]
			}
			if sum > 0 {
				out[k][code] = f * of[k][groups[col][code]] / sum
			}
		}
	}
	return out
}

// gather adds up fractions by group.
func gather(x []float64, of []uint16, groups int) []float64 {
	out := make([]float64, groups)
	for code, v := range x {
		out[of[code]] += v
	}
	return out
}

// distribution is the counts as fractions: negative ones 0, the sum 1.
func distribution(counts []int64) []float64 {
	out, sum := make([]float64, len(counts)), 0.0
	for i, c := range counts {
		out[i] = max(float64(c), 0)
		sum += out[i]
	}
	for i := range out {
		if sum > 0 {
			out[i] /= sum
		} else {
			out[i] = 1 / float64(len(out))
		}
	}
	return out
}
