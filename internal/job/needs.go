package job

import (
	"fmt"

	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
)

// AssumedRows is the number of rows that a plan assumes when nobody says it. The true one is
// private, unless it is public anyway.
const AssumedRows = 10_000

// Needs is what a whole decoy generate is expected to need.
type Needs struct {
	Rows        int     `json:"rows"`
	Assumed     bool    `json:"rows_assumed,omitempty"`
	MemoryBytes int64   `json:"memory_bytes"` // resident, of the process
	Seconds     float64 `json:"seconds"`      // on one ordinary core
}

// The constants were measured on adult, bank and support2 (cmd/decoy TestForecasts): the program
// itself and its buffers; what the collector leaves lying about; reading a cell from CSV, drawing
// and writing one.
const (
	programBytes = 40 << 20
	slack        = 2
	baseSeconds  = 0.02
	perCellRead  = 40e-9
	perCellWrite = 80e-9
)

// NeedsOf adds reading, sampling and the program itself to the forecast of a plan, for so many
// rows; 0 assumes AssumedRows.
func NeedsOf(p synth.Plan, s *schema.Schema, rows int) Needs {
	n := Needs{Rows: rows, Assumed: rows == 0}
	if n.Assumed {
		n.Rows = AssumedRows
	}
	f := synth.ForecastFor(p, n.Rows)
	cells := float64(n.Rows) * float64(len(s.Columns))
	n.MemoryBytes = programBytes + slack*(int64(cells)+f.MemoryBytes)
	n.Seconds = baseSeconds + f.Seconds + cells*(perCellRead+perCellWrite)
	return n
}

// RowsText is the number of rows, and the name of what sets it where nobody did.
func (n Needs) RowsText(setting string) string {
	switch {
	case n.Assumed:
		return fmt.Sprintf("%d rows, assumed (%s)", n.Rows, setting)
	case n.Rows == 1:
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n.Rows)
}
