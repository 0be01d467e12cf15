package analysis

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/schema"
)

// The rule for bounds. The values of a column lie together: from the cells that stand out the most
// the bounds move outward for as long as what they take in stands out a little. Cells far away
// count only if they stand out for themselves. The limits are in standard deviations of the noise.
// On the tables of docs/benchmarks.md one schema in some hundred has a bound ten times too far.
const (
	core      = 5.0 // of the heaviest run of cells, or nothing is known of the column
	coreUsual = 4.0 // of one whose values have a usual size: there are fewer of these
	next      = 2.4 // of cells next to the bounds
	behind    = 4.0 // of a power of two that one other lies between
	apart     = 5.0 // of cells that more lie between
	far       = 3.5 // of cells next to the bounds for more than a power of two
)

// Numbers of a usual size, which are not all negative.
const (
	usualLeast = 1. / 16
	usualMost  = 1 << 14
)

// The rule looks for what stands out in so many powers of two at most, and for tails in fewer.
const (
	widest = 8
	tails  = 3
)

// extent is the first and the last cell of what the noisy counts show, and false if that is
// nothing. A power of two has perPower cells. usual says of a run of cells that their values have a
// usual size.
func extent(
	counts []float64, perPower int, sigma float64, usual func(first, last int) bool,
) (first, last int, ok bool) {
	sums := make([]float64, len(counts)+1)
	for i, n := range counts {
		sums[i+1] = sums[i] + n
	}
	mass := func(from, to int) float64 { return sums[to] - sums[from] } // of from to to−1
	noise := func(cells int) float64 { return sigma * math.Sqrt(float64(cells)) }

	perPower = max(perPower, 1)
	best := 0.0
	for w := 1; w <= min(widest*perPower, len(counts)); w *= 2 {
		for from := 0; from+w <= len(counts); from++ {
			least := core
			if usual(from, from+w-1) {
				least = coreUsual
			}
			if z := mass(from, from+w) / noise(w); z > max(best, least) {
				best, first, last, ok = z, from, from+w-1, true
			}
		}
	}
	if !ok {
		return 0, 0, false
	}
	sides := []bool{true, false} // upwards, and downwards
	// of w cells beyond so many behind a bound, −1 for those that there are not
	beyond := func(up bool, gap, w int) float64 {
		from := last + 1 + gap
		if !up {
			from = first - gap - w
		}
		if from < 0 || from+w > len(counts) {
			return -1
		}
		return mass(from, from+w)
	}
	move := func(up bool, cells int) {
		if up {
			last += cells
		} else {
			first -= cells
		}
	}
	for w := widest / 2 * perPower; w >= perPower; w /= 2 { // the run may have empty ends
		for _, up := range sides {
			if last-first >= w && beyond(up, -w, w) <= next*noise(w) {
				move(up, -w)
			}
		}
	}
	for wider := true; wider; {
		for _, up := range sides {
			for w := 1; w <= tails*perPower; w++ {
				limit := next
				if w > perPower {
					limit = far
				}
				if beyond(up, 0, w) > limit*noise(w) {
					move(up, w)
					w = 0
				}
			}
		}
		for _, up := range sides {
			if beyond(up, perPower, perPower) > behind*noise(perPower) {
				move(up, 2*perPower)
			}
		}
		wider = false
		for w := 1; w <= 2*perPower && !wider; w *= 2 {
			for from := 0; from+w <= len(counts); from++ {
				if (from > last || from+w <= first) && mass(from, from+w) > apart*noise(w) {
					first, last, wider = min(first, from), max(last, from+w-1), true
				}
			}
		}
	}
	return first, last, true
}

// sentinels are numbers that people write for missing. −1 is not among them: it has a cell of its
// own, and hence a bin.
var sentinels = []float64{-9999, -999, -99, -9, 99, 999, 9999}

// spikesOf makes a cell of its own of each sentinel whose cell stands out, while there is nothing
// from half to twice its size, and nothing beyond.
func spikesOf(in []magnitude, sigma float64) {
	for _, x := range sentinels {
		at := slices.IndexFunc(in, func(c magnitude) bool { return c.lo <= x && x <= c.hi })
		if at < 0 || in[at].rows <= apart*sigma {
			continue
		}
		rows, cells := 0.0, 0.0
		for i, c := range in {
			switch size := max(c.lo/x, c.hi/x); {
			case i == at || size <= .5:
			case size <= 2:
				rows, cells = rows+c.rows, cells+1
			case c.rows > apart*sigma:
				rows = math.Inf(1)
			}
		}
		if rows < next*sigma*math.Sqrt(cells) {
			in[at].lo, in[at].hi = x, x
		}
	}
}

// magnitude is one of the public cells of the magnitudes, with its noisy count.
type magnitude struct {
	lo, hi float64 // the smallest and the greatest value
	rows   float64
	sigma  float64 // of the noise of rows
	part   int     // of which cell it is one, counted from 1; 0: it is whole
}

// possible is the cells that may hold a value: whole numbers, and numbers of few decimals, leave
// some empty, which would be noise alone.
func possible(m schema.Magnitudes, decimals int, counts []int64, sigma float64) []magnitude {
	var out []magnitude
	for i, n := range counts {
		lo, hi := m.Bounds(i)
		// the smallest number that is not zero is one with so many decimals
		if lo <= hi && (lo == hi || m.Kind.Stored() != schema.StoredFloat || decimals == 0 ||
			max(-lo, hi) > math.Pow(10, -float64(decimals))) {
			out = append(out, magnitude{lo: lo, hi: hi, rows: float64(n), sigma: sigma})
		}
	}
	return out
}

// farthest is what the last of a kind's cells ends with, which takes in what is beyond; +Inf: none
// does.
func farthest(k schema.Kind) float64 {
	switch k.Stored() {
	case schema.StoredInt:
		return 1<<53 - 1
	case schema.StoredFloat:
		return 1 << 64
	}
	return math.Inf(1)
}

// outermost is as far as numbers are read.
const outermost = 1e300

// nearZero is the part of the larger bound within which the smaller one is moved to zero: there the
// cells are finer than the noise allows to see.
const nearZero = 0.13

// bounds makes a column of the noisy magnitudes that may hold its values, and says which of these
// are within its bounds; nil if none stands out.
func bounds(name string, m schema.Magnitudes, in []magnitude, v *judged, sigma float64) (
	*schema.Column, []magnitude,
) {
	numbers := m.Kind.Stored() == schema.StoredInt || m.Kind.Stored() == schema.StoredFloat
	if numbers {
		spikesOf(in, sigma)
	}
	rows := make([]float64, len(in))
	for i, c := range in {
		rows[i] = c.rows
	}
	for _, token := range v.missing { // a number that is declared to mean missing
		if at, ok := m.Of([]byte(token)); ok {
			lo, hi := m.Bounds(at)
			for i := range in {
				if in[i].lo == lo && in[i].hi == hi {
					rows[i] = 0
				}
			}
		}
	}
	first, last, ok := extent(rows, m.PerPower, sigma, func(first, last int) bool {
		size := max(math.Abs(in[first].lo), math.Abs(in[last].hi))
		return !numbers || size == 0 ||
			in[last].hi >= 0 && size >= usualLeast && size <= usualMost
	})
	if !ok {
		v.note = "left out: its values are spread so thin that none of their magnitudes stands out " +
			"of the noise"
		return nil, nil
	}
	few := numbers && v.values < coarseRows*sigma
	all := in
	in = inner(in[first : last+1])
	if numbers {
		in = oneSign(in)
	}
	if c := &in[0]; c.lo < c.hi && c.hi == -1 && !few &&
		(len(in) == 1 || in[1].rows <= clear*sigma) { // alone, and so a code: its cell holds its end
		c.lo = -1
	}
	for _, c := range in {
		if limit := farthest(m.Kind); (c.lo <= -limit || c.hi >= limit) && c.rows > clear*sigma {
			v.doubt = fmt.Sprintf("about %.0f numbers are near %.2g or beyond, where all are read as that: "+
				"give them another unit in a copy of the table", c.rows, limit)
		}
	}
	c := v.ordered(name, in, few, sigma)
	v.beyond = v.cutOff(all, in, tails*max(1, m.PerPower), c.Min == in[0].lo)
	return c, in
}

// cutOff is the rows that the bounds cut off, by two noisy sums: of so many cells next to those
// within the bounds at either end, and of all values but those within. Below them there is nothing
// to cut off where the bounds begin before the cells (not below). The second sum has cells that are
// missing in it, unless they were seen: what the first does not show may be these.
func (v *judged) cutOff(all, within []magnitude, near int, below bool) noisy {
	first := slices.Index(all, within[0])
	last := first + len(within) - 1
	next, rest := noisy{}, noisy{v.values, v.noise}
	for i, m := range all {
		if i <= last && (i >= first || !below) {
			rest = rest.add(-m.rows, m.sigma)
		} else if i >= first-near && i <= last+near {
			next = next.add(m.rows, m.sigma)
		}
	}
	if next.sigma == 0 {
		return next
	}
	v.astray = next.rows <= surely*next.sigma ||
		rest.rows-next.rows > surely*math.Hypot(rest.sigma, next.sigma)
	a, b := 1/(next.sigma*next.sigma), 1/(rest.sigma*rest.sigma)
	return noisy{(a*next.rows + b*rest.rows) / (a + b), 1 / math.Sqrt(a+b)}
}

// inner cuts off the cells that are beyond twice the span of all but heavyTail of the rows.
func inner(in []magnitude) []magnitude {
	const heavyTail = .0005 // on either side
	total := 0.0
	for _, c := range in {
		total += c.rows
	}
	first, last := 0, len(in)-1
	for rows := in[last].rows; last > first && rows <= heavyTail*total; rows += in[last].rows {
		last--
	}
	for rows := in[first].rows; first < last && rows <= heavyTail*total; rows += in[first].rows {
		first++
	}
	margin := (in[last].hi - in[first].lo) / 2
	from, to := first, last
	for from > 0 && in[from-1].lo >= in[first].lo-margin {
		from--
	}
	for to < len(in)-1 && in[to+1].hi <= in[last].hi+margin {
		to++
	}
	return in[from : to+1]
}

// oneSign cuts off the cells of the sign that fewer numbers have, unless these are as many as cells
// that are apart must be: most counts, years and amounts are never negative, and noise beside zero
// would make some of them so.
func oneSign(in []magnitude) []magnitude {
	zero := slices.IndexFunc(in, func(c magnitude) bool { return c.hi >= 0 })
	if zero <= 0 {
		return in
	}
	below, above := noisy{}, noisy{}
	for i, c := range in {
		if i < zero {
			below = below.add(c.rows, c.sigma)
		} else {
			above = above.add(c.rows, c.sigma)
		}
	}
	if below.rows <= apart*below.sigma && below.rows < minor*above.rows {
		return in[zero:]
	}
	return in
}

// minor is the most that noise beside zero holds, as a part of the numbers of the other sign.
const minor = .25

// ordered is a column of an ordered kind whose values are in these cells.
func (v *judged) ordered(name string, in []magnitude, few bool, sigma float64) *schema.Column {
	c := &schema.Column{Name: name, Kind: v.kind, Format: v.format, OnInvalid: schema.Clamp,
		Min: in[0].lo, Max: in[len(in)-1].hi}
	if c.Kind.Stored() == schema.StoredInt || c.Kind.Stored() == schema.StoredFloat {
		if c.Min > 0 && c.Min <= c.Max*nearZero && in[0].part == 0 {
			c.Min = 0
		}
		if c.Min == 2 && c.Max < fewCodes && v.kind == schema.Integer { // scales begin with 0 or 1
			c.Min = 1
		}
		if c.Max < 0 && c.Max >= c.Min*nearZero && in[len(in)-1].part == 0 {
			c.Max = 0
		}
		switch { // a column of one value says nothing
		case c.Min <= 0 && (c.Max == 0 || few && c.Max > 0 && c.Max < 1): // a flag, whose 1 is rare
			c.Max = 1
		case c.Min == c.Max && c.Kind.Stored() == schema.StoredInt && in[0].part == 0:
			c.Min, c.Max = max(c.Min-1, -farthest(c.Kind)), min(c.Max+1, farthest(c.Kind))
		}
	}
	c.Edges = edges(c, in, sigma)
	if c.Kind.Stored() == schema.StoredFloat {
		tidy(c, v.decimals, in)
	}
	c.Missing = slices.DeleteFunc(slices.Clone(v.missing), func(token string) bool {
		x, err := strconv.ParseFloat(token, 64) // a schema has no token among its values
		return err == nil && x >= c.Min && x <= c.Max
	})
	return c
}
