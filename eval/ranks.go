package eval

import (
	"math"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

const (
	mostSampled = 20_000 // rows whose numbers are kept together
	rankGroups  = 256    // that numbers are cut into
)

// numbersOf is the numbers of a row of text, of categories also: NaN where a cell is none.
func (v *Values) numbersOf(row []string, width int) []float64 {
	out := slices.Repeat([]float64{math.NaN()}, len(v.columns))
	for i, c := range v.columns {
		if len(row) != width || c.at < 0 || c.codec.Column().After != "" {
			continue
		}
		cell := row[c.at]
		code, err := c.codec.EncodeText([]byte(cell))
		if err == nil && int(code) == c.codec.Values() {
			continue
		}
		if x, ok := c.codec.ParseValue(cell); ok {
			out[i] = x
		} else if x, err := strconv.ParseFloat(cell, 64); err == nil && !c.ordered() {
			out[i] = x
		}
	}
	return out
}

// WithCells puts what the correlation of the ranks of numbers, in the cells as the files have them,
// lost of a pair in the place of what its codes did, where that is more. The schema may have moved
// the cells of both tables, which codes cannot show. Ranks are those among the real numbers.
func (a *AssociationLosses) WithCells(real, synthetic *Values) error {
	s := &schema.Schema{}
	for _, c := range real.columns {
		ranks := schema.CountColumn(c.name, rankGroups)
		ranks.Missing = []string{""}
		s.Columns = append(s.Columns, ranks)
	}
	var ranked []*table.Table
	for _, v := range []*Values{real, synthetic} {
		codes := make([]table.Codes, len(s.Columns))
		for k := range codes {
			codes[k] = table.NewCodes(rankGroups+1, len(v.sampled))
			var sorted []float64
			for _, row := range real.sampled {
				if x := row[k]; x == x {
					sorted = append(sorted, x)
				}
			}
			slices.Sort(sorted)
			for i, row := range v.sampled {
				code, x := rankGroups, row[k] // missing
				if x == x && sorted != nil {
					twice := first(sorted, x) + first(sorted, math.Nextafter(x, math.Inf(1)))
					code = twice * (rankGroups - 1) / (2 * len(sorted))
				}
				codes[k].Set(i, uint16(code))
			}
		}
		t, err := table.FromColumns(s, codes, nil)
		if err != nil {
			return err
		}
		ranked = append(ranked, t)
	}
	cells, err := LostAssociations(ranked[0], ranked[1], nil)
	if err != nil {
		return err
	}
	of := map[[2]string]PairLoss{}
	for _, p := range cells.Pairs {
		of[[2]string{p.First, p.Second}] = p
	}
	for i, p := range a.Pairs {
		if q := of[[2]string{p.First, p.Second}]; q.Certain && q.Excess > p.Excess {
			a.Pairs[i] = q
		}
	}
	a.sort()
	return nil
}
