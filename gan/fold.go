package gan

import (
	"fmt"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// FoldTo sets dst, rows × Inputs, to what a critic sees of x, rows × Cells, relaxed or hard.
func FoldTo(e *critic.Encoder, dst, x matrix.Matrix) {
	checkFold(e, dst, x)
	input, value := folding(e)
	clear(dst.Data)
	for i := range x.Rows {
		to := dst.Row(i)
		for cell, v := range x.Row(i) {
			to[input[cell]] += value[cell] * v
		}
	}
}

// unfoldTo is the transpose of FoldTo: from the gradient of a loss with respect to the inputs, d,
// it sets dst to that with respect to the cells.
func unfoldTo(e *critic.Encoder, dst, d matrix.Matrix) {
	checkFold(e, d, dst)
	input, value := folding(e)
	for i := range d.Rows {
		from, to := d.Row(i), dst.Row(i)
		for cell := range to {
			to[cell] = value[cell] * from[input[cell]]
		}
	}
}

// folding gives for every cell its input, and what the input is where the cell is 1.
func folding(e *critic.Encoder) (input []int, value []float32) {
	for k := range e.Columns() {
		for c := range e.Offset(k+1) - e.Offset(k) {
			if e.IsScaled(k) {
				input, value = append(input, e.Input(k)), append(value, e.Value(k, c))
			} else {
				input, value = append(input, e.Input(k)+c), append(value, 1)
			}
		}
	}
	return input, value
}

func checkFold(e *critic.Encoder, inputs, cells matrix.Matrix) {
	if inputs.Cols != e.Inputs() || cells.Cols != e.Cells() || inputs.Rows != cells.Rows {
		panic(fmt.Sprintf("gan: %d × %d inputs of %d × %d cells for an encoder of %d and %d",
			inputs.Rows, inputs.Cols, cells.Rows, cells.Cols, e.Inputs(), e.Cells()))
	}
}
