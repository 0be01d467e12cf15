package analysis

import (
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
	core       = 5.0   // of the heaviest run of cells, or nothing is known of the column
	coreUsual  = 4.0   // of one whose values have a usual size: there are fewer of these
	next       = 2.4   // of cells next to the bounds
	nextCoarse = 2.6   // of one that is a whole power of two
	behind     = 4.0   // of a power of two that one other lies between
	apart      = 6.0   // of cells that more lie between
	apartShare = 0.005 // and of the rows within the bounds
	coarse     = 0.8   // of the cell next to the bounds where cells are whole powers of two
	coarseFlag = 1.5   // of the numbers beyond 1, where a flag is likely
	// rows for the noise, below which a cell next to the bounds may hold a tenth of them unseen, and
	// is taken in if its count is above zero
	blindRows = 15.0
)

// Numbers of a usual size, which are not all negative.
const (
	usualLeast = 1. / 16
	usualMost  = 1 << 14
)

// widest is the most powers of two in which the rule looks for what stands out. Where rows are few,
// noise on either side of them would often make a wider run stand out than they fill.
const (
	widest       = 8
	widestCoarse = 4
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
	reach := perPower // cells next to the bounds that are looked at together
	most, limit := widest*perPower, next
	if perPower == 1 {
		most, limit = widestCoarse, nextCoarse
	}
	best := 0.0
	for w := 1; w <= min(most, len(counts)); w *= 2 {
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
	for _, up := range sides {
		for perPower == 1 && last > first && beyond(up, -1, 1) <= coarse*sigma {
			move(up, -1)
		}
	}
	for wider := true; wider; {
		for _, up := range sides {
			for w := 1; w <= reach; w++ {
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
		within := apartShare * mass(first, last+1)
		for w := 1; w <= reach && !wider; w *= 2 {
			for from := 0; from+w <= len(counts); from++ {
				if from <= last && from+w > first || mass(from, from+w) <= max(apart*noise(w), within) {
					continue
				}
				first, last, wider = min(first, from), max(last, from+w-1), true
				within = apartShare * mass(first, last+1)
			}
		}
	}
	return first, last, true
}

// sentinels are numbers that people write for missing. −1 is not among them: it has a cell of its
// own, and hence a bin.
var sentinels = []float64{-9999, -999, -99, -9, 99, 999, 9999}

// spike is a sentinel that many rows have, and its cell.
type spike struct {
	cell  int
	value float64
}

// spikesOf are the sentinels whose cell stands out, while there is nothing for a power of two
// before it, and nothing beyond: where cells are fine enough to tell.
func spikesOf(in []magnitude, m schema.Magnitudes, sigma float64) (out []spike) {
	if m.PerPower < 2 {
		return nil
	}
	for _, x := range sentinels {
		at := slices.IndexFunc(in, func(c magnitude) bool { return c.lo <= x && x <= c.hi })
		if at < 0 || in[at].rows <= apart*sigma {
			continue
		}
		var rows, cells [2]float64 // before it, and beyond
		for i, c := range in {
			size := max(math.Abs(c.lo), math.Abs(c.hi)) / math.Abs(x)
			if i == at || c.lo*x <= 0 || size <= .5 {
				continue
			}
			beyond := 0
			if (i > at) == (x > 0) {
				beyond = 1
			}
			rows[beyond], cells[beyond] = rows[beyond]+c.rows, cells[beyond]+1
		}
		if rows[0] < next*sigma*math.Sqrt(cells[0]) && rows[1] < next*sigma*math.Sqrt(cells[1]) {
			out = append(out, spike{at, x})
		}
	}
	return out
}

// outward takes in the cell on either side where cells are whole powers of two, and so coarse that
// a tail that does not stand out may hold many rows: what is left out would be moved to the bound.
// A flag should stay one.
func outward(
	in []magnitude, first, last int, whole, blind bool, sigma float64,
) (int, int) {
	limit := coarse
	if in[last].hi == 1 {
		limit = coarseFlag
	} else if blind {
		limit = 0
	}
	if last+1 < len(in) && in[last+1].rows > limit*sigma {
		last++
	}
	if first > 0 && in[first].lo > 0 && (in[first-1].rows > coarse*sigma ||
		blind && in[last].hi > 1 && in[first-1].rows > 0 ||
		whole && in[first].lo == 2) { // counts from 1 on
		first--
	}
	return first, last
}

// magnitude is one of the public cells of the magnitudes, with its noisy count.
type magnitude struct {
	lo, hi float64 // the smallest and the greatest value
	rows   float64
}

// possible is the cells that may hold a value: whole numbers, and numbers of few decimals, leave
// some empty, which would be noise alone.
func possible(m schema.Magnitudes, decimals int, counts []int64) []magnitude {
	var out []magnitude
	for i, n := range counts {
		lo, hi := m.Bounds(i)
		zero := lo == 0 && hi == 0
		if lo <= hi && (zero || m.Kind.Stored() != schema.StoredFloat || max(-lo, hi) > least(decimals)) {
			out = append(out, magnitude{lo, hi, float64(n)})
		}
	}
	return out
}

// least is the smallest size of a number that is not zero: one with so many decimals, 0 for any.
func least(decimals int) float64 {
	if decimals == 0 {
		return 0
	}
	return math.Pow(10, -float64(decimals))
}

// nearZero is the part of the larger bound within which the smaller one is moved to zero: there the
// cells are finer than the noise allows to see.
const nearZero = 0.13

// bounds makes a column of the noisy magnitudes that may hold its values, and says which of these
// are within its bounds; nil if none stands out.
func bounds(name string, m schema.Magnitudes, in []magnitude, v *judged, sigma float64) (
	*schema.Column, []magnitude,
) {
	rows := make([]float64, len(in))
	for i, c := range in {
		rows[i] = c.rows
	}
	spikes := spikesOf(in, m, sigma)
	for _, s := range spikes {
		rows[s.cell] = 0 // for the while
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
	numbers := m.Kind.Stored() == schema.StoredInt || m.Kind.Stored() == schema.StoredFloat
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
	few := m.PerPower == 1 && numbers
	if few {
		first, last = outward(in, first, last, m.Kind.Stored() == schema.StoredInt,
			v.values < blindRows*sigma, sigma)
	}
	all := in
	in = in[first : last+1]
	if c := &in[0]; c.lo < c.hi && c.hi == -1 && !few &&
		(len(in) == 1 || in[1].rows <= clear*sigma) { // alone, and so a code: its cell holds its end
		c.lo = -1
	}
	c := &schema.Column{Name: name, Kind: v.kind, Format: v.format, Missing: v.missing,
		OnInvalid: schema.Clamp, Min: in[0].lo, Max: in[len(in)-1].hi}
	if numbers {
		if c.Min > 0 && c.Min <= c.Max*nearZero {
			c.Min = 0
		}
		if c.Max < 0 && c.Max >= c.Min*nearZero {
			c.Max = 0
		}
		switch { // a column of one value says nothing
		case c.Min <= 0 && (c.Max == 0 || few && c.Max > 0 && c.Max < 1): // a flag, whose 1 is rare
			c.Max = 1
		case c.Min == c.Max:
			c.Min, c.Max = c.Min-1, c.Max+1
		}
	}
	for _, s := range spikes {
		if s.value < c.Min || s.value > c.Max {
			if text := strconv.FormatFloat(s.value, 'f', -1, 64); !slices.Contains(c.Missing, text) {
				c.Missing = append(slices.Clip(c.Missing), text)
			}
			v.missed = v.missed.add(all[s.cell].rows, sigma)
			v.say("%v stands apart, and is taken for missing", s.value)
		}
	}
	c.Missing = slices.DeleteFunc(slices.Clone(c.Missing), func(token string) bool {
		x, err := strconv.ParseFloat(token, 64) // a schema has no token among its values
		return err == nil && x >= c.Min && x <= c.Max
	})
	if len(c.Missing) == 0 { // else cells without a value, too few to be seen, would be the smallest
		c.Missing = []string{""}
	}
	c.Edges = edges(c, in, sigma)
	if c.Kind.Stored() == schema.StoredFloat {
		tidy(c, v.decimals)
	}
	return c, in
}
