package release

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/model/marginal"
)

// bootstrapStream is the stream of the public generator that redraws measurements.
const bootstrapStream = 0x7265666974 // "refit"

// mostDrawn is the most cells that a replicate draws: 4 GB.
const mostDrawn = 1 << 31

// Replicates calls do with models that the same run might have made of other people, drawn from
// this model: for each, as many rows as the model has are drawn, its marginals counted, noise of
// the same σ added, and a model fitted (parametric bootstrap: Ferrando, Wang, Sheldon, Parametric
// bootstrap for differentially private confidence intervals, AISTATS 2022, arXiv 2006.07749). It is
// post-processing: the noise is public, and a seed reproduces it. What the method chose (pairs,
// groups of codes) stays as it was, but how the rows of merged codes are spread over them, of which
// the noise hides all else, is drawn from its posterior; constraints that were given to aim as a
// setting are not kept, those of the schema are.
//
// Errors: a model that keeps no noisy marginals (ErrNotExact); what do returns; ctx's.
func (m *Model) Replicates(
	ctx context.Context, times int, seed uint64, do func(i int, replicate *Model) error,
) error {
	parts := m.graphs()
	if len(parts) == 0 || slices.ContainsFunc(parts, func(one *Model) bool {
		return len(one.params.(*Marginal).whole()) == 0
	}) {
		return fmt.Errorf("method %s keeps no noisy marginals to draw again; models of mst "+
			"and aim do: %w", m.Method, ErrNotExact)
	}
	if cells := m.Rows * float64(len(m.params.Sizes())); cells > mostDrawn {
		return fmt.Errorf("a replicate draws as many rows as the model has, and %.4g cells are "+
			"more than %.4g", cells, float64(mostDrawn))
	}
	u := rand.New(rand.NewPCG(seed, bootstrapStream))
	for i := range times {
		var all joint
		for _, one := range parts {
			n := max(1, int(math.Round(one.Rows)))
			again, err := one.params.(*Marginal).replicate(ctx, one.Method, n, u)
			if err != nil {
				return err
			}
			all = append(all, part{Params: again})
		}
		out := &Model{Manifest: m.Manifest, schema: m.schema, params: all}
		if len(all) == 1 {
			out.params = all[0].Params
		}
		out.Rows = out.params.Total()
		if err := do(i, out); err != nil {
			return err
		}
	}
	return nil
}

// replicate draws n rows, measures them and fits.
func (p *Marginal) replicate(
	ctx context.Context, method string, n int, u *rand.Rand,
) (*Marginal, error) {
	drawn := p.people(n, u)
	out := &Marginal{Grouping: p.Grouping.Redrawn(p.Measured, u), independent: true}
	for _, m := range p.whole() {
		out.Measured = append(out.Measured, measureAgain(m, p.Sizes(), drawn, u))
	}
	return out, out.fit(ctx, method)
}

// people draws n rows independently of each other, which Sample does not do: it keeps the numbers
// of rows as close to the model's as it can. Rows that are drawn of such a sample, with
// replacement, are a random sample.
func (p *Marginal) people(n int, u *rand.Rand) [][]uint16 {
	even := p.unsteered(n, u)
	out := make([][]uint16, len(even))
	for c := range out {
		out[c] = make([]uint16, n)
	}
	for r := range n {
		from := u.IntN(n)
		for c := range out {
			out[c][r] = even[c][from]
		}
	}
	return out
}

// methodSmooth is the method that smooths columns before it fits.
const methodSmooth = "aim"

// fit fits a model to the measurements as its method does.
func (p *Marginal) fit(ctx context.Context, method string) (err error) {
	var ms []marginal.Measurement
	all := p.whole()
	for _, m := range all {
		if method == methodSmooth && len(m.Cols) == 1 && m.Groups[0] == nil {
			m.Groups = nil
			m = marginal.Smooth(m, marginal.Total(all))
		}
		ms = append(ms, p.Grouping.GroupMeasurement(m))
	}
	p.Model, err = marginal.Fit(ctx, p.Grouping.Sizes(), ms, marginal.Options{Grouping: p.Grouping})
	return err
}

// measureAgain counts rows, column-major, as m does, and adds noise of the same σ, rounded.
func measureAgain(
	m marginal.Measurement, sizes []int, rows [][]uint16, u *rand.Rand,
) marginal.Measurement {
	out := m
	out.Counts = make([]float64, len(m.Counts))
	shape := m.Shape(sizes)
	for r := range len(rows[0]) {
		cell := 0
		for i, c := range m.Cols {
			x := rows[c][r]
			if m.Groups != nil && m.Groups[i] != nil {
				x = m.Groups[i][x]
			}
			cell = cell*shape[i] + int(x)
		}
		out.Counts[cell]++
	}
	for i := range out.Counts {
		out.Counts[i] += math.Round(m.Sigma * u.NormFloat64())
	}
	return out
}

// whole lists the noisy marginals of the whole table, each once: averaged by inverse variance.
func (p *Marginal) whole() (out []marginal.Measurement) {
	for _, m := range p.Measured {
		if m.Groups == nil {
			m.Groups = make([][]uint16, len(m.Cols))
		}
		i := slices.IndexFunc(out, func(a marginal.Measurement) bool {
			return slices.Equal(a.Cols, m.Cols) && slices.EqualFunc(a.Groups, m.Groups, slices.Equal)
		})
		if i < 0 {
			out = append(out, m)
		} else {
			out[i] = marginal.Refine(out[i], marginal.Measurement{Counts: m.Counts, Sigma: m.Sigma})
		}
	}
	return out
}
