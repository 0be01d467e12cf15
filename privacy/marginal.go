package privacy

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MaxCells is the most cells of a query.
const MaxCells = access.MaxCells

// Marginal is the contingency table over some columns of the schema: row-major, the last column
// fastest. The codes of a column may be merged into groups, which the caller chose from public or
// already noised knowledge; a row is still in exactly one cell.
type Marginal struct {
	Cols []int // distinct columns, in any order
	// Groups is nil, or has one entry a column: nil, or the group of each code, numbered from 0.
	Groups [][]uint16
}

func (Marginal) kind() access.Kind { return access.RowCells }

// compile returns only copies of what is in m, taken before they were checked.
func (m Marginal) compile(sizes []int, _ bool) (access.Counted, error) {
	fail := func(format string, args ...any) (access.Counted, error) {
		return access.Counted{}, fmt.Errorf("a marginal: "+format, args...)
	}
	cols := slices.Clone(m.Cols)
	if m.Groups != nil && len(m.Groups) != len(cols) {
		return fail("groups for %d of %d columns", len(m.Groups), len(cols))
	}
	key := binary.LittleEndian.AppendUint32([]byte("marginal"), uint32(len(cols)))
	offsets := make([][]int32, len(cols)) // what a code adds to the number of the cell
	groups, before, what := make([]int, len(cols)), 1, "counts of columns"
	for i, col := range cols {
		if col < 0 || col >= len(sizes) || slices.Contains(cols[:i], col) {
			return fail("column %d is not in the schema or is named twice", col)
		}
		what += fmt.Sprintf(" %d", col+1)
		key = binary.LittleEndian.AppendUint32(key, uint32(col))
		groups[i], offsets[i] = sizes[col], make([]int32, sizes[col])
		var of []uint16
		if m.Groups != nil && m.Groups[i] != nil {
			of = slices.Clone(m.Groups[i])
			if len(of) != sizes[col] || int(slices.Max(of)) >= len(of) {
				return fail("column %d: its groups must be %d numbers below that", col, sizes[col])
			}
			groups[i] = int(slices.Max(of)) + 1
		}
		if before > MaxCells/groups[i] {
			return fail("columns %v have more than %d cells", cols, MaxCells)
		}
		before *= groups[i]
		key = append(key, byte(min(1, len(of))))
		for code := range offsets[i] {
			if offsets[i][code] = int32(code); of != nil {
				offsets[i][code] = int32(of[code])
				key = binary.LittleEndian.AppendUint16(key, of[code])
			}
		}
	}
	cells := 1
	for i := len(cols) - 1; i >= 0; i-- {
		for code := range offsets[i] {
			offsets[i][code] *= int32(cells)
		}
		cells *= groups[i]
	}
	return access.Counted{Kind: m.kind(), Key: string(key), What: what, Cells: cells, Cols: cols,
		Offsets: offsets}, nil
}

// countTo counts the rows in cells: the cell of a row is the sum of its codes' offsets.
// With weights, one a row, these are added up.
func countTo(
	counts []int64, t *table.Table, weights []uint32, cols []int, offsets [][]int32,
) {
	var buffer [4096]int32
	for lo := 0; lo < t.Rows(); lo += len(buffer) {
		cell := buffer[:min(len(buffer), t.Rows()-lo)]
		clear(cell)
		for i, col := range cols {
			codes, offset := t.Column(col), offsets[i]
			if codes.U8 != nil {
				of := codes.U8[lo:][:len(cell)]
				for r := range cell {
					cell[r] += offset[of[r]]
				}
				continue
			}
			of := codes.U16[lo:][:len(cell)]
			for r := range cell {
				cell[r] += offset[of[r]]
			}
		}
		if weights != nil {
			of := weights[lo:][:len(cell)]
			for r, k := range cell {
				counts[k] += int64(of[r])
			}
			continue
		}
		for _, k := range cell {
			counts[k]++
		}
	}
}
