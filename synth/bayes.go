package synth

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// maxTreeCells is the most cells of the junction tree of a network.
const maxTreeCells = 1 << 24

// Bayes is the Dirichlet-multinomial synthesizer on a public network of columns, private by
// Laplace noise on its sufficient statistics: the counts of each family, a column with its parents.
// It chooses nothing, and needs no δ.
//
// Sources: Zhang, Cormode, Procopiuc, Srivastava, Xiao, PrivBayes (ACM TODS 42, 2017), whose
// network is bought; Foulds, Geumlek, Welling, Chaudhuri 2016 (arXiv 1603.07294), noise on the
// sufficient statistics of a conjugate posterior.
type Bayes struct {
	// column that all others have as their parent; default each has the one before it
	Target string `mapstructure:"target"`
	// in place of both: a column and its parents, joined by *, as in died*age*sofa; one that is
	// first in none has no parents
	Families []string `mapstructure:"families"`
	// rows of the prior in each cell of a family; default 1
	Prior float64 `mapstructure:"prior" default:"1" min:"1e-6" max:"1e6"`
}

// Name is "bayes".
func (*Bayes) Name() string { return "bayes" }

func (f *Bayes) check() error {
	if f.Target != "" && len(f.Families) > 0 {
		return errors.New("target and families are two networks")
	}
	return nil
}

// plan is the network and the noise.
type bayesPlan struct {
	cfg      Bayes
	schema   *schema.Schema
	families [][]int // the parents of each column, and the column itself, last
	cells    int     // of the junction tree
	scale    float64 // of the Laplace noise of a cell, in rows
}

// Reserve is a pure step for each family: together they cost less than the sum where that is less.
func (f *Bayes) Reserve(t Terms, b accountant.Budget, before float64) (
	accountant.Composition, accountant.Pricer, error,
) {
	return pure(t, b, before, len(t.Schema.Columns))
}

// Plan reads the network against the schema, and has noise that takes a step for each family.
func (f *Bayes) Plan(t Terms) (Plan, error) {
	s := t.Schema
	p := &bayesPlan{cfg: *f, schema: s}
	one := t.Neighbours.LaplaceEvent(privacy.Marginal{}, 1).(accountant.Laplace)
	p.scale = one.Epsilon / t.Left.Epsilon * (1 + 1e-12)
	var err error
	if p.families, err = f.network(s); err != nil {
		return nil, fmt.Errorf("bayes: %w: %w", err, ErrConfig)
	}
	p.cells, err = marginal.TreeCells(s.Sizes(), p.families)
	if err == nil && p.cells > maxTreeCells {
		err = fmt.Errorf("its junction tree has %d cells, %d are possible: give columns fewer parents, "+
			"bins or categories", p.cells, maxTreeCells)
	}
	if err != nil {
		return nil, fmt.Errorf("bayes: the network: %w: %w", err, ErrConfig)
	}
	return p, nil
}

// network is the family of each column: its parents and, last, the column.
func (c *Bayes) network(s *schema.Schema) ([][]int, error) {
	out, target := make([][]int, len(s.Columns)), s.Index(c.Target)
	if c.Target != "" && target < 0 {
		return nil, fmt.Errorf("target: the schema has no column %q%s", c.Target, s.Hint(c.Target))
	}
	for k := range out {
		out[k] = []int{k}
		switch {
		case len(c.Families) > 0 || k == target:
		case target >= 0:
			out[k] = []int{target, k}
		case k > 0:
			out[k] = []int{k - 1, k}
		}
	}
	for _, text := range c.Families {
		family, err := joinedNames(s, text)
		if err != nil {
			return nil, fmt.Errorf("family %q: %w", text, err)
		}
		if c := family[0]; len(out[c]) > 1 {
			return nil, fmt.Errorf("families: column %q is first in two", s.Columns[c].Name)
		}
		out[family[0]] = append(family[1:], family[0])
	}
	// A network without a cycle: columns whose parents are placed can be placed, until all are.
	placed := make([]bool, len(out))
	for left := len(out); left > 0; {
		before := left
		for c, family := range out {
			if !placed[c] && !slices.ContainsFunc(family[:len(family)-1],
				func(parent int) bool { return !placed[parent] }) {
				placed[c] = true
				left--
			}
		}
		if left == before {
			return nil, fmt.Errorf("families: column %q is its own ancestor, or has one that is",
				s.Columns[slices.Index(placed, false)].Name)
		}
	}
	return out, nil
}

// Fit measures the families. With n_jk rows of which the parents are j and the column is k, a
// uniform Dirichlet prior of weight α a cell and y = n + Laplace noise, the network's tables are
// the posterior means at the counts max(y, 0),
//
//	P(k | j) = (max(y_jk, 0) + α) / Σ_k (max(y_jk, 0) + α):
//
// the probability with which a row drawn from the posterior has k.
func (p *bayesPlan) Fit(
	ctx context.Context, s *privacy.Session, progress Progress,
) (out Model, err error) {
	sizes := s.Schema().Sizes()
	tables := make([][]float64, len(p.families))
	measured := make([]marginal.Measurement, len(p.families))
	names := make([]string, len(p.families)) // as in the settings
	for c, family := range p.families {
		progress.Report("measuring columns with their parents", float64(c)/float64(len(tables)))
		if err := ctx.Err(); err != nil {
			return out, err
		}
		counts, err := s.MeasureLaplace(privacy.Marginal{Cols: family}, p.scale)
		if err != nil {
			return out, err
		}
		measured[c] = marginal.NewMeasurement(family, nil, counts, math.Sqrt2*p.scale)
		for given := range slices.Chunk(counts, sizes[c]) {
			sum := 0.0
			for _, y := range given {
				sum += max(float64(y), 0) + p.cfg.Prior
			}
			for _, y := range given {
				tables[c] = append(tables[c], (max(float64(y), 0)+p.cfg.Prior)/sum)
			}
		}
		names[c] = p.schema.Columns[c].Name
		for _, parent := range family[:len(family)-1] {
			names[c] += "*" + p.schema.Columns[parent].Name
		}
	}
	model, err := marginal.FromFactors(sizes, p.families, tables, marginal.Total(measured))
	out.Params = &release.Marginal{Model: model, Grouping: marginal.NoGroups(sizes)}
	out.Settings = map[string]any{"families": names, "prior": p.cfg.Prior, "laplace_scale": p.scale}
	return out, err
}
