package infer

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/decoy-dp/decoy/data/schema"
)

// The rule for bounds. The values of a column lie together: from the cells that stand out the most
// the bounds move outward for as long as what they take in stands out a little. Cells far away
// count only if they stand out for themselves. The limits are in standard deviations of the noise.
// None of 1,440 schemas of cmd/bench/figures/schemas.tsv has a bound ten times too far.
const (
	coreSigmas      = 5.0 // of the heaviest run of cells, or nothing is known of the column
	usualCoreSigmas = 4.0 // of one whose values have a usual size: there are fewer of these
	nextSigmas      = 2.4 // of cells next to the bounds
	gapSigmas       = 4.0 // of a power of two that one other lies between
	distantSigmas   = 5.0 // of cells that more lie between
	tailSigmas      = 3.5 // of cells next to the bounds for more than a power of two
)

// Numbers of a usual size, which are not all negative.
const (
	usualLeast = 1. / 16
	usualMost  = 1 << 14
)

// The rule looks for what stands out in so many powers of two at most, of dates in so many years,
// as of birth, and for tails in a part of these.
const (
	maxRunPowers = 8
	maxRunYears  = 128
	tailPart     = 3. / 8
)

// prefixSums are those of noisy counts before each cell.
type prefixSums []float64

// mass is the rows of the cells from to to−1.
func (s prefixSums) mass(from, to int) float64 { return s[to] - s[from] }

// heaviest is the run of cells that stands out the most; false if none does.
func (s prefixSums) heaviest(
	longest int, noise func(cells int) float64, usual func(first, last int) bool,
) (first, last int, ok bool) {
	best := 0.0
	for w := 1; w <= min(longest, len(s)-1); w *= 2 {
		for from := 0; from+w < len(s); from++ {
			least := coreSigmas
			if usual(from, from+w-1) {
				least = usualCoreSigmas
			}
			if z := s.mass(from, from+w) / noise(w); z > max(best, least) {
				best, first, last, ok = z, from, from+w-1, true
			}
		}
	}
	return first, last, ok
}

// extent is the first and the last cell of what the noisy counts show, and false if that is
// nothing. A power of two has perPower cells, a run of values at most longest. usual says of a run
// of cells that their values have a usual size.
func extent(
	counts []float64, perPower, longest int, sigma float64, usual func(first, last int) bool,
) (first, last int, ok bool) {
	s := make(prefixSums, len(counts)+1)
	for i, n := range counts {
		s[i+1] = s[i] + n
	}
	noise := func(cells int) float64 { return sigma * math.Sqrt(float64(cells)) }
	if first, last, ok = s.heaviest(longest, noise, usual); !ok {
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
		return s.mass(from, from+w)
	}
	move := func(up bool, cells int) {
		if up {
			last += cells
		} else {
			first -= cells
		}
	}
	for w := longest / 2; w >= perPower; w /= 2 { // the run may have empty ends
		for _, up := range sides {
			if last-first >= w && beyond(up, -w, w) <= nextSigmas*noise(w) {
				move(up, -w)
			}
		}
	}
	for wider := true; wider; first, last, wider = s.reach(first, last, perPower, noise) {
		for _, up := range sides {
			for w := 1; w <= int(tailPart*float64(longest)); w++ {
				limit := nextSigmas
				if w > perPower {
					limit = tailSigmas
				}
				if beyond(up, 0, w) > limit*noise(w) {
					move(up, w)
					w = 0
				}
			}
		}
		for _, up := range sides {
			if beyond(up, perPower, perPower) > gapSigmas*noise(perPower) {
				move(up, 2*perPower)
			}
		}
	}
	return first, last, true
}

// reach takes what stands out anywhere into the cells from first to last, and reports whether
// something did.
func (s prefixSums) reach(
	first, last, perPower int, noise func(cells int) float64,
) (int, int, bool) {
	wider := false
	for w := 1; w <= 2*perPower && !wider; w *= 2 {
		for from := 0; from+w < len(s); from++ {
			if (from > last || from+w <= first) && s.mass(from, from+w) > distantSigmas*noise(w) {
				first, last, wider = min(first, from), max(last, from+w-1), true
			}
		}
	}
	return first, last, wider
}

// sentinels are numbers that people write for missing. −1 is not among them: it has a cell of its
// own, and hence a bin.
var sentinels = []float64{-9999, -999, -99, -9, 99, 999, 9999}

// spikesOf makes a cell of its own of each sentinel whose cell stands out, while there is nothing
// from half to twice its size, and nothing beyond.
func spikesOf(in []magnitude, sigma float64) {
	for _, x := range sentinels {
		at := slices.IndexFunc(in, func(c magnitude) bool { return c.lo <= x && x <= c.hi })
		if at < 0 || in[at].rows <= distantSigmas*sigma {
			continue
		}
		rows, cells := 0.0, 0.0
		for i, c := range in {
			switch size := max(c.lo/x, c.hi/x); {
			case i == at || size <= .5:
			case size <= 2:
				rows, cells = rows+c.rows, cells+1
			case c.rows > distantSigmas*sigma:
				rows = math.Inf(1)
			}
		}
		if rows < nextSigmas*sigma*math.Sqrt(cells) {
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
func bounds(name string, m schema.Magnitudes, in []magnitude, v *verdict, sigma float64) (
	*schema.Column, []magnitude,
) {
	numbers := m.Kind.Stored() == schema.StoredInt || m.Kind.Stored() == schema.StoredFloat
	if numbers {
		spikesOf(in, sigma)
	}
	perPower := max(1, m.PerPower)
	longest := maxRunPowers * perPower
	if !numbers {
		longest = maxRunYears
	}
	first, last, ok := extent(v.present(m, in), perPower, longest, sigma, func(first, last int) bool {
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
	in = trimTails(in[first : last+1])
	if numbers {
		in = oneSign(in)
	}
	if c := &in[0]; c.lo < c.hi && c.hi == -1 && !few &&
		(len(in) == 1 || in[1].rows <= clearSigmas*sigma) { // alone, so a code: its cell holds its end
		c.lo = -1
	}
	for _, c := range in {
		if limit := farthest(m.Kind); (c.lo <= -limit || c.hi >= limit) && c.rows > clearSigmas*sigma {
			v.doubt = fmt.Sprintf("about %.0f numbers are near %.2g or beyond, where all are read as that: "+
				"give them another unit in a copy of the table", c.rows, limit)
		}
	}
	c := v.column(name, in, few, sigma)
	v.cutOffRows = v.cutOff(all, in, int(tailPart*float64(longest)), c.Min == in[0].lo)
	return c, in
}

// present is the rows of the magnitudes, none of a number that is declared to mean missing.
func (v *verdict) present(m schema.Magnitudes, in []magnitude) []float64 {
	rows := make([]float64, len(in))
	for i, c := range in {
		rows[i] = c.rows
	}
	for _, token := range v.missing {
		at, ok := m.Of([]byte(token))
		if !ok {
			continue
		}
		lo, hi := m.Bounds(at)
		for i := range in {
			if in[i].lo == lo && in[i].hi == hi {
				rows[i] = 0
			}
		}
	}
	return rows
}

// cutOff is the rows that the bounds cut off, by two noisy sums: of so many cells next to those
// within the bounds at either end, and of all values but those within. Below them there is nothing
// to cut off where the bounds begin before the cells (not below). The second sum has cells that are
// missing in it, unless they were seen: what the first does not show may be these.
func (v *verdict) cutOff(all, within []magnitude, near int, below bool) noisy {
	first := slices.Index(all, within[0])
	last := first + len(within) - 1
	next, rest := noisy{}, noisy{v.values, v.noise}
	for i, m := range all {
		if i <= last && (i >= first || !below) {
			rest = rest.plus(-m.rows, m.sigma)
		} else if i >= first-near && i <= last+near {
			next = next.plus(m.rows, m.sigma)
		}
	}
	if next.sigma == 0 {
		return next
	}
	v.maybeMissing = next.rows <= marginSigmas*next.sigma ||
		rest.rows-next.rows > marginSigmas*math.Hypot(rest.sigma, next.sigma)
	a, b := 1/(next.sigma*next.sigma), 1/(rest.sigma*rest.sigma)
	return noisy{(a*next.rows + b*rest.rows) / (a + b), 1 / math.Sqrt(a+b)}
}

// trimTails cuts off the cells that are beyond twice the span of all but heavyTail of the rows.
func trimTails(in []magnitude) []magnitude {
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
	below, above := 0.0, 0.0
	for i, c := range in {
		if i < zero {
			below += c.rows
		} else {
			above += c.rows
		}
	}
	if !standsOut(in[:zero]) && below < minorShare*above {
		return in[zero:]
	}
	return in
}

// standsOut reports whether some cells beside each other hold so much as cells that are apart must.
// All together they need not: most are between these and zero, and hold nothing but noise.
func standsOut(in []magnitude) bool {
	for i := range in {
		var run noisy
		for _, c := range in[i:] {
			if run = run.plus(c.rows, c.sigma); run.rows > distantSigmas*run.sigma {
				return true
			}
		}
	}
	return false
}

// minorShare is the most that noise beside zero holds, as a part of the numbers of the other sign.
const minorShare = .25

// column is a column of an ordered kind whose values are in these cells.
func (v *verdict) column(name string, in []magnitude, few bool, sigma float64) *schema.Column {
	c := &schema.Column{Name: name, Kind: v.kind, Format: v.format, OnInvalid: schema.Clamp,
		Min: in[0].lo, Max: in[len(in)-1].hi}
	if c.Kind.Stored() == schema.StoredInt || c.Kind.Stored() == schema.StoredFloat {
		extend(c, in, few)
	}
	least, most := c.Limits()
	c.Min, c.Max = max(c.Min, least), min(c.Max, most)
	if v.padding.Format != "" && v.format == v.padding.Format { // as many digits as it shows
		c.Max = min(c.Max, math.Pow10(len(v.format))-1)
	}
	if step := c.Step(); step > 1 { // the cells' ends may be between two of its multiples
		c.Min, c.Max = math.Floor(c.Min/step)*step, math.Floor(c.Max/step)*step
	}
	c.Edges = edges(c, in, sigma)
	if c.Kind.Stored() == schema.StoredFloat {
		roundEdges(c, v.decimals, in)
	}
	c.Missing = slices.DeleteFunc(slices.Clone(v.missing), func(token string) bool {
		x, err := strconv.ParseFloat(token, 64) // a schema has no token among its values
		return err == nil && x >= c.Min && x <= c.Max
	})
	return c
}

// extend moves bounds that noise may have moved: to zero, to one that is beside them, and apart, as
// a column of one value says nothing.
func extend(c *schema.Column, in []magnitude, few bool) {
	if c.Min > 0 && c.Min <= c.Max*nearZero && in[0].part == 0 {
		c.Min = 0
	}
	if c.Min == 2 && c.Max < maxCodes && c.Kind.Whole() { // scales begin with 0 or 1
		c.Min = 1
	}
	if c.Max < 0 && c.Max >= c.Min*nearZero && in[len(in)-1].part == 0 {
		c.Max = 0
	}
	switch {
	case c.Min <= 0 && (c.Max == 0 || few && c.Max > 0 && c.Max < 1): // a flag, whose 1 is rare
		c.Max = 1
	case c.Min == c.Max && c.Kind.Stored() == schema.StoredInt && in[0].part == 0:
		c.Min, c.Max = max(c.Min-1, -farthest(c.Kind)), min(c.Max+1, farthest(c.Kind))
	}
}

// cutOffNote says how many cells the bounds cut off, as far as counts tell, if they are many; else
// "".
func (v *verdict) cutOffNote() string {
	n := v.cutOffRows
	if n.rows <= max(strayShare*v.values, marginSigmas*n.sigma) {
		return ""
	}
	return fmt.Sprintf("about %.0f %% of its cells (±%.0f %%) are moved to its bounds%s", 100*n.rows/
		v.values, math.Ceil(100*n.sigma/v.values), map[bool]string{true: ", or missing"}[v.maybeMissing])
}
