package eval

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
)

// Doubts are what somebody who knows the real table would see in synthetic rows at a glance.
type Doubts struct {
	// Columns in which nearly all rows have the code of a cell that cannot be read: a missing one,
	// the category for others, or the bin in the middle. A wrong separator, decimal commas or texts
	// in a column of numbers look like that.
	Unreadable []string
	Reversed   []Reversal // pairs of dates that may have an order, as [Reversals] without real rows
}

// DoubtsOf looks at synthetic rows alone. It draws their values inside bins with u, as those do who
// write the rows.
func DoubtsOf(t *table.Table, u *rand.Rand) (d Doubts, err error) {
	const nearlyAll, manyBins, seldom = .95, 5, .01 // shares of the rows; bins of a number
	if t.Rows() == 0 {
		return d, nil
	}
	codecs, err := t.Schema().Codecs()
	if err != nil {
		return d, err
	}
	times := 0
	for i, c := range codecs {
		column := c.Column()
		if column.Kind.Stored() >= schema.StoredDays {
			times++
		}
		isCode := len(column.Missing) > 0 || column.Other != "" ||
			column.Kind.Ordered() && c.Size() >= manyBins
		rows := float64(t.Counts(i)[c.Unreadable()])
		if isCode && rows >= nearlyAll*float64(t.Rows()) {
			d.Unreadable = append(d.Unreadable, column.Name)
		}
	}
	if times < 2 {
		return d, nil
	}
	cells, err := NewValues(t.Schema(), t.Schema().Names(), func(yield func([]string) bool) {
		row := make([]string, len(codecs))
		for r := range t.Rows() {
			for i, c := range codecs {
				row[i] = string(c.AppendText(nil, c.Decode(t.Column(i).At(r), u)))
			}
			yield(row)
		}
	})
	if err == nil {
		d.Reversed = Reversals(nil, cells, seldom)
	}
	return d, err
}

// Reversal is two columns of dates or times, and the shares of the rows of each table in which the
// second is before the first. Alike columns are of one kind and format, so that one can be what the
// other is after.
type Reversal struct {
	First, Second   string
	Real, Synthetic float64
	Alike           bool
}

// mostReversed is the share of the real rows up to which two dates have an order.
const mostReversed = .01

// Reversals lists the columns of dates or times that have an order in all but a hundredth of the
// real rows and break it in at least the given share of the synthetic ones, beyond chance; the
// worst first. Without real rows (nil) the order is that which most synthetic rows have. The tables
// must have one schema; at most 20,000 rows of each are looked at.
func Reversals(real, synthetic *Values, share float64) (out []Reversal) {
	known := cmp.Or(real, synthetic)
	for b := range known.columns {
		for a := range b {
			first, second := a, b
			if known.reversed(a, b) > known.reversed(b, a) {
				first, second = b, a
			}
			x, y := known.columns[first].codec.Column(), known.columns[second].codec.Column()
			r := Reversal{x.Name, y.Name, 0, synthetic.reversed(first, second),
				x.Kind == y.Kind && x.Format == y.Format}
			certain := r.Synthetic > 0
			if real != nil {
				r.Real = real.reversed(first, second)
				certain = differ(r.Real, float64(len(real.sampled))/real.designEffect(), r.Synthetic,
					float64(len(synthetic.sampled))/synthetic.designEffect())
			}
			if certain && r.Synthetic >= share && r.Real <= mostReversed {
				out = append(out, r)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Reversal) int {
		return cmp.Compare(b.Synthetic, a.Synthetic)
	})
	return out
}

// reversed is the share of the rows whose second number is before the first; 0 if one of the
// columns is none of dates or times. These are compared by days if one has no time of day.
func (v *Values) reversed(first, second int) (share float64) {
	const day = 24 * 60 * 60 * 1e6
	stored := func(at int) schema.Stored { return v.columns[at].codec.Column().Kind.Stored() }
	a, b := stored(first), stored(second)
	if min(a, b) < schema.StoredDays {
		return 0
	}
	for _, row := range v.sampled {
		x, y := row[first], row[second]
		if a == schema.StoredMicros && b == schema.StoredDays {
			x = math.Floor(x / day)
		} else if a == schema.StoredDays && b == schema.StoredMicros {
			y = math.Floor(y / day)
		}
		if y < x { // not if one is missing
			share += 1 / float64(len(v.sampled))
		}
	}
	return share
}
