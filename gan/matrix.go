package gan

import "github.com/decoy-dp/decoy/internal/matrix"

// Matrix is a table of float32 numbers, Rows × Cols: rows of a batch, encoded, or their gradients.
type Matrix = matrix.Matrix

// NewMatrix views data, rows·cols numbers row after row, as a matrix. Another length panics.
func NewMatrix(rows, cols int, data []float32) Matrix { return matrix.Dense(rows, cols, data) }
