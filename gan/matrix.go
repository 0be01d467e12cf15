package gan

import "github.com/decoy-dp/decoy/internal/matrix"

// Matrix is a table of float32 numbers, Rows × Cols: rows of a batch, encoded, or their gradients.
type Matrix = matrix.Matrix
