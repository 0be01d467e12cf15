package release

import (
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/table"
	"github.com/decoy-dp/decoy/workload"
)

// Answered is a number of rows that a model gives to a query, or to one cell of its table.
type Answered struct {
	Query         string   `json:"query"`
	Cell          string   `json:"cell,omitempty"`
	Answer        float64  `json:"answer"`
	StandardError *float64 `json:"standard_error"` // nil: unknown
	// what the standard error is of: "noise" of the best single measurement, "sampling", "none", or
	// by [Model.Intervals] "population": all of them, or "hidden": too small, as the noise hides the
	// answer
	Covers   string      `json:"covers"`
	Interval *[2]float64 `json:"interval_95,omitempty"` // of [Model.Intervals]
	// the schema allows no such row, whatever the table holds; said by 'decoy queries answer'
	Impossible bool `json:"impossible,omitempty"`
}

// Answers asks a graphical model exactly. It is post-processing and costs nothing. The standard
// error is that of the measurement in the model file that answers a query most precisely by itself.
// Errors: a model of another kind ([ErrNotExact]), an item with too many cells
// ([workload.ErrTooLarge]).
func (m *Model) Answers(w *workload.Workload) ([]Answered, error) {
	p, ok := m.Params().(*Marginal)
	if !ok {
		return nil, fmt.Errorf("release: %s: %w", m.Parameters.Kind, ErrNotExact)
	}
	rows, err := m.rowCodec()
	if err != nil {
		return nil, err
	}
	answers, err := w.Drawn(rows.Codecs()).OnModel(p.Model, p.Grouping)
	if err != nil {
		return nil, err
	}
	noise := noiseErrors(m, w)
	return answered(w, answers, "noise", func(i, _ int) float64 { return noise[i] }), nil
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
		if err != nil {
			return err
		}
		if sum == nil {
			sum = part
		} else {
			for i := range part {
				for k, x := range part[i] {
					sum[i][k] += x
				}
			}
		}
		drawn += rows.Rows()
		progress(float64(drawn) / float64(n))
		return nil
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
			one := Answered{Query: w.Item(i).Name, Cell: w.Label(i, k), Answer: hundredths(x),
				Covers: "none"}
			if e := hundredths(errs(i, k)); !math.IsInf(e, 1) {
				one.StandardError, one.Covers = &e, covers
			}
			out = append(out, one)
		}
	}
	return out
}

// hundredths is x to a hundredth of a row, far below any noise.
func hundredths(x float64) float64 { return math.Round(100*x) / 100 }
