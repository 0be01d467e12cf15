package release

import (
	"encoding"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/decoy-dp/decoy/marginal"
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
	// of a joint model of an earlier version: how many of Measured are of each party, in their order.
	// The model then has one column more than the schema, the last: the party, which is never sampled.
	Parties []int
	// rows are steered towards the pairs of the model: those of [New], but not of earlier versions
	Steered bool
	// rows are drawn independently of each other: of a replicate, whose tables are combined
	independent bool

	once  sync.Once
	pairs *marginal.Pairs
	given *marginal.Conditionals
}

// Kind is kindMarginal, of steered rows with a word before it.
func (p *Marginal) Kind() string {
	if p.Steered {
		return steered + kindMarginal
	}
	return kindMarginal
}

// Total is the noisy number of rows.
func (p *Marginal) Total() float64 { return p.Model.Total() }

// Sizes is the number of codes of each column, before grouping.
func (p *Marginal) Sizes() []int { return p.Grouping.CodeSizes() }

// Sample draws n rows of codes.
func (p *Marginal) Sample(n int, u *rand.Rand) [][]uint16 {
	if p.independent {
		return p.people(n, u)
	}
	rows := p.Model.Sample(n, u)
	if p.Steered && n > 0 {
		p.steer(rows, u)
	}
	p.Grouping.Expand(rows, u)
	return rows[:len(p.Sizes())]
}

// Describe names the cliques and their size.
func (p *Marginal) Describe() []string {
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
	if p.Steered {
		lines = append(lines, "its rows are steered towards its pairs of columns")
	}
	return lines
}

// MarshalBinary writes parameters.bin.
func (p *Marginal) MarshalBinary() ([]byte, error) {
	f := &fields{}
	f.marginal(p)
	return f.out, nil
}
