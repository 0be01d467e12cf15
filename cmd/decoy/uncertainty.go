package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/marginal"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/workload"
)

// belowSigmas is how many standard deviations above zero a noisy count must be for its cell not to
// be below the noise: the noise alone goes higher in 2.3 % of the empty cells.
const belowSigmas = 2

// uncertainty is the file of --uncertainty.
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

// writeUncertainty writes the noisy marginals of a model.
func writeUncertainty(t *terminal, path string, m *release.Model) error {
	p, ok := m.Params().(*release.Marginal)
	if !ok || len(p.Measured) == 0 {
		return usagef("--uncertainty: the model keeps no noisy marginals; models of mst and aim do")
	}
	u := uncertainty{Version: 1, Guarantee: m.Claim.String(), Rows: rounded(m.Rows),
		Below: fmt.Sprintf("the noisy count is less than %d sigma: noise alone may have made it",
			belowSigmas)}
	codecs, err := m.Schema().Codecs()
	if err != nil {
		return err
	}
	cells, below := 0, 0
	for _, one := range merged(p.Measured) {
		n, err := describe(one, m.Schema(), codecs, p)
		if err != nil {
			return fmt.Errorf("--uncertainty: %w", err)
		}
		for _, b := range n.Below {
			cells++
			if b {
				below++
			}
		}
		u.Marginals = append(u.Marginals, n)
	}
	f, err := t.create("--uncertainty", path, job.ReleaseMode)
	if err != nil {
		return err
	}
	defer f.Abort()
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(u); err != nil {
		return fmt.Errorf("--uncertainty %w", err)
	}
	if err := f.Commit(); err != nil {
		return err
	}
	t.say("wrote %s: %d noisy marginals, %d of %d cells below the noise", path, len(u.Marginals),
		below, cells)
	return nil
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

// describe puts labels to the table and the model's cells beside it.
func describe(
	a marginal.Measurement, s *schema.Schema, codecs []*schema.Codec, p *release.Marginal,
) (noisyMarginal, error) {
	sizes, groups := a.Shape(s.Sizes()), a.Groups
	n := noisyMarginal{Sigma: rounded(a.Sigma), Noisy: make([]float64, len(a.Counts)),
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
		n.Noisy[k], n.Below[k] = rounded(x), x < belowSigmas*a.Sigma
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
	for k, x := range answers[0] {
		cell, rest := 0, k
		stride := 1
		for i := len(a.Cols) - 1; i >= 0; i-- {
			code := rest % s.Sizes()[a.Cols[i]]
			rest /= s.Sizes()[a.Cols[i]]
			if groups[i] != nil {
				code = int(groups[i][code])
			}
			cell += code * stride
			stride *= sizes[i]
		}
		n.Model[cell] += x
	}
	for k, x := range n.Model {
		n.Model[k] = rounded(x)
	}
	return n, nil
}
