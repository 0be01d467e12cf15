package workload

import (
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

// Fine says how the codes of a column are cut into finer ones, by which a condition tells values
// inside a bin apart: see [schema.Codec.Cut].
type Fine struct {
	Codec *schema.Codec // of the finer codes
	Of    []uint16      // of each finer code, the code
	Share []float64     // of each, the probability that a value drawn for its code falls into it
}

func fineOf(c *schema.Codec, at []float64) (f Fine) {
	f.Codec, f.Of, f.Share = c.Cut(at)
	return f
}

// Drawn is the item about values that other codecs, of each column, draw for the same codes.
func (it Item) Drawn(codecs []*schema.Codec) Item {
	fine := it.Fine
	it.Fine = nil
	for c, f := range fine {
		var at []float64
		for code := range f.Codec.Values() {
			lo, _ := f.Codec.Bin(uint16(code))
			at = append(at, lo)
		}
		if it.Fine == nil {
			it.Fine = map[int]Fine{}
		}
		it.Fine[c] = fineOf(codecs[c], at)
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

// sizes are the numbers of codes that the condition of an item is about.
func (it Item) sizes(sizes []int) []int {
	out := slices.Clone(sizes)
	for c, f := range it.Fine {
		out[c] = len(f.Of)
	}
	return out
}

// products writes the condition of a count as disjoint products and calls do with each: of each
// column that it restricts, which codes (of a column of Fine, finer ones) are allowed, and the
// share of each of the sizes[c] codes of the column that is. More than 4096 products are refused
// (ErrTooLarge).
func (it Item) products(
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
	err := it.products(t.Schema().Sizes(), func(_ map[int][]bool, shares map[int][]float64) {
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
