package eval

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/table"
)

const maxBins = 256 // of a column that trees split on

// binning maps the codes of the columns that trees split on to at most 256 bins.
type binning struct {
	columns []binColumn
}

// binColumn is one column of a binning.
type binColumn struct {
	position int
	column   column
	bin      []uint8 // of every code
	size     int
	ordered  bool // bins are in the order of the numbers; missing, if any, is the last
	missing  int  // its bin, or −1
}

// newBinning decides the bins from the rows to train on. Columns of more than 256 codes lose some:
// numbers share bins of about equally many rows, the rarest categories share the last.
func newBinning(t *table.Table, drop []string) (*binning, error) {
	columns, err := compatible(t)
	if err != nil {
		return nil, err
	}
	take, err := without(t.Schema(), drop)
	if err != nil {
		return nil, err
	}
	b := &binning{}
	for _, i := range take {
		c := binColumn{position: i, column: columns[i], ordered: columns[i].numeric(), missing: -1}
		count := make([]int64, c.column.size)
		t.CountTo(count, []int{i})
		if c.ordered {
			c.group(count)
		} else {
			c.rank(count)
		}
		b.columns = append(b.columns, c)
	}
	return b, nil
}

// group gives every number a bin, or where they are too many, neighbours a
// common one as soon as they fill their share of the rows and bins still left.
// Numbers that no row has go with the next that one has.
func (c *binColumn) group(count []int64) {
	c.bin = make([]uint8, len(count))
	numbers, room := len(c.column.place), maxBins
	if c.column.missing >= 0 {
		room--
	}
	rest, occur := int64(0), 0
	for _, n := range count[:numbers] {
		rest += n
		if n > 0 {
			occur++
		}
	}
	last := room - 1 // the last bin takes what is left
	bin, in := 0, int64(0)
	for code := range numbers {
		c.bin[code] = uint8(bin)
		in += count[code]
		full := in > 0 && in >= rest/int64(room-bin)
		if numbers <= room {
			full = true
		} else if occur <= room {
			full = in > 0
		}
		if full && bin < last && code+1 < numbers {
			rest -= in
			in = 0
			bin++
		}
	}
	c.size = bin + 1
	if c.column.missing >= 0 {
		c.missing = c.size
		c.bin[c.column.missing] = uint8(c.missing)
		c.size++
	}
}

// rank gives the commonest categories a bin each.
func (c *binColumn) rank(count []int64) {
	group, size := commonest(count, maxBins-1)
	c.bin, c.size = make([]uint8, len(count)), size
	for code, bin := range group {
		c.bin[code] = uint8(bin)
	}
}

// byCount is the codes, the commonest first.
func byCount(count []int64) []int {
	order := allColumns(len(count))
	slices.SortStableFunc(order, func(a, b int) int { return int(count[b] - count[a]) })
	return order
}

// commonest gives each of so many of the commonest codes a group, and all others one in common.
func commonest(count []int64, most int) (group []int, size int) {
	group = make([]int, len(count))
	for rank, code := range byCount(count) {
		group[code] = min(rank, most)
	}
	return group, min(len(count), most+1)
}

// rows returns the bins of all rows of a table with the columns of the binning, column by column.
func (b *binning) rows(t *table.Table) ([][]uint8, error) {
	columns, err := compatible(t)
	if err != nil {
		return nil, err
	}
	out := make([][]uint8, len(b.columns))
	for k, c := range b.columns {
		if c.position >= len(columns) || !columns[c.position].equal(c.column) {
			return nil, fmt.Errorf("eval: the table has no column %d %q as the trees know it: %w",
				c.position+1, c.column.name, ErrTables)
		}
		out[k] = make([]uint8, t.Rows())
		forEachCode(t.Column(c.position), func(i, code int) { out[k][i] = c.bin[code] })
	}
	return out, nil
}
