package gan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/gan/critic"
)

// errFormat is wrapped by every error about bytes that are not an encoded network.
var errFormat = errors.New("not an encoded network")

// An encoded generator is little-endian: four letters, the version (uint32), the number of columns
// and the codes of each (uint32), latent numbers and hidden units (uint32), and the parameters
// (float32) in the order of Parameters.
const (
	generatorTag = "dgen"
	version      = 1
	maxColumns   = 1 << 16
)

// MarshalBinary encodes the generator. The error is always nil.
func (g *Generator) MarshalBinary() ([]byte, error) {
	out := []byte(generatorTag)
	put := func(x int) { out = binary.LittleEndian.AppendUint32(out, uint32(x)) }
	put(version)
	put(g.encoder.Columns())
	for _, m := range g.encoder.Sizes() {
		put(m)
	}
	put(g.latent)
	put(g.hidden)
	for _, w := range g.parameters {
		put(int(math.Float32bits(w)))
	}
	return out, nil
}

// decoder reads uint32s; after the end it reads zeros and remembers that.
type decoder struct {
	data  []byte
	short bool
}

func (d *decoder) next() int {
	if len(d.data) < 4 {
		d.short, d.data = true, nil
		return 0
	}
	x := binary.LittleEndian.Uint32(d.data)
	d.data = d.data[4:]
	return int(x)
}

// header reads tag, version and encoder.
func (d *decoder) header() (*critic.Encoder, error) {
	if len(d.data) < 4 || string(d.data[:4]) != generatorTag {
		return nil, fmt.Errorf("%w: it does not begin with %q", errFormat, generatorTag)
	}
	d.data = d.data[4:]
	if v := d.next(); v != version {
		return nil, fmt.Errorf("%w: version %d, this program reads %d", errFormat, v, version)
	}
	columns := d.next()
	if columns > maxColumns || 4*columns > len(d.data) {
		return nil, fmt.Errorf("%w: %d columns in %d bytes", errFormat, columns, len(d.data))
	}
	sizes := make([]int, columns)
	for k := range sizes {
		sizes[k] = d.next()
	}
	e, err := critic.NewEncoderOf(sizes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	return e, nil
}

// ends reports whether what is left is n parameters: before they are allocated.
func (d *decoder) ends(n int) error {
	if d.short || len(d.data) != 4*n {
		return fmt.Errorf("%w: %d bytes for %d parameters", errFormat, len(d.data), n)
	}
	return nil
}

// parameters reads dst, all of it finite.
func (d *decoder) parameters(dst []float32) error {
	for i := range dst {
		x := math.Float32frombits(uint32(d.next()))
		if x-x != 0 {
			return fmt.Errorf("%w: parameter %d is not finite", errFormat, i)
		}
		dst[i] = x
	}
	return nil
}

// DecodeGenerator decodes what [Generator.MarshalBinary] wrote. Errors wrap [errFormat]; memory is
// bounded by the length of data.
func DecodeGenerator(data []byte) (*Generator, error) {
	d := &decoder{data: data}
	e, err := d.header()
	if err != nil {
		return nil, err
	}
	latent, hidden := d.next(), d.next()
	if latent > maxLatent || hidden > maxHidden || e.Cells() > maxCells {
		return nil, fmt.Errorf("%w: %d latent numbers, %d units, %d cells", errFormat, latent,
			hidden, e.Cells())
	}
	shape := Generator{encoder: e, latent: latent, hidden: hidden}
	if err := d.ends(shape.count()); err != nil {
		return nil, err
	}
	g, err := newGenerator(e, latent, hidden)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errFormat, err)
	}
	return g, d.parameters(g.parameters)
}
