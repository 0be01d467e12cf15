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

// Sizes is √(total variance) of the gradient sum's noise at noise multiplier 1, for one critic in each mode that clips nothing; and beside them, Interpolates,
// of the noise that a gradient penalty at points between private and generated rows needs, by its norm bound ([bounds.CertifyPenalty] with a reach of 1): the
// reason why the penalty is taken between generated rows by default.
type Sizes struct{ Thesis, Box, Blocks, Residual, Interpolates float64 }

// StepSizes returns the sizes for each critic that was measured in a run, from its checkpoint: what each mode would have cost at every step. The critics
// are public: they were computed from releases. Errors wrap synth.ErrCheckpoint, or are those of bounds.Certify.
func StepSizes(checkpoint []byte, s *schema.Schema, nb privacy.Neighbours) ([]Sizes, error) {
	var st state
	if err := gob.NewDecoder(bytes.NewReader(checkpoint)).Decode(&st); err != nil {
		return nil, fmt.Errorf("wgan: it does not decode: %w", synth.ErrCheckpoint)
	}
	var out []Sizes
	for _, r := range st.Releases {
		c, err := gan.DecodeCritic(r.Critic)
		if err != nil {
			return nil, fmt.Errorf("wgan: %w: %w", err, synth.ErrCheckpoint)
		}
		in, err := privacy.CertifiedPlan{Scaled: c.Encoder().ScaledColumns()}.Domain(s)
		if err != nil {
			return nil, err
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
		cert, err := bounds.Certify(critic{Critic: c}.Network(), in, bounds.Config{Mode: mode, Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit)})
		if err != nil {
			return Sizes{}, err
		}
		size[i] = cert.TotalStd()
	}
	penalty, err := bounds.CertifyPenalty(critic{Critic: c}.Network(), bounds.PenaltyConfig{Adjacency: nb.Adjacency, UnitRows: max(1, nb.MaxRowsPerUnit), Reach: 1})
	if err != nil {
		return Sizes{}, err
	}
	return Sizes{size[0], size[1], size[2], size[3], penalty.TotalStd()}, nil
}

// Ordered reports whether thesis needs at least the noise of box and box that of blocks, as they must. Residual has less than blocks where the sum of the inputs predicts
// much of the gradient, as on tables of many columns; nothing promises it.
func (s Sizes) Ordered() bool { return s.Thesis >= s.Box && s.Box >= s.Blocks }
