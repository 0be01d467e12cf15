package privacy

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/table"
)

// counter counts a validated marginal.
type counter struct {
	cols   []int
	sizes  []int   // codes a column
	cells  int     // cells before merging
	cell   []int32 // merged cell of each cell; nil without groups
	merged int     // cells after merging
}

// counter validates m against the schema, without reading a row.
func (s *Session) counter(m Marginal) (counter, error) {
	all := s.schema.Sizes()
	c := counter{cols: m.Cols, cells: 1, merged: 1}
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
		if c.cells > MaxCells/all[col] {
			return c, fmt.Errorf("the marginal over columns %v has more than %d cells", m.Cols, MaxCells)
		}
		c.sizes = append(c.sizes, all[col])
		c.cells *= all[col]
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
	if c.merged < c.cells {
		c.cell = mergedCells(m.Groups, c.sizes, groups, c.cells)
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

// mergedCells maps each cell over the codes to its cell over the groups, both row-major.
func mergedCells(of [][]uint16, sizes, groups []int, cells int) []int32 {
	out := make([]int32, 1, cells)
	for i, size := range sizes {
		next := make([]int32, 0, len(out)*size)
		for _, prefix := range out {
			for code := range size {
				g := int32(code)
				if of[i] != nil {
					g = int32(of[i][code])
				}
				next = append(next, prefix*int32(groups[i])+g)
			}
		}
		out = next
	}
	return out
}

// count reads the rows.
func (c counter) count(t *table.Table) []int64 {
	counts := make([]int64, c.cells)
	t.CountTo(counts, c.cols)
	if c.cell == nil {
		return counts
	}
	merged := make([]int64, c.merged)
	for i, n := range counts {
		merged[c.cell[i]] += n
	}
	return merged
}

// positive reports whether x is a usable parameter.
func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
