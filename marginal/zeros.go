package marginal

import "fmt"

// Zeros are cells of the table over Cols that have probability zero in every model: what cannot be,
// by the meaning of the columns. They add a clique over Cols to the junction tree. If nothing is
// possible at all, the model is one that breaks as few of the Zeros as it can.
type Zeros struct {
	Cols       []int  // distinct, at least one
	Impossible []bool // row-major over Cols, last fastest
}

// impossibleLog is the log potential of a cell that is ruled out: its exponential is 0, and so is
// that of any sum with the potentials that measured cells reach.
const impossibleLog = -1e6

func (z Zeros) check(sizes []int) error {
	if len(z.Cols) == 0 {
		return fmt.Errorf("no columns")
	}
	m := Measurement{Cols: z.Cols, Counts: make([]float64, len(z.Impossible)), Sigma: 1}
	return m.check(sizes)
}
