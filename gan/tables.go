package gan

import (
	"fmt"

	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/kernels"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// Tables are noisy joint tables of every column with one of them, the target: the means over
// private rows of x_i·y_j, x the cells of a row and y those of its target. A standard deviation of
// +Inf marks what was not measured.
type Tables struct {
	Target     int       // column
	Means, SDs []float32 // cells × codes of the target, row-major; standard deviations > 0
	Weight     float32   // of the tables' part of the loss beside that of the measurements; > 0
}

// tables is Tables as the loss needs it.
type tables struct {
	Tables
	first, codes int       // cells of the target
	precision    []float32 // 1/(sd²·count)
	y, back      matrix.Matrix
	mean         [2]matrix.Matrix
}

// SetTables adds the tables to what the history compares: [History.GradientTo] then minimises
// L + Weight·L', L' the mean over what the tables measured of the same product of residuals. It
// panics if a shape does not fit, and returns an error for a number that is not finite, a standard
// deviation that is not positive, and tables that measure nothing.
func (h *History) SetTables(t Tables) (err error) {
	h.tables, err = newTables(h.shape.Encoder(), t)
	return err
}

// newTables checks the tables.
func newTables(e *critic.Encoder, t Tables) (*tables, error) {
	if t.Target < 0 || t.Target >= e.Columns() {
		panic(fmt.Sprintf("gan: tables of column %d of %d", t.Target, e.Columns()))
	}
	out := &tables{Tables: t, first: e.Offset(t.Target),
		codes: e.Offset(t.Target+1) - e.Offset(t.Target)}
	if n := e.Cells() * out.codes; len(t.Means) != n || len(t.SDs) != n || !(t.Weight > 0) {
		panic(fmt.Sprintf("gan: tables of %d and %d numbers, not %d, with weight %v", len(t.Means),
			len(t.SDs), n, t.Weight))
	}
	out.precision = make([]float32, len(t.SDs))
	count := float32(0)
	for i, sd := range t.SDs {
		if !(sd > 0) || t.Means[i]-t.Means[i] != 0 {
			return nil, fmt.Errorf("gan: tables hold a mean of %v with standard deviation %v",
				t.Means[i], sd)
		}
		inverse := 1 / max(sd, minSD)
		if out.precision[i] = inverse * inverse; inverse > 0 {
			count++
		}
	}
	if count == 0 {
		return nil, fmt.Errorf("gan: tables that measure nothing")
	}
	for i := range out.precision {
		out.precision[i] /= count
	}
	return out, nil
}

// addTo adds the gradient of Weight·L' with respect to the rows to dst, and returns Weight·L'.
func (t *tables) addTo(dst, x matrix.Matrix) float64 {
	half := x.Rows / 2
	if t.y.Rows != half {
		t.y, t.back = matrix.New(half, t.codes), matrix.New(half, t.codes)
		for side := range t.mean {
			t.mean[side] = matrix.New(x.Cols, t.codes)
		}
	}
	scale := 1 / float32(half)
	for side, mean := range t.mean {
		part := rows(x, side*half, half)
		t.target(part)
		matrix.MulTo(mean, scale, part.T(), t.y, 0)
	}
	loss := float32(0)
	a, b := t.mean[0].Data, t.mean[1].Data
	for i, m := range t.Means {
		p := t.precision[i] * t.Weight
		ra, rb := a[i]-m, b[i]-m
		if p == 0 { // not measured
			ra, rb = 0, 0
		}
		loss += ra * rb * p
		a[i], b[i] = ra*p, rb*p
	}
	for side := range t.mean { // residuals of one half weigh the rows of the other
		part, down := rows(x, side*half, half), rows(dst, side*half, half)
		t.target(part)
		matrix.MulTo(down, scale, t.y, t.mean[1-side].T(), 1)
		matrix.MulTo(t.back, scale, part, t.mean[1-side], 0)
		for i := range half {
			kernels.AddTo(down.Row(i)[t.first:][:t.codes], t.back.Row(i))
		}
	}
	return float64(loss)
}

// target copies the cells of the rows' targets to y.
func (t *tables) target(x matrix.Matrix) {
	for i := range x.Rows {
		copy(t.y.Row(i), x.Row(i)[t.first:])
	}
}
