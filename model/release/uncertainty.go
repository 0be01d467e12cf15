package release

import (
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/workload"
)

// noisyMarginal is a table over groups of codes, row-major, the last column fastest.
type noisyMarginal struct {
	Columns []string
	Groups  [][][]string // per column the labels of each group
	Sigma   float64      // standard deviation of the noise of every cell, in rows
	Noisy   []float64    // true counts plus noise
	Model   []float64    // what the model makes of all marginals together
}

// Uncertainty is the noisy marginals behind a graphical model, measurements of one table averaged.
// ErrNotExact is wrapped for a model that keeps none, and for a joint one, whose parties' do.
func (m *Model) Uncertainty() (out []noisyMarginal, err error) {
	p, ok := m.Params().(*Marginal)
	if !ok || len(p.whole()) == 0 {
		return nil, fmt.Errorf("the model keeps no noisy marginals; models of mst and aim do: %w",
			ErrNotExact)
	}
	codecs, err := m.Schema().Codecs()
	for _, one := range p.whole() {
		var n noisyMarginal
		if err == nil {
			n, err = describe(one, m.Schema(), codecs, p)
		}
		out = append(out, n)
	}
	return out, err
}

// describe puts labels to the table and the model's cells beside it.
func describe(
	a marginal.Measurement, s *schema.Schema, codecs []*schema.Codec, p *Marginal,
) (noisyMarginal, error) {
	sizes, groups := a.Shape(s.Sizes()), a.Groups
	n := noisyMarginal{Sigma: hundredths(a.Sigma), Noisy: make([]float64, len(a.Counts)),
		Model: make([]float64, len(a.Counts))}
	for i, c := range a.Cols {
		n.Columns = append(n.Columns, s.Columns[c].Name)
		labels := make([][]string, sizes[i])
		for code := range s.Sizes()[c] {
			g := code
			if groups[i] != nil {
				g = int(groups[i][code])
			}
			labels[g] = append(labels[g], codecs[c].Label(uint16(code)))
		}
		n.Groups = append(n.Groups, labels)
	}
	for k, x := range a.Counts {
		n.Noisy[k] = hundredths(x)
	}
	w, err := workload.New(s, []workload.Item{{Cols: a.Cols, Weight: 1}})
	if err != nil {
		return n, err
	}
	answers, err := w.OnModel(p.Model, p.Grouping)
	if err != nil {
		return n, err
	}
	cells := a.Cells(s.Sizes())
	for k, x := range answers[0] {
		n.Model[cells[k]] += x
	}
	for k, x := range n.Model {
		n.Model[k] = hundredths(x)
	}
	return n, nil
}
