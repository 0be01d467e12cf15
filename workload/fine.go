package workload

import (
	"math"

	"github.com/decoy-dp/decoy/table"
)

// Fine says how the codes of a column are cut into finer ones, by which a condition tells values
// inside a bin apart.
type Fine struct {
	of    []uint16  // of each finer code, the code
	share []float64 // of each, the probability that a value drawn for its code falls into it
}

// cuts are where conditions cut bins, by column.
type cuts map[int][]float64

// add notes that a bin is to begin at x.
func (k cuts) add(column int, x float64) { k[column] = append(k[column], x) }

// within reads a condition that may cut bins anywhere: once to see where, and once with columns
// whose bins begin there. Without a cut the item is as any other.
func (p *fileParser) within(read func(columns func(string) (column, error)) (table.Expr, error)) (
	x table.Expr, fine map[int]Fine, err error,
) {
	if !p.fine {
		x, err = read(p.column)
		return x, nil, err
	}
	found := cuts{}
	x, err = read(func(name string) (column, error) {
		c, err := p.column(name)
		c.cuts = found
		return c, err
	})
	if err != nil || len(found) == 0 {
		return x, nil, err
	}
	fine = map[int]Fine{}
	x, err = read(func(name string) (column, error) {
		c, err := p.column(name)
		if at := found[c.index]; err == nil && at != nil {
			var f Fine
			c.codec, f.of, f.share = c.codec.Cut(at)
			fine[c.index] = f
		}
		return c, err
	})
	return x, fine, err
}

// sizes are the numbers of codes that the condition of an item is about.
func (it Item) sizes(sizes []int) []int {
	if it.Fine == nil {
		return sizes
	}
	out := append([]int(nil), sizes...)
	for c, f := range it.Fine {
		out[c] = len(f.of)
	}
	return out
}

// shares writes the condition of a count as disjoint products and calls do with each: of each
// column that it restricts, the share of each code that is allowed.
func (it Item) shares(sizes []int, do func(shares map[int][]float64)) error {
	return Products(it.Where, it.sizes(sizes), func(allow map[int][]bool) {
		out := make(map[int][]float64, len(allow))
		for c, codes := range allow {
			out[c] = make([]float64, sizes[c])
			for code, ok := range codes {
				switch f, cut := it.Fine[c]; {
				case ok && cut:
					out[c][f.of[code]] += f.share[code]
				case ok:
					out[c][code] = 1
				}
			}
		}
		do(out)
	})
}

// onTable is the expected number of rows of a table whose values, drawn for their codes, satisfy
// the condition of the item.
func (it Item) onTable(t *table.Table) (float64, error) {
	sum := 0.0
	err := it.shares(t.Schema().Sizes(), func(shares map[int][]float64) {
		for r := range t.Rows() {
			p := 1.0
			for c, share := range shares {
				p *= share[t.Column(c).At(r)]
			}
			sum += p
		}
	})
	return sum, err
}

// next is the least number above x that a bin can begin at: whole values are 1 apart.
func next(x float64, whole bool) float64 {
	if whole {
		return x + 1
	}
	return math.Nextafter(x, math.Inf(1))
}
