package release

import (
	"fmt"

	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/workload"
)

// belowSigmas is how many standard deviations above zero a noisy count must be for its cell not to
// be below the noise: the noise alone goes higher in 2.3 % of the empty cells.
const belowSigmas = 2

// uncertainty is what a model knows of its own noise: the file of decoy sample --uncertainty.
type uncertainty struct {
	Version   int             `json:"decoy_uncertainty"`
	Guarantee string          `json:"guarantee"`
	Rows      float64         `json:"rows"` // the model's
	Below     string          `json:"below_noise_means"`
	Marginals []noisyMarginal `json:"marginals"`
}

// noisyMarginal is a table over groups of codes, row-major, the last column fastest.
type noisyMarginal struct {
	Columns []string     `json:"columns"`
	Groups  [][][]string `json:"groups"` // per column the labels of each group
	Sigma   float64      `json:"sigma"`  // standard deviation of the noise of every cell, in rows
	Noisy   []float64    `json:"noisy"`  // true counts plus noise
	Model   []float64    `json:"model"`  // what the model makes of all marginals together
	Below   []bool       `json:"below_noise"`
}

// Uncertainty is the noisy marginals behind a graphical model, measurements of one table averaged.
// ErrNotExact is wrapped for a model that keeps none, and for a joint one, whose parties' do.
func (m *Model) Uncertainty() (*uncertainty, error) {
	p, ok := m.Params().(*Marginal)
	if !ok || len(p.whole()) == 0 {
		return nil, fmt.Errorf("the model keeps no noisy marginals; models of mst and aim do: %w",
			ErrNotExact)
	}
	u := &uncertainty{Version: 1, Guarantee: m.Claim.String(), Rows: hundredths(m.Rows), Below: fmt.
		Sprintf("the noisy count is less than %d sigma: noise alone may have made it", belowSigmas)}
	codecs, err := m.Schema().Codecs()
	if err != nil {
		return nil, err
	}
	for _, one := range p.whole() {
		n, err := describe(one, m.Schema(), codecs, p)
		if err != nil {
			return nil, err
		}
		u.Marginals = append(u.Marginals, n)
	}
	return u, nil
}

// describe puts labels to the table and the model's cells beside it.
func describe(
	a marginal.Measurement, s *schema.Schema, codecs []*schema.Codec, p *Marginal,
) (noisyMarginal, error) {
	sizes, groups := a.Shape(s.Sizes()), a.Groups
	n := noisyMarginal{Sigma: hundredths(a.Sigma), Noisy: make([]float64, len(a.Counts)),
		Below: make([]bool, len(a.Counts))}
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
		n.Noisy[k], n.Below[k] = hundredths(x), x < belowSigmas*a.Sigma
	}
	w, err := workload.New(s, []workload.Item{{Cols: a.Cols, Weight: 1}})
	if err != nil {
		return n, err
	}
	answers, err := w.OnModel(p.Model, p.Grouping)
	if err != nil {
		return n, err
	}
	n.Model = make([]float64, len(a.Counts))
	cells := a.Cells(s.Sizes())
	for k, x := range answers[0] {
		n.Model[cells[k]] += x
	}
	for k, x := range n.Model {
		n.Model[k] = hundredths(x)
	}
	return n, nil
}
