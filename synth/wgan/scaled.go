package wgan

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/schema"
)

// scaledColumns are those that encoder scaled shows to the critic as one number: ordered bins,
// three or more, without a code for missing cells, which has no place among them. nil if there are
// none.
func scaledColumns(s *schema.Schema, c Config) []bool {
	if c.Encoder != scaled {
		return nil
	}
	out := make([]bool, len(s.Columns))
	for k, m := range s.Sizes() {
		column := s.Columns[k]
		out[k] = m > 2 && len(column.Missing) == 0 && column.Kind.Ordered()
	}
	if !slices.Contains(out, true) {
		return nil
	}
	return out
}

// seen is what the critic sees of generated rows: x itself, or buffer, the rows with scaled
// columns.
func (t *training) seen(buffer *kernels.Matrix, x kernels.Matrix) kernels.Matrix {
	if t.scaled == nil {
		return x
	}
	if buffer.Rows != x.Rows {
		*buffer = kernels.New(x.Rows, t.encoder.Inputs())
	}
	t.encoder.FoldTo(*buffer, x)
	return *buffer
}

// judgeTo sets down to the gradient of the critic's mean score of generated rows x with respect to
// their cells.
func (t *training) judgeTo(down, x kernels.Matrix) {
	if t.scaled == nil {
		t.judge.InputTo(down, x)
		return
	}
	back := kernels.New(x.Rows, t.encoder.Inputs())
	t.judge.InputTo(back, t.seen(&t.folded, x))
	t.encoder.UnfoldTo(down, back)
}

// newReplay is an empty memory for the plan's critics.
func (t *training) newReplay() {
	var inner gan.Compared
	if hidden := t.cfg.Hidden; len(hidden) == 1 {
		t.flat = gan.NewReplay(t.encoder, hidden[0], float32(t.cfg.Slope))
		t.replay, inner = t.flat, t.flat
	} else {
		t.deep = gan.NewDeepReplay(t.critic)
		t.replay, inner = t.deep, t.deep
	}
	if t.scaled != nil {
		t.replay = gan.NewFoldedReplay(t.encoder, inner)
	}
}

// foldInputs turns the measurement of the mean cells into one of the mean inputs.
func (t *training) foldInputs() {
	if t.scaled == nil {
		return
	}
	means, variances := make([]float64, len(t.inputs)), make([]float64, len(t.inputs))
	for i, sd := range t.inputSDs {
		means[i], variances[i] = float64(t.inputs[i]), float64(sd)*float64(sd)
	}
	means, variances = t.encoder.FoldMean(means, variances)
	for i, v := range variances {
		variances[i] = math.Sqrt(v)
	}
	t.inputs, t.inputSDs = narrow(means), narrow(variances)
}
