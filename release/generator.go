package release

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/gan"
)

// kindGenerator is the kind of [Generator].
const kindGenerator = "generator"

// Generator are the parameters of the adversarial methods: a generator network.
type Generator struct {
	Net  *gan.Generator
	Rows float64 // noisy number of rows
}

// Kind is kindGenerator.
func (p *Generator) Kind() string { return kindGenerator }

// Total is the noisy number of rows.
func (p *Generator) Total() float64 { return p.Rows }

// Sizes is the number of codes of each column.
func (p *Generator) Sizes() []int { return p.Net.Encoder().Sizes() }

// Sample draws n rows. The network computes in float32 with the processor's vector units: a seed
// gives the same rows on processors of one kind.
func (p *Generator) Sample(n int, u *rand.Rand) [][]uint16 { return p.Net.Sample(n, u) }

// Describe names the size of the network.
func (p *Generator) Describe() []string {
	return []string{fmt.Sprintf("generator network of %d weights for %d cells",
		len(p.Net.Parameters()), p.Net.Encoder().Cells())}
}

// MarshalBinary is the number of rows (float64, little-endian) and the network.
func (p *Generator) MarshalBinary() ([]byte, error) {
	net, err := p.Net.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint64(nil, math.Float64bits(p.Rows)), net...), nil
}

func decodeGenerator(raw []byte) (Params, error) {
	if len(raw) < 8 {
		return nil, fmt.Errorf("the parameters are cut short: %w", ErrFormat)
	}
	p := &Generator{Rows: math.Float64frombits(binary.LittleEndian.Uint64(raw))}
	if !validRows(p.Rows) {
		return nil, fmt.Errorf("the number of rows is out of range: %w", ErrFormat)
	}
	var err error
	if p.Net, err = gan.DecodeGenerator(raw[8:]); err != nil {
		return nil, fmt.Errorf("the generator: %w: %w", err, ErrFormat)
	}
	return p, nil
}
