package privacy

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/table"
)

// counter counts a validated marginal.
type counter struct {
	cols    []int
	merged  int       // cells, after merging
	offsets [][]int32 // what each code of a column adds to the number of the merged cell, row-major; nil without groups
}

// counter validates m against the schema, without reading a row.
func (s *session) counter(m Marginal) (counter, error) {
	all := s.schema.Sizes()
	c := counter{cols: m.Cols, merged: 1}
	cells := 1
	if m.Groups != nil && len(m.Groups) != len(m.Cols) {
		return c, fmt.Errorf("the marginal has groups for %d of %d columns", len(m.Groups), len(m.Cols))
	}
	seen := make(map[int]bool, len(m.Cols))
	groups := make([]int, len(m.Cols))
	for i, col := range m.Cols {
		if col < 0 || col >= len(all) || seen[col] {
			return c, fmt.Errorf("column %d is not in the schema or is named twice", col)
		}
		seen[col] = true
		if cells > MaxCells/all[col] {
			return c, fmt.Errorf("the marginal over columns %v has more than %d cells", m.Cols, MaxCells)
		}
		cells *= all[col]
		groups[i] = all[col]
		if m.Groups != nil && m.Groups[i] != nil {
			n, err := groupCount(m.Groups[i], all[col])
			if err != nil {
				return c, fmt.Errorf("column %d: %w", col, err)
			}
			groups[i] = n
		}
		c.merged *= groups[i]
	}
	if !slices.ContainsFunc(m.Groups, func(g []uint16) bool { return g != nil }) {
		return c, nil
	}
	c.offsets = make([][]int32, len(m.Cols))
	stride := int32(1)
	for i := len(m.Cols) - 1; i >= 0; i-- {
		c.offsets[i] = make([]int32, all[m.Cols[i]])
		for code := range c.offsets[i] {
			g := int32(code)
			if m.Groups[i] != nil {
				g = int32(m.Groups[i][code])
			}
			c.offsets[i][code] = g * stride
		}
		stride *= int32(groups[i])
	}
	return c, nil
}

// groupCount is the number of groups of a map from size codes.
func groupCount(of []uint16, size int) (int, error) {
	if len(of) != size {
		return 0, fmt.Errorf("%d codes in the groups, %d in the schema", len(of), size)
	}
	used := make([]bool, size)
	n := 0
	for _, g := range of {
		if int(g) >= size {
			return 0, fmt.Errorf("group %d of %d codes", g, size)
		}
		if !used[g] {
			used[g] = true
			n++
		}
	}
	for g := range n {
		if !used[g] {
			return 0, fmt.Errorf("group numbers have gaps")
		}
	}
	return n, nil
}

// count reads the rows.
func (c counter) count(t *table.Table) []int64 {
	counts := make([]int64, c.merged)
	if c.offsets == nil {
		t.CountTo(counts, c.cols)
		return counts
	}
	var cell [4096]int32
	for lo := 0; lo < t.Rows(); lo += len(cell) {
		n := min(len(cell), t.Rows()-lo)
		clear(cell[:n])
		for i, col := range c.cols {
			codes := t.Column(col)
			if codes.U8 != nil {
				addOffsets(cell[:n], c.offsets[i], codes.U8[lo:])
			} else {
				addOffsets(cell[:n], c.offsets[i], codes.U16[lo:])
			}
		}
		for _, k := range cell[:n] {
			counts[k]++
		}
	}
	return counts
}

func addOffsets[C uint8 | uint16](cell, offset []int32, codes []C) {
	codes = codes[:len(cell)]
	for r, code := range codes {
		cell[r] += offset[code]
	}
}

// positive reports whether x is a usable parameter.
func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
