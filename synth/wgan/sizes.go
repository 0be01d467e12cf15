package wgan

import (
	"bytes"
	"encoding/gob"
	"fmt"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// Sizes is √(total variance) of the gradient sum's noise at noise multiplier 1, for one critic in each mode that clips nothing.
type Sizes struct{ Thesis, Box, Blocks, Residual float64 }

// StepSizes returns the sizes for each critic that was measured in a run, from its checkpoint: what each mode would have cost at every step. The critics
// are public: they were computed from releases. Errors wrap synth.ErrCheckpoint, or are those of bounds.Certify.
func StepSizes(checkpoint []byte, s *schema.Schema, nb privacy.Neighbours) ([]Sizes, error) {
	var st state
	if err := gob.NewDecoder(bytes.NewReader(checkpoint)).Decode(&st); err != nil {
		return nil, fmt.Errorf("wgan: it does not decode: %w", synth.ErrCheckpoint)
	}
	in, err := bounds.OneHot(s.Sizes())
	if err != nil {
		return nil, err
	}
	var out []Sizes
	for _, r := range st.Releases {
		c, err := gan.DecodeCritic(r.Critic)
		if err != nil {
			return nil, fmt.Errorf("wgan: %w: %w", err, synth.ErrCheckpoint)
		}
		sizes, err := sizesOf(c, in, nb)
		if err != nil {
			return nil, err
		}
		out = append(out, sizes)
	}
	return out, nil
}

func sizesOf(c *gan.Critic, in *bounds.Input, nb privacy.Neighbours) (Sizes, error) {
	var size [4]float64
	for i, mode := range []bounds.Mode{bounds.Thesis, bounds.Box, bounds.Blocks, bounds.Residual} {
		cert, err := bounds.Certify(critic{c}.Network(), in, bounds.Config{Mode: mode, Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit)})
		if err != nil {
			return Sizes{}, err
		}
		size[i] = cert.TotalStd()
	}
	return Sizes{size[0], size[1], size[2], size[3]}, nil
}

// Ordered reports whether each mode needs no more noise than the one before it.
func (s Sizes) Ordered() bool {
	return s.Thesis >= s.Box && s.Box >= s.Blocks && s.Blocks >= s.Residual
}
