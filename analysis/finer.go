package analysis

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

// The last questions: which numbers are heaps, and where in a heavy magnitude its rows are.
const (
	partNoise = 3.0 // standard deviations of the noise that a part of a magnitude should hold
	mostParts = 64
	endParts  = 4    // of the cell at an end, at least
	mostOf    = 0.5  // of the values of a column, in one magnitude: it has most parts
	atom      = 0.03 // of the values of a column, from which a number has a bin of its own
	endNoise  = 0.7  // standard deviations that the parts at an end hold on average, to stay
	endShare  = 0.01 // of the rows, beside half a standard deviation: the most that others may hold
	lower     = 1.5  // standard deviations that others are below half of the most in a part
	covered   = 0.98 // of the values: if so many are some numbers alone, these are codes
	mostCodes = 0.5  // of the numbers there could be from the least to the greatest of these
	listed    = 0.5  // of the values in frequent texts, where shapes look like codes: else numbers
)

// finer asks the last questions, and describes the columns again by what they say. Where the rows
// are many for the noise, the first one is about heaps; else both are about parts, of columns most
// of which is in one magnitude. Columns that are not asked leave their budget to the others.
func (r *Inferred) finer(s *text.Session, verdicts []*judged) error {
	heaps, few := make([][]magnitude, len(verdicts)), r.few()
	var ordered []int
	for i, v := range verdicts {
		if c := r.Columns[i].Found; v != nil && c != nil && c.Kind.Ordered() {
			ordered = append(ordered, i)
		}
	}
	paid := r.Noise.fine * float64(len(ordered)) / fineQuestions
	if paid == 0 {
		return nil
	}
	for k := range fineQuestions {
		r.Noise.Fine = text.Selection{Sigma: r.sigma(paid, len(ordered)), Delta: r.Delta}
		var of []text.Wanted
		for _, i := range ordered {
			v, c := verdicts[i], r.Columns[i].Found
			if c == nil || !c.Kind.Ordered() { // codes
				continue
			}
			if stored := c.Kind.Stored(); k == 0 && !few {
				if stored == schema.StoredFloat || stored != schema.StoredMicros && c.Max-c.Min > 1 {
					of = append(of, text.Wanted{Column: i, Texts: true})
				}
			} else if edges := r.split(&r.Columns[i], heaps[i]); edges != nil {
				of = append(of, text.Wanted{Column: i, Magnitudes: schema.Magnitudes{Kind: v.kind,
					Format: v.format, Edges: edges}})
			}
		}
		if len(of) == 0 {
			continue
		}
		r.Noise.Fine.Sigma = r.sigma(paid, len(of))
		held, err := s.Values(of, r.Noise.Fine)
		if err != nil {
			return err
		}
		for k, w := range of {
			v, c := verdicts[w.Column], &r.Columns[w.Column]
			if w.Texts {
				heaps[w.Column] = r.heaps(v, held[k].Texts, c)
				continue
			}
			c.counts.coarse = append(c.counts.coarse, c.counts.cells)
			var dropped noisy
			c.counts.cells, dropped = r.parts(c.counts.cells, w.Magnitudes, held[k].Magnitudes)
			v.beyond = v.beyond.add(dropped.rows, dropped.sigma)
			c.Found = v.ordered(c.Name, c.counts.cells, false, r.Noise.Values.Sigma)
		}
	}
	return nil
}

// heaps are the numbers that many cells of a column have, by the texts that were found. If the
// column is one of codes, it becomes that, and there are none.
func (r *Inferred) heaps(
	v *judged, found []text.Found, c *inferredColumn,
) (heaps []magnitude) {
	fine, rows, least, most, n := r.Noise.Fine, 0.0, math.Inf(1), math.Inf(-1), 0.0
	codec, err := schema.NewCodec(*c.Found)
	if err != nil { // which leaves it out
		return nil
	}
	for _, f := range found {
		x, ok := codec.ParseValue(f.Text)
		if !ok || slices.Contains(v.missing, f.Text) {
			continue
		}
		rows, least, most, n = rows+float64(f.Rows), min(least, x), max(most, x), n+1
		if float64(f.Rows) >= atom*v.values && x >= c.Found.Min && x <= c.Found.Max {
			heaps = append(heaps, magnitude{lo: x, hi: x, rows: float64(f.Rows)})
		}
	}
	possible := math.Round((most-least)*math.Pow10(c.Found.Decimals)) + 1
	enough := covered*v.values + surely*math.Hypot(v.noise, fine.Sigma*math.Sqrt(n))
	if n < 2 || rows < enough || n > mostCodes*possible || v.declared != 0 ||
		v.kind.Stored() == schema.StoredDays {
		return heaps
	}
	v.list()
	c.Found = categories(c.Name, found, v, text.SelectionThreshold(r.Neighbours, fine), fine.Sigma)
	if c.Found != nil {
		v.say("few numbers, read as codes")
	}
	c.counts, c.bought, c.Note = countsOf(nil, found, *v, fine.Sigma), c.Found != nil, v.note
	return nil
}

// split are the edges of the parts of a column's cells: of the heavy ones parts of equal width, and
// of a heap its own; nil if there are no parts.
func (r *Inferred) split(c *inferredColumn, heaps []magnitude) []float64 {
	whole, unit := wholeUnit(c.Found.Kind)
	end := func(x float64) float64 { // of what is up to x
		if whole {
			return (math.Floor(x/unit) + 1) * unit
		}
		return math.Nextafter(x, math.Inf(1))
	}
	in := c.counts.cells
	var out []float64
	cut, last, total, limit := false, math.Inf(-1), 0.0, farthest(c.Found.Kind)
	divided := !r.few() || len(c.counts.coarse) > 0
	for _, m := range in {
		total += m.rows
	}
	for i, m := range in {
		from, to := m.lo, m.hi
		switch {
		case whole || m.lo == m.hi:
			to = end(m.hi)
		case m.lo < 0: // the upper end is in the cell, the lower one is not
			from, to = end(m.lo), end(m.hi)
		}
		from, last = max(from, last), to
		cuts, rest := []float64{from}, m.rows
		if m.lo <= -limit { // with what is beyond
			cuts[0] = -outermost
		}
		for _, h := range heaps {
			if h.lo >= from && h.lo < to && m.lo < m.hi {
				cuts, rest = append(cuts, h.lo, end(h.lo)), rest-h.rows
			}
		}
		parts := min(mostParts, math.Floor(rest/(partNoise*r.Noise.Fine.Sigma)))
		if i == 0 || i == len(in)-1 {
			parts = max(parts, endParts)
		}
		if rest > mostOf*total {
			if parts, divided = mostParts, true; r.few() {
				parts /= 2
			}
		}
		for k := 1.; k < parts && m.lo < m.hi; k++ {
			x := from + (to-from)/parts*k
			if whole {
				x = math.Round(x/unit) * unit
			}
			cuts = append(cuts, x)
		}
		cut = cut || len(cuts) > 1
		for _, x := range cuts {
			if x < to {
				out = append(out, x)
			}
		}
		if m.hi >= limit {
			to = outermost
		}
		out = append(out, to)
	}
	if !divided || !cut {
		return nil
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// parts are the cells of a column, some of them replaced by their parts, with the counts of the
// last question, but for parts at either end that hold next to nothing, which are dropped.
func (r *Inferred) parts(
	in []magnitude, m schema.Magnitudes, counts []int64,
) (out []magnitude, dropped noisy) {
	sigma := r.Noise.Fine.Sigma
	for k, n := range counts {
		lo, hi := m.Bounds(k)
		if m.Kind.Stored() == schema.StoredFloat {
			if math.Nextafter(lo, math.Inf(1)) == hi {
				hi = lo
			} else if lo < 0 { // as the cells of magnitudes have it
				lo, hi = math.Nextafter(lo, math.Inf(-1)), math.Nextafter(hi, math.Inf(-1))
			}
		}
		lo, hi = max(lo, -farthest(m.Kind)), min(hi, farthest(m.Kind))
		at := slices.IndexFunc(in, func(c magnitude) bool { return lo >= c.lo && hi <= c.hi })
		if at >= 0 { // else between cells, where there are no values
			part := at + 1
			if in[at].part == 0 && in[at].hi == hi && lo <= math.Nextafter(in[at].lo, math.Inf(1)) {
				part = 0
			}
			out = append(out, magnitude{lo, hi, float64(n), sigma, part})
		}
	}
	cut := func() (n int) { // how many cells at the end hold less than others, as far as can be told
		end, peak, most, total, of, parts := out[len(out)-1].part, 0.0, 0.0, 0.0, 0.0, 0.0
		for _, c := range out {
			if total += c.rows; c.part == end {
				peak, of, parts = max(peak, c.rows), of+c.rows, parts+1
			}
		}
		if end == 0 || peak <= counted*sigma {
			return 0
		}
		// what each has more, as the whole cell was counted, too
		more := (in[end-1].rows - of) / (parts + math.Pow(in[end-1].sigma/sigma, 2))
		rows, behind := 0.0, 0.0 // of the cells looked at, and of those of them that stay
		for k := 1; k < len(out) && out[len(out)-k].part == end; k++ {
			rows, behind = rows+out[len(out)-k].rows, behind+out[len(out)-k].rows
			x := float64(k)
			if behind > clear*sigma*math.Sqrt(float64(k-n)) { // they stand out
				break
			}
			if less := endNoise*sigma*x - rows; less > most && peak/2*x-rows > lower*sigma*math.Sqrt(x) &&
				rows+more*x <= endShare*total+sigma/2*math.Sqrt(x*(1-x/parts)) {
				most, n, behind = less, k, 0
			}
		}
		return n
	}
	for range 2 {
		keep := len(out) - cut()
		for _, c := range out[keep:] {
			dropped = dropped.add(c.rows, c.sigma)
		}
		out = out[:keep]
		slices.Reverse(out)
	}
	return slices.Clip(out), dropped
}

// few reports whether the rows are so few for the noise that heaps would not be found.
func (r *Inferred) few() bool { return r.Rows <= fineRows*r.Noise.Texts.Sigma }
