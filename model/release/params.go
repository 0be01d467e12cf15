package release

import (
	"encoding"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/decoy-dp/decoy/model/marginal"
)

// Params are released parameters that can be sampled.
type Params interface {
	encoding.BinaryMarshaler
	Kind() string   // "marginal"
	Total() float64 // noisy number of rows
	// n rows of the schema's codes, column-major; the same for the same state of u
	Sample(n int, u *rand.Rand) [][]uint16
	Sizes() []int       // codes of each column
	Describe() []string // a few lines for inspect
}

// kindMarginal is the kind of [Marginal].
const kindMarginal = "marginal"

// Marginal are the parameters of the marginal methods: a graphical model over groups of codes, what
// the groups stand for, and the noisy marginals behind it.
type Marginal struct {
	Model    *marginal.Model
	Grouping *marginal.Grouping
	Measured []marginal.Measurement // for who wants the noise itself; the model does not need them
	// rows are drawn independently of each other: of a replicate, whose tables are combined
	independent bool

	once  sync.Once
	pairs *marginal.Pairs
	given *marginal.Conditionals
}

// Kind is kindMarginal.
func (p *Marginal) Kind() string { return kindMarginal }

// Total is the noisy number of rows.
func (p *Marginal) Total() float64 { return p.Model.Total() }

// Sizes is the number of codes of each column, before grouping.
func (p *Marginal) Sizes() []int { return p.Grouping.CodeSizes() }

// Sample draws n rows of codes, steered towards the pairs of the model.
func (p *Marginal) Sample(n int, u *rand.Rand) [][]uint16 {
	if p.independent {
		return p.people(n, u)
	}
	rows := p.Model.Sample(n, u)
	if n > 0 {
		p.steer(rows, u)
	}
	p.Grouping.Expand(rows, u)
	return rows
}

// unsteered draws n rows of codes as the graphical model has them.
func (p *Marginal) unsteered(n int, u *rand.Rand) [][]uint16 {
	rows := p.Model.Sample(n, u)
	p.Grouping.Expand(rows, u)
	return rows
}

// Describe names the cliques and their size, and what becomes of rows.
func (p *Marginal) Describe() []string {
	return append(p.graph(), "its rows are steered towards its pairs of columns")
}

// graph names the cliques and their size.
func (p *Marginal) graph() []string {
	cells, cliques, sizes := 0, p.Model.Cliques(), p.Model.Sizes()
	for _, c := range cliques {
		n := 1
		for _, col := range c {
			n *= sizes[col]
		}
		cells += n
	}
	lines := []string{fmt.Sprintf("graphical model of %d cliques, %d cells", len(cliques), cells)}
	if len(p.Measured) > 0 {
		cells = 0
		for _, m := range p.Measured {
			cells += len(m.Counts)
		}
		lines = append(lines, fmt.Sprintf("%d noisy marginals, %d cells", len(p.Measured), cells))
	}
	return lines
}

// MarshalBinary writes parameters.bin.
func (p *Marginal) MarshalBinary() ([]byte, error) {
	f := &fields{}
	f.marginal(p)
	return f.out, nil
}
