package workload

import (
	"math"

	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Fine says how the codes of a column are cut into finer ones, by which a condition tells values
// inside a bin apart: see [schema.Codec.Cut].
type Fine struct {
	Codec *schema.Codec // of the finer codes
	Of    []uint16      // of each finer code, the code
	Share []float64     // of each, the probability that a value drawn for its code falls into it
}

// Drawn is the item about values that other codecs, of each column, draw for the same codes.
func (it Item) Drawn(codecs []*schema.Codec) Item {
	fine := it.Fine
	it.Fine = nil
	for c, f := range fine {
		var at []float64
		missing, has := f.Codec.MissingCode()
		for code := range f.Of {
			if !has || code != int(missing) {
				lo, _ := f.Codec.Bin(uint16(code))
				at = append(at, lo)
			}
		}
		f.Codec, f.Of, f.Share = codecs[c].Cut(at)
		if it.Fine == nil {
			it.Fine = map[int]Fine{}
		}
		it.Fine[c] = f
	}
	return it
}

// Drawn is the workload of such items.
func (w *Workload) Drawn(codecs []*schema.Codec) *Workload {
	out := *w
	out.items = make([]Item, len(w.items))
	for i, it := range w.items {
		out.items[i] = it.Drawn(codecs)
	}
	return &out
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
			f.Codec, f.Of, f.Share = c.codec.Cut(at)
			c.codec = f.Codec
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
		out[c] = len(f.Of)
	}
	return out
}

// Products writes the condition of a count as disjoint products and calls do with each: of each
// column that it restricts, which codes (of a column of Fine, finer ones) are allowed, and the
// share of each of the sizes[c] codes of the column that is. More than 4096 products are refused
// (ErrTooLarge).
func (it Item) Products(
	sizes []int, do func(allow map[int][]bool, shares map[int][]float64),
) error {
	return products(it.Where, it.sizes(sizes), func(allow map[int][]bool) {
		out := make(map[int][]float64, len(allow))
		for c, codes := range allow {
			out[c] = make([]float64, sizes[c])
			for code, ok := range codes {
				switch f, cut := it.Fine[c]; {
				case ok && cut:
					out[c][f.Of[code]] += f.Share[code]
				case ok:
					out[c][code] = 1
				}
			}
		}
		do(allow, out)
	})
}

// onTable is the expected number of rows of a table whose values, drawn for their codes, satisfy
// the condition of the item.
func (it Item) onTable(t *table.Table) (float64, error) {
	sum := 0.0
	err := it.Products(t.Schema().Sizes(), func(_ map[int][]bool, shares map[int][]float64) {
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
