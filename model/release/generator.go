package release

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/model/marginal"
)

// Kinds of [Generator]: with the marginals that its rows are steered towards, or without.
const (
	kindGenerator = "generator"
	kindSteered   = "steered generator"
)

// Generator are the parameters of the adversarial methods: a generator network.
type Generator struct {
	Net  *gan.Generator
	Rows float64 // noisy number of rows
	// what the generator was distilled from, towards whose pairs of columns rows are steered; or nil
	Toward *Marginal
	once   sync.Once
	pairs  *marginal.Pairs
}

// Kind is kindGenerator or kindSteered.
func (p *Generator) Kind() string {
	if p.Toward != nil {
		return kindSteered
	}
	return kindGenerator
}

// Total is the noisy number of rows.
func (p *Generator) Total() float64 { return p.Rows }

// Sizes is the number of codes of each column.
func (p *Generator) Sizes() []int { return p.Net.Encoder().Sizes() }

// Pairs are those of Toward. They are counted once; nobody may write them.
func (p *Generator) Pairs() *marginal.Pairs {
	p.once.Do(func() { p.pairs = pairsOf(p.Sizes(), p.Toward.unsteered) })
	return p.pairs
}

// Sample draws n rows, steered unless there are too many cells ([gan.Generator.SampleToward]). The
// network computes in float32 with the processor's vector units: a seed gives the same rows on
// processors of one kind.
func (p *Generator) Sample(n int, u *rand.Rand) [][]uint16 {
	if p.Toward == nil || p.Net.Encoder().Cells() > steeredCells {
		return p.Net.Sample(n, u)
	}
	return p.Net.SampleToward(p.Pairs(), n, u)
}

// Describe names the size of the network, and the model that steers its rows.
func (p *Generator) Describe() []string {
	lines := []string{fmt.Sprintf("generator network of %d weights for %d cells",
		len(p.Net.Parameters()), p.Net.Encoder().Cells())}
	if p.Toward != nil {
		lines = append(lines, "its rows are steered towards the pairs of a "+p.Toward.Describe()[0])
	}
	return lines
}

// MarshalBinary writes parameters.bin.
func (p *Generator) MarshalBinary() ([]byte, error) {
	f := &fields{}
	f.generator(p)
	return f.out, nil
}
