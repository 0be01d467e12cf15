package release

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/workload"
)

// Answered is a number of rows that a model gives to a query, or to one cell of its table.
type Answered struct {
	Query         string   `json:"query"`
	Cell          string   `json:"cell,omitempty"`
	Answer        float64  `json:"answer"`
	StandardError *float64 `json:"standard_error"` // nil: unknown
	// what the standard error is of: "noise" of the measurements, "sampling", "none", or
	// by [Model.Intervals] "population"
	Covers   string      `json:"covers"`
	Interval *[2]float64 `json:"interval_95,omitempty"` // of [Model.Intervals]
	// the schema allows no such row, whatever the table holds; said by 'decoy queries answer'
	Impossible bool `json:"impossible,omitempty"`
}

// graphs are the graphical models whose sum a model is: itself, or those of its parties. There are
// none if one of these is of another kind.
func (m *Model) graphs() []*Model {
	all := []*Model{m}
	if _, ok := m.params.(joint); ok {
		all = m.parts()
	}
	for _, one := range all {
		if _, ok := one.params.(*Marginal); !ok {
			return nil
		}
	}
	return all
}

// Exact reports whether a model can be asked without sampling.
func (m *Model) Exact() bool { return len(m.graphs()) > 0 }

// Answers asks a graphical model exactly. It is post-processing and costs nothing. The standard
// error is that of the measurements in the model file together.
// Errors: a model of another kind ([ErrNotExact]), an item with too many cells
// ([workload.ErrTooLarge]).
func (m *Model) Answers(w *workload.Workload) ([]Answered, error) {
	if !m.Exact() {
		return nil, fmt.Errorf("%s: %w", m.Parameters.Kind, ErrNotExact)
	}
	rows, err := m.rowCodec()
	if err != nil {
		return nil, err
	}
	var sum workload.Answers
	noise := make([]float64, len(w.Items())) // of the sum
	for _, one := range m.graphs() {
		p := one.params.(*Marginal)
		answers, err := w.Drawn(rows.Codecs()).OnModel(p.Model, p.Grouping)
		if err != nil {
			return nil, err
		}
		sum = plus(sum, answers)
		for i, e := range noiseErrors(one, w) {
			noise[i] = math.Hypot(noise[i], e)
		}
	}
	return answered(w, sum, "noise", func(i, k int) float64 {
		return shrunk(sum[i][k], noise[i])
	}), nil
}

// plus is the sum of two answers, of which the first may be nil.
func plus(sum, more workload.Answers) workload.Answers {
	if sum == nil {
		return more
	}
	for i := range more {
		floats.Add(sum[i], more[i])
	}
	return sum
}

// SampledAnswers answers on n rows that are drawn from the model with a public seed, scaled to its
// noisy number of rows. The standard error is that of the sampling.
func (m *Model) SampledAnswers(
	ctx context.Context, w *workload.Workload, n int, seed uint64, progress func(fraction float64),
) ([]Answered, error) {
	var sum workload.Answers
	drawn := 0
	codec, err := m.rowCodec()
	if err != nil {
		return nil, err
	}
	w = w.Drawn(codec.Codecs())
	err = m.Sample(ctx, n, seed, func(rows *table.Table) error {
		part, err := w.OnTable(rows)
		sum = plus(sum, part)
		drawn += rows.Rows()
		progress(float64(drawn) / float64(n))
		return err
	})
	if err != nil {
		return nil, err
	}
	scaled := make(workload.Answers, len(sum))
	for i := range sum {
		for _, x := range sum[i] {
			scaled[i] = append(scaled[i], x/float64(n)*m.Rows)
		}
	}
	return answered(w, scaled, "sampling", func(i, k int) float64 {
		// Agresti & Coull 1998: a cell that no row was drawn in has an error too
		share := (sum[i][k] + 2) / float64(n+4)
		return m.Rows * math.Sqrt(share*(1-share)/float64(n+4))
	}), nil
}

// answered puts names to numbers, and their standard errors of what is covered; +Inf: unknown.
func answered(
	w *workload.Workload, answers workload.Answers, covers string, errs func(i, k int) float64,
) (out []Answered) {
	for i, a := range answers {
		for k, x := range a {
			one := Answered{Query: w.Items()[i].Name, Cell: w.Label(i, k), Answer: hundredths(x),
				Covers: "none"}
			if e := hundredths(errs(i, k)); !math.IsInf(e, 1) {
				one.StandardError, one.Covers = &e, covers
			}
			out = append(out, one)
		}
	}
	return out
}

// z975 is a quantile of the normal distribution, for an interval of 95 %.
const z975 = 1.959963984540054

// Intervals is [Model.Answers] with intervals of 95 % for the population that the private rows are
// a random sample of, where one measurement answers a query by itself: with noise of variance v,
// and n·p rows in n, the standard error is √(v + n·p·(1 − p)). The 95 % are those of all cells of
// a model: it draws single counts of a few standard errors to what its others say, and misses these
// more often. Intervals end at 0, and not at the number of rows, which is itself noisy.
func (m *Model) Intervals(w *workload.Workload) ([]Answered, error) {
	out, err := m.Answers(w)
	for i := range out {
		a := &out[i]
		if a.StandardError == nil {
			continue
		}
		in := max(0, a.Answer)
		e := math.Hypot(*a.StandardError, math.Sqrt(in*max(0, m.Rows-in)/max(1, m.Rows)))
		half := z975 * e
		e = hundredths(e)
		a.StandardError, a.Covers = &e, "population"
		a.Interval = &[2]float64{hundredths(max(0, a.Answer-half)), hundredths(a.Answer + half)}
	}
	return out, err
}

// hundredths is x to a hundredth of a row, far below any noise.
func hundredths(x float64) float64 { return math.Round(100*x) / 100 }
