package release

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/marginal"
)

// maxJointCells bounds the junction tree of a joint model: what a fit takes time for.
const maxJointCells = 1 << 21

// counted is one marginal, at one resolution, as some of the parties measured it.
type counted struct {
	cols   []int
	groups [][]uint16
	of     []*marginal.Measurement // each party's; nil where it has none
}

// byTable gathers the marginals of all parties, those of one party averaged.
func byTable(parties [][]marginal.Measurement) []*counted {
	var out []*counted
	for p, list := range parties {
		for _, m := range merged(list) {
			i := slices.IndexFunc(out, func(c *counted) bool {
				return slices.Equal(c.cols, m.Cols) && slices.EqualFunc(c.groups, m.Groups, slices.Equal)
			})
			if i < 0 {
				i = len(out)
				out = append(out, &counted{m.Cols, m.Groups, make([]*marginal.Measurement, len(parties))})
			}
			out[i].of[p] = &m
		}
	}
	return out
}

// merged averages measurements of one table by inverse variance.
func merged(list []marginal.Measurement) []marginal.Measurement {
	var out []marginal.Measurement
	for _, m := range list {
		if m.Groups == nil {
			m.Groups = make([][]uint16, len(m.Cols))
		}
		i := slices.IndexFunc(out, func(a marginal.Measurement) bool {
			return slices.Equal(a.Cols, m.Cols) && slices.EqualFunc(a.Groups, m.Groups, slices.Equal)
		})
		if i < 0 {
			out = append(out, m)
		} else {
			out[i] = marginal.Average(out[i], m)
		}
	}
	return out
}

// sum is the marginal of the parties that measured it: counts and variances add up.
func (c *counted) sum() marginal.Measurement {
	var out marginal.Measurement
	for _, m := range c.of {
		switch {
		case m == nil:
		case out.Counts == nil:
			out = *m
			out.Counts = slices.Clone(m.Counts)
		default:
			for i, x := range m.Counts {
				out.Counts[i] += x
			}
			out.Sigma = math.Hypot(out.Sigma, m.Sigma)
		}
	}
	return out
}

// complete reports whether every party measured it.
func (c *counted) complete() bool { return !slices.Contains(c.of, nil) }

// byParty cuts the list into each party's own: one list where there are no parties.
func (p *Marginal) byParty() (out [][]marginal.Measurement) {
	if len(p.Parties) == 0 {
		return [][]marginal.Measurement{p.Measured}
	}
	rest := p.Measured
	for _, n := range p.Parties {
		out = append(out, rest[:n])
		rest = rest[n:]
	}
	return out
}

// whole lists the marginals that are of the whole table, each once: of a joint model the sums of
// those that all parties measured.
func (p *Marginal) whole() []marginal.Measurement {
	var out []marginal.Measurement
	for _, c := range byTable(p.byParty()) {
		if c.complete() {
			out = append(out, c.sum())
		}
	}
	return out
}

// pooled is several parties' measurements on the way to those of one table.
type pooled struct {
	sizes []int       // codes of each column
	rows  []float64   // of each party
	n     float64     // of all of them
	share [][]float64 // of the codes of each column
}

// jointTables turns the parties' marginals into measurements of one table with d + 1 columns, of
// which the last, number d, is the party. rows is each party's noisy number of rows, > 0.
//
// Symbols: y_a the counts of party a, σ_a their noise, n_a its rows, n = Σ n_a. What all parties
// measured at one resolution is Σ y_a with variance Σ σ_a². One-way marginals are given besides as
// tables of column × party, so that the model knows in what the parties differ; each has half of
// what they tell, since they are made of the same counts.
//
// A marginal that only the parties A measured, of n_A rows together, is scaled to those that have
// not: (n_b/n_A)·Σ_A y_a for b, and n/n_A in place of n_b/n_A for all together. Besides its noise,
// that has the variance that parties differ by at most: V = π(1 − π)·Σ_A (n_a/n_A)² for the share
// that A has, and π(1 − π) for that of b, where π is the cell's share if its columns were
// independent. Half of what it tells is that of a table of columns × party, and half that of one
// table for all: parties that are alike have one association between them, others each their own
// (docs/decisions/039-joins.md has figures).
//
// Of marginals over several columns, those that noise does not drown come first, and what would
// make the junction tree larger than maxJointCells is left out.
func jointTables(
	sizes []int, parties [][]marginal.Measurement, rows []float64,
) ([]marginal.Measurement, error) {
	all := byTable(parties)
	p := pooled{sizes: sizes, rows: rows, n: floats.Sum(rows)}
	p.shares(all)
	h := len(rows)
	out := []marginal.Measurement{p.partyCounts(parties)}
	var wider []offered
	for _, c := range all {
		m, parts := p.scaled(c)
		signal := p.signal(m)
		if len(c.cols) == 1 && c.groups[0] == nil && c.complete() {
			m = marginal.Smooth(c.sum(), p.n)
			m.Groups = c.groups
		}
		of := func(m marginal.Measurement) {
			if len(c.cols) == 1 {
				out = append(out, m)
			} else {
				wider = append(wider, offered{m, signal})
			}
		}
		if (len(c.cols) > 1) == c.complete() {
			of(m)
			continue
		}
		of(halved(m))
		of(halved(parts))
	}
	return withWider(append(slices.Clone(sizes), h), out, wider, maxJointCells)
}

// offered is a marginal over several columns, by how many rows it differs from independence.
type offered struct {
	marginal.Measurement
	signal float64
}

// withWider adds to marginals of columns of these sizes wider ones, those with the largest signals
// first, as long as the junction tree has no more than most cells. The error is that of a tree that
// is too large without.
func withWider(
	sizes []int, out []marginal.Measurement, wider []offered, most int,
) ([]marginal.Measurement, error) {
	var cliques [][]int
	for _, m := range out {
		cliques = append(cliques, m.Cols)
	}
	if _, err := marginal.TreeCells(sizes, cliques); err != nil {
		return nil, err
	}
	slices.SortStableFunc(wider, func(a, b offered) int { return cmp.Compare(b.signal, a.signal) })
	for _, m := range wider {
		more := append(cliques[:len(cliques):len(cliques)], m.Cols)
		if marginal.TreeFits(sizes, more, float64(most)) {
			out, cliques = append(out, m.Measurement), more
		}
	}
	return out, nil
}

// partyCounts is the one-way marginal of the party: how many rows each has, as all its marginals
// together say.
func (p *pooled) partyCounts(parties [][]marginal.Measurement) marginal.Measurement {
	m := marginal.Measurement{Cols: []int{len(p.sizes)}, Counts: p.rows}
	for _, list := range parties {
		precision := 0.0
		for _, one := range list {
			precision += 1 / (one.Sigma * one.Sigma * float64(len(one.Counts)))
		}
		m.Sigmas = append(m.Sigmas, 1/math.Sqrt(precision))
	}
	return m
}

// halved has half of a measurement's inverse variance.
func halved(m marginal.Measurement) marginal.Measurement {
	m.Sigma *= math.Sqrt2
	m.Sigmas = slices.Clone(m.Sigmas)
	floats.Scale(math.Sqrt2, m.Sigmas)
	return m
}

// shares finds the shares of each column's codes in all rows. Of a column that not all parties
// measured alike nothing is known: they are even.
func (p *pooled) shares(all []*counted) {
	for _, size := range p.sizes {
		p.share = append(p.share, slices.Repeat([]float64{1 / float64(size)}, size))
	}
	for _, c := range all {
		if len(c.cols) == 1 && c.groups[0] == nil && c.complete() {
			p.share[c.cols[0]] = atLeast(1, c.sum().Counts)
		}
	}
}

// atLeast are the shares of counts, each of which is at least so large.
func atLeast(least float64, counts []float64) []float64 {
	out := make([]float64, len(counts))
	for i, x := range counts {
		out[i] = max(x, least)
	}
	floats.Scale(1/floats.Sum(out), out)
	return out
}

// scaled is what a marginal says of the table of all parties, and of that of its columns × party.
func (p *pooled) scaled(c *counted) (whole, parts marginal.Measurement) {
	whole = c.sum()
	h, shares := len(p.rows), p.independent(whole)
	parts = marginal.Measurement{Cols: append(slices.Clone(c.cols), len(p.sizes)),
		Groups: append(slices.Clone(c.groups), nil), Counts: make([]float64, len(shares)*h),
		Sigmas: make([]float64, len(shares)*h)}
	rows, squares, others := 0.0, 0.0, 0.0 // n_A, Σ_A n_a², and that of the others
	for a, one := range c.of {
		if one != nil {
			rows += p.rows[a]
			squares += p.rows[a] * p.rows[a]
		} else {
			others += p.rows[a] * p.rows[a]
		}
	}
	squares /= rows * rows
	sigma := func(factor, spread, share float64) float64 {
		return math.Sqrt(factor*factor*whole.Sigma*whole.Sigma + spread*share*(1-share))
	}
	for i, share := range shares {
		for a, one := range c.of {
			y, s := &parts.Counts[i*h+a], &parts.Sigmas[i*h+a]
			if one != nil {
				*y, *s = one.Counts[i], one.Sigma
			} else {
				factor := p.rows[a] / rows
				*y, *s = factor*whole.Counts[i], sigma(factor, p.rows[a]*p.rows[a]*(1+squares), share)
			}
		}
	}
	if c.complete() {
		return whole, parts
	}
	for i, share := range shares {
		whole.Counts[i] *= p.n / rows
		whole.Sigmas = append(whole.Sigmas,
			sigma(p.n/rows, (p.n-rows)*(p.n-rows)*squares+others, share))
	}
	return whole, parts
}

// independent is the share of each cell if the columns were independent.
func (p *pooled) independent(m marginal.Measurement) []float64 {
	out := []float64{1}
	for i, col := range m.Cols {
		shares := p.share[col]
		if m.Groups != nil && m.Groups[i] != nil {
			g := m.Groups[i]
			of := make([]float64, int(slices.Max(g))+1)
			for code, x := range shares {
				of[g[code]] += x
			}
			shares = of
		}
		next := make([]float64, 0, len(out)*len(shares))
		for _, x := range out {
			for _, y := range shares {
				next = append(next, x*y)
			}
		}
		out = next
	}
	return out
}

// signal is by how many rows a marginal differs from that of independent columns, beyond what its
// noise alone would.
func (p *pooled) signal(m marginal.Measurement) float64 {
	x := 0.0
	for i, share := range p.independent(m) {
		x += math.Abs(m.Counts[i]-p.n*share) - math.Sqrt(2/math.Pi)*m.SigmaOf(i)
	}
	return x
}
