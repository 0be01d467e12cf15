package eval

import (
	"cmp"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/schema"
)

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
				certain = apart(r.Real, float64(len(real.together))/real.alike(), r.Synthetic,
					float64(len(synthetic.together))/synthetic.alike())
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
	for _, row := range v.together {
		x, y := row[first], row[second]
		if a == schema.StoredMicros && b == schema.StoredDays {
			x = math.Floor(x / day)
		} else if a == schema.StoredDays && b == schema.StoredMicros {
			y = math.Floor(y / day)
		}
		if y < x { // not if one is missing
			share += 1 / float64(len(v.together))
		}
	}
	return share
}
