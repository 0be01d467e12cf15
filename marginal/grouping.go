package marginal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Grouping merges the rare codes of each column into one group, so that later measurements spend no
// noise on cells that hold next to nothing (the domain compression of MST, McKenna, Miklau, Sheldon
// 2021, section 5). It is made from noisy counts, hence public.
type Grouping struct {
	columns []grouped
}

// grouped is one column. Without groups (nil) each code is its own.
type grouped struct {
	codes int
	// code → group; groups of one code come first, in the order of the codes, the merged group is
	// the last
	group []uint16
	rare  []uint16 // codes of the merged group
	// of the rare codes, 1 to maxWeight each; 0 for a code that Given ruled out, but not for all
	weights []uint32
}

const maxWeight = 1 << 20

// NewGrouping merges, in each column, the codes whose noisy count is below k standard deviations; a
// column with fewer than two such codes stays as it is. oneWay has one one-column measurement a
// column, in any order. Within the merged group rows are spread over the
// codes in proportion to the expected count given the noisy one, under an exponential prior with
// the group's own mean.
//
// k = 2 measures best: on the adult table 0 to 2 % less two-way error than 3 (the choice of MST) or
// 1 or no groups, and spreading by expected counts up to 10 % less than evenly when the threshold
// is high.
func NewGrouping(sizes []int, oneWay []Measurement, k float64) (*Grouping, error) {
	g := &Grouping{columns: make([]grouped, len(sizes))}
	done := make([]bool, len(sizes))
	for _, m := range oneWay {
		if len(m.Cols) != 1 || m.Groups != nil || m.Cols[0] < 0 || m.Cols[0] >= len(sizes) ||
			done[m.Cols[0]] {
			return nil,
				fmt.Errorf("marginal: grouping needs one measurement of each column, got one over %v", m.Cols)
		}
		col := m.Cols[0]
		if err := m.Check(sizes); err != nil {
			return nil, err
		}
		done[col] = true
		g.columns[col] = group(m, k)
	}
	if slices.Contains(done, false) {
		return nil, fmt.Errorf("marginal: grouping needs a measurement of every column")
	}
	return g, nil
}

func group(m Measurement, k float64) grouped {
	c := grouped{codes: len(m.Counts)}
	var rare []uint16
	for code, n := range m.Counts {
		if n < k*m.SigmaOf(code) {
			rare = append(rare, uint16(code))
		}
	}
	if len(rare) < 2 {
		return c
	}
	c.rare, c.weights = rare, spread(m, rare, cutNormalMean)
	c.number()
	return c
}

// number numbers the groups.
func (c *grouped) number() {
	c.group = make([]uint16, c.codes)
	next, k := 0, 0
	for code := range c.group {
		if k < len(c.rare) && int(c.rare[k]) == code {
			c.group[code] = uint16(c.codes - len(c.rare))
			k++
			continue
		}
		c.group[code] = uint16(next)
		next++
	}
}

// Redrawn is the grouping with the rows of each merged group spread over its codes as they may be,
// in place of as expected: by counts that are drawn from their posterior, given the first
// one-column measurement of codes among these. A column without one stays as it is.
func (g *Grouping) Redrawn(measured []Measurement, u *rand.Rand) *Grouping {
	out := &Grouping{columns: slices.Clone(g.columns)}
	for col := range out.columns {
		c := &out.columns[col]
		for _, m := range measured {
			if len(c.rare) > 0 && len(m.Cols) == 1 && m.Cols[0] == col && len(m.Counts) == c.codes {
				c.weights = spread(m, c.rare, func(mu, sigma float64) float64 {
					return cutNormal(mu, sigma, u)
				})
				break
			}
		}
	}
	return out
}

// spread is a count of each rare code, scaled to integers. With a prior of mean τ and a noisy count
// y ~ N(t, σ²), the posterior of t ≥ 0 is a normal N(y − σ²/τ, σ²) cut at 0, of which count says
// the mean, or a draw.
func spread(m Measurement, rare []uint16, count func(mu, sigma float64) float64) []uint32 {
	total, noise := 0.0, 0.0
	for _, code := range rare {
		total += m.Counts[code]
		noise = max(noise, m.SigmaOf(int(code)))
	}
	tau := max(total, noise) / float64(len(rare))
	expected, largest := make([]float64, len(rare)), 0.0
	for i, code := range rare {
		sigma := m.SigmaOf(int(code))
		expected[i] = count(m.Counts[code]-sigma*sigma/tau, sigma)
		largest = max(largest, expected[i])
	}
	weights := make([]uint32, len(rare))
	for i, x := range expected {
		weights[i] = 1
		if largest > 0 {
			weights[i] = max(1, uint32(math.Round(maxWeight*(x/largest))))
		}
	}
	return weights
}

// cutNormalMean is E[t | t ≥ 0] for t ~ N(mu, sigma²). Far below zero the ratio of density to tail
// is replaced by its asymptote, where the mean is σ²/|μ|.
func cutNormalMean(mu, sigma float64) float64 {
	a := mu / sigma
	if a < -25 {
		return sigma / -a
	}
	density := math.Exp(-a*a/2) / math.Sqrt(2*math.Pi)
	tail := math.Erfc(-a/math.Sqrt2) / 2
	return mu + sigma*density/tail
}

// cutNormal draws t ≥ 0 of t ~ N(mu, sigma²) (Robert, Simulation of truncated normal variables,
// Statistics and Computing 5, 1995: where 0 is above the mean, from an exponential law).
func cutNormal(mu, sigma float64, u *rand.Rand) float64 {
	a := math.Min(-mu/sigma, 1e9) // beyond, an exponential law to the last digit
	rate := (a + math.Sqrt(a*a+4)) / 2
	for {
		if a <= 0 {
			if x := mu + sigma*u.NormFloat64(); x >= 0 {
				return x
			}
			continue
		}
		above := u.ExpFloat64() / rate
		if d := a + above - rate; u.Float64() < math.Exp(-d*d/2) {
			return sigma * above
		}
	}
}

// CodeSizes returns the number of codes of each column.
func (g *Grouping) CodeSizes() []int {
	out := make([]int, len(g.columns))
	for i, c := range g.columns {
		out[i] = c.codes
	}
	return out
}

// Sizes returns the number of groups of each column.
func (g *Grouping) Sizes() []int {
	out := make([]int, len(g.columns))
	for i, c := range g.columns {
		out[i] = c.groups()
	}
	return out
}

// merged is how many codes each group of column c stands for; nil if nothing is merged.
func (g *Grouping) merged(c int) []float64 {
	if g == nil || g.columns[c].group == nil {
		return nil
	}
	codes := slices.Repeat([]float64{1}, g.columns[c].groups())
	codes[len(codes)-1] = float64(len(g.columns[c].rare))
	return codes
}

func (c grouped) groups() int {
	if c.group == nil {
		return c.codes
	}
	return c.codes - len(c.rare) + 1
}

// Groups returns the group of each code of a column, or nil if no codes are merged. It must not be
// changed.
func (g *Grouping) Groups(col int) []uint16 { return g.columns[col].group }

// GroupMeasurement returns the measurement over groups: counts add up, and so do the variances of
// their noise. A table that is yet to be measured is better counted over groups, with noise added
// once a group. Groups of codes that the measurement is of become groups of these groups, which
// they must not cut.
func (g *Grouping) GroupMeasurement(m Measurement) Measurement {
	out := Measurement{Cols: slices.Clone(m.Cols), Sigma: m.Sigma}
	merged, at := false, make([]int, len(m.Cols))
	to := make([][]uint16, len(m.Cols)) // the group of each code; nil where the counts are of groups
	for i, col := range m.Cols {
		at[i] = i
		c := g.columns[col]
		if m.Groups == nil || m.Groups[i] == nil {
			to[i] = c.group
			merged = merged || c.group != nil
			continue
		}
		of, coarse := m.Groups[i], make([]uint16, c.groups())
		for code, x := range of {
			if c.group != nil {
				code = int(c.group[code])
			}
			coarse[code] = x
		}
		if int(slices.Max(of))+1 < c.groups() {
			if out.Groups == nil {
				out.Groups = make([][]uint16, len(m.Cols))
			}
			out.Groups[i] = coarse
		}
	}
	if !merged {
		out.Counts, out.Sigmas = slices.Clone(m.Counts), slices.Clone(m.Sigmas)
		return out
	}
	cells, n := resolution{at, to}.cells(m.Shape(g.CodeSizes()))
	out.Counts, out.Sigmas = make([]float64, n), make([]float64, n)
	for i, cell := range cells {
		out.Counts[cell] += m.Counts[i]
		out.Sigmas[cell] += m.SigmaOf(i) * m.SigmaOf(i)
	}
	for i, v := range out.Sigmas {
		out.Sigmas[i] = math.Sqrt(v)
	}
	return out
}

// Columns is the grouping of the columns from up to to.
func (g *Grouping) Columns(from, to int) *Grouping { return &Grouping{columns: g.columns[from:to]} }

// Expand replaces, in place, the groups of sampled columns (column-major) by codes. It uses
// integers only, so a seed gives the same codes on every platform.
func (g *Grouping) Expand(samples [][]uint16, u *rand.Rand) {
	for i, c := range g.columns {
		if c.group == nil {
			continue
		}
		code := make([]uint16, c.groups())
		for k, of := range c.group {
			code[of] = uint16(k)
		}
		sums := make([]uint64, len(c.rare)) // running sums of the weights
		total := uint64(0)
		for k, w := range c.weights {
			total += uint64(w)
			sums[k] = total
		}
		merged := uint16(c.groups() - 1)
		for r, of := range samples[i] {
			if of != merged {
				samples[i][r] = code[of]
				continue
			}
			// the first sum above the draw; a code of weight 0 never has it
			k, _ := slices.BinarySearch(sums, below(u, total)+1)
			samples[i][r] = c.rare[k]
		}
	}
}
