package wgan

import (
	"slices"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/matrix"
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
func (t *training) seen(buffer *matrix.Matrix, x matrix.Matrix) matrix.Matrix {
	if t.scaled == nil {
		return x
	}
	if buffer.Rows != x.Rows {
		*buffer = matrix.New(x.Rows, t.encoder.Inputs())
	}
	gan.FoldTo(t.encoder, *buffer, x)
	return *buffer
}

// judgeTo sets down to the gradient of the critic's mean score of generated rows x with respect to
// their cells.
func (t *training) judgeTo(down, x matrix.Matrix) {
	if t.scaled == nil {
		t.judge.InputTo(down, x)
		return
	}
	back := matrix.New(x.Rows, t.encoder.Inputs())
	t.judge.InputTo(back, t.seen(&t.folded, x))
	gan.UnfoldTo(t.encoder, down, back)
}
