package query

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/table"
)

// Rule is a public function from a row to one of Size disjoint cells, such as the bin of a public
// model's score together with the label. Its one contract: the cell of a row depends on the codes
// of that row, and on nothing else. A row on which it panics counts as the last cell: that it did
// would be an answer without noise.
type Rule interface {
	// Size is the number of cells, from 1 to privacy.MaxCells.
	Size() int
	// CellsTo stores in dst[i] the cell of the row whose code in column c of the schema is
	// columns[c].At(i). It is called with blocks of the private rows, and must keep nothing of what
	// it sees and not call the session. A number that is no cell counts as the last cell.
	CellsTo(dst []uint32, columns []table.Codes)
}

// cellBlock is how many rows CellsTo sees at a time.
const cellBlock = 1 << 14

// Cells counts rows in the cells of a rule.
type Cells struct{ Rule Rule }

// Kind is that of disjoint cells.
func (Cells) Kind() access.Kind { return access.RowCells }

// Compile is for the gate. It reads the size once. What the rule does is not part of the key: it is
// code.
func (q Cells) Compile(sizes []int, units bool) (access.Compiled, error) {
	if q.Rule == nil {
		return access.Compiled{}, fmt.Errorf("a histogram without a rule")
	}
	rule, size := q.Rule, q.Rule.Size()
	if size < 1 || size > access.MaxCells {
		return access.Compiled{}, fmt.Errorf("a histogram of %d cells, 1 to %d are possible",
			size, access.MaxCells)
	}
	key := binary.LittleEndian.AppendUint32([]byte("cells"), uint32(size))
	return access.Seal(access.Counted{Kind: q.Kind(), Key: string(key), What: "histogram", Cells: size,
		Code:  true,
		Count: func(rows access.Rows) []int64 { return countCells(rows.Table(), rule, size) },
	}, sizes, units), nil
}

// countCells counts the rows of a table by cell.
func countCells(t *table.Table, rule Rule, size int) []int64 {
	counts := make([]int64, size)
	dst := make([]uint32, min(cellBlock, t.Rows()))
	columns := make([]table.Codes, len(t.Schema().Columns))
	for from := 0; from < t.Rows(); from += cellBlock {
		to := min(from+cellBlock, t.Rows())
		for c := range columns {
			columns[c] = slice(t.Column(c), from, to)
		}
		block := dst[: to-from : to-from]
		clear(block)                        // of the rows before
		if !cellsTo(block, rule, columns) { // row by row, so that no row decides on the cell of another
			one := make([]table.Codes, len(columns))
			for i := range block {
				for c := range one {
					one[c] = slice(t.Column(c), from+i, from+i+1)
				}
				block[i] = 0
				if !cellsTo(block[i:i+1:i+1], rule, one) {
					block[i] = uint32(size - 1)
				}
			}
		}
		for _, cell := range block {
			counts[min(int64(cell), int64(size-1))]++
		}
	}
	return counts
}

// cellsTo calls foreign code, and reports whether it came back.
func cellsTo(dst []uint32, rule Rule, columns []table.Codes) bool {
	return access.Guard(func() { rule.CellsTo(dst, columns) })
}

// slice is a copy of the codes of some rows: foreign code that writes in it changes no row.
func slice(c table.Codes, from, to int) table.Codes {
	return table.Codes{
		U8:  slices.Clone(c.U8[min(from, len(c.U8)):min(to, len(c.U8))]),
		U16: slices.Clone(c.U16[min(from, len(c.U16)):min(to, len(c.U16))]),
	}
}
