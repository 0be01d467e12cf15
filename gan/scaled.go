package gan

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/internal/kernels"
)

// Scaled returns an encoder of the same cells whose critics see each of the given columns as one
// number in [0, 1], code c of m at c/(m − 1) rounded to a multiple of 2⁻¹⁶, in place of m one-hot
// cells. Generators draw the cells as before, so that their rows are valid; [Encoder.FoldTo] is
// what a critic sees of them. Such a column needs 2 codes or more. It returns an error for one that
// has fewer, and panics unless scaled has one element a column.
func (e *Encoder) Scaled(scaled []bool) (*Encoder, error) {
	if len(scaled) != e.Columns() {
		panic(fmt.Sprintf("gan: %d columns scaled or not, of %d", len(scaled), e.Columns()))
	}
	out := &Encoder{offsets: e.offsets, scaled: append([]bool(nil), scaled...),
		inputs: make([]int, len(e.offsets))}
	for k, one := range scaled {
		width := e.offsets[k+1] - e.offsets[k]
		if one {
			if width < 2 {
				return nil, fmt.Errorf("gan: column %d has one code and cannot be scaled", k+1)
			}
			width = 1
		}
		out.inputs[k+1] = out.inputs[k] + width
	}
	return out, nil
}

// Inputs is the number of inputs of a critic: Cells, but one for each scaled column.
func (e *Encoder) Inputs() int { return e.inputs[len(e.inputs)-1] }

// ScaledColumns says of each column whether critics see it as one number; nil if they see none so.
func (e *Encoder) ScaledColumns() []bool { return append([]bool(nil), e.scaled...) }

// isScaled reports whether critics see column k as one number.
func (e *Encoder) isScaled(k int) bool { return e.scaled != nil && e.scaled[k] }

// valueStep is the grid of scaled inputs.
const valueStep = 0x1p-16

// Value is the input of scaled column k at a code. At code 0 it is 0 and at the last one 1.
func (e *Encoder) Value(k, code int) float32 {
	m := e.offsets[k+1] - e.offsets[k]
	return float32(math.Round(float64(code)/float64(m-1)/valueStep) * valueStep)
}

// FoldTo sets dst, rows × Inputs, to what a critic sees of x, rows × Cells, relaxed or hard.
func (e *Encoder) FoldTo(dst, x kernels.Matrix) {
	e.checkFold(dst, x)
	input, value := e.folding()
	clear(dst.Data)
	for i := range x.Rows {
		to := dst.Row(i)
		for cell, v := range x.Row(i) {
			to[input[cell]] += value[cell] * v
		}
	}
}

// UnfoldTo is the transpose of FoldTo: from the gradient of a loss with respect to the inputs, d,
// it sets dst to that with respect to the cells.
func (e *Encoder) UnfoldTo(dst, d kernels.Matrix) {
	e.checkFold(d, dst)
	input, value := e.folding()
	for i := range d.Rows {
		from, to := d.Row(i), dst.Row(i)
		for cell := range to {
			to[cell] = value[cell] * from[input[cell]]
		}
	}
}

// FoldMean is FoldTo for the mean of a row, and for the variances of independent errors of it; both
// are rows of Cells.
func (e *Encoder) FoldMean(mean, variance []float64) (means, variances []float64) {
	means, variances = make([]float64, e.Inputs()), make([]float64, e.Inputs())
	input, value := e.folding()
	for cell, v := range value {
		if v != 0 { // an error of +Inf at 0 is none
			means[input[cell]] += float64(v) * mean[cell]
			variances[input[cell]] += float64(v) * float64(v) * variance[cell]
		}
	}
	return means, variances
}

// folding gives for every cell its input, and what the input is where the cell is 1.
func (e *Encoder) folding() (input []int, value []float32) {
	for k := range e.Columns() {
		for c := range e.offsets[k+1] - e.offsets[k] {
			if e.isScaled(k) {
				input, value = append(input, e.inputs[k]), append(value, e.Value(k, c))
			} else {
				input, value = append(input, e.inputs[k]+c), append(value, 1)
			}
		}
	}
	return input, value
}

func (e *Encoder) checkFold(inputs, cells kernels.Matrix) {
	if inputs.Cols != e.Inputs() || cells.Cols != e.Cells() || inputs.Rows != cells.Rows {
		panic(fmt.Sprintf("gan: %d × %d inputs of %d × %d cells for an encoder of %d and %d",
			inputs.Rows, inputs.Cols, cells.Rows, cells.Cols, e.Inputs(), e.Cells()))
	}
}

// Compared is a [Replay] or a [DeepReplay].
type Compared interface {
	Len() int
	GradientTo(dst, x kernels.Matrix, picks []int) float64
}

// FoldedReplay is a replay on the rows of an encoder with scaled columns: its snapshots are of
// critics, and see the inputs; its tables see the cells. It is for one goroutine at a time.
type FoldedReplay struct {
	Compared // without tables
	encoder  *Encoder
	tables   *tables
	x, d     kernels.Matrix
}

// NewFoldedReplay shows rows of e to r.
func NewFoldedReplay(e *Encoder, r Compared) *FoldedReplay {
	return &FoldedReplay{Compared: r, encoder: e}
}

// SetTables is [Replay.SetTables].
func (r *FoldedReplay) SetTables(e *Encoder, t Tables) (err error) {
	r.tables, err = newTables(e, r.encoder.Cells(), t)
	return err
}

// GradientTo is [Replay.GradientTo] for rows of cells.
func (r *FoldedReplay) GradientTo(dst, x kernels.Matrix, picks []int) float64 {
	if r.x.Rows != x.Rows {
		r.x, r.d = kernels.New(x.Rows, r.encoder.Inputs()), kernels.New(x.Rows, r.encoder.Inputs())
	}
	r.encoder.FoldTo(r.x, x)
	loss := r.Compared.GradientTo(r.d, r.x, picks)
	r.encoder.UnfoldTo(dst, r.d)
	if r.tables != nil {
		loss += r.tables.addTo(dst, x)
	}
	return loss
}
