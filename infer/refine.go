package infer

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// The last questions: which numbers are heaps, and where in a heavy magnitude its rows are.
const (
	partSigmas      = 3.0 // standard deviations of the noise that a part of a magnitude should hold
	mostParts       = 64
	endParts        = 4    // of the cell at an end, at least
	dominantShare   = 0.5  // of the values of a column, in one magnitude: it has most parts
	heapColumnShare = 0.03 // of the values of a column, from which a number has a bin of its own
	endSigmas       = 0.7  // standard deviations that the parts at an end hold on average, to stay
	endShare        = 0.01 // of the rows, beside half a standard deviation: the most in others
	peakSigmas      = 1.5  // standard deviations that others are below half of the most in a part
	coveredShare    = 0.98 // of the values: if so many are some numbers alone, these are codes
	codesShare      = 0.5  // of the numbers there could be from the least to the greatest of these
	listedShare     = 0.5  // of the values in frequent texts, if shapes look like codes: else numbers
)

// refine asks the last questions, and describes the columns again by what they say. Where the rows
// are many for the noise, the first one is about heaps; else both are about parts, of columns most
// of which is in one magnitude. Columns that are not asked leave their budget to the others.
func (r *Inferred) refine(s *text.Session, verdicts []*verdict) error {
	heaps, few := make([][]magnitude, len(verdicts)), r.heapsUnseen()
	var ordered []int
	for i, v := range verdicts {
		if c := r.Columns[i].Found; v != nil && c != nil && c.Kind.Ordered() {
			ordered = append(ordered, i)
		}
	}
	paid := r.Noise.partsMu2 * float64(len(ordered)) / partsQuestions
	if paid == 0 {
		return nil
	}
	for k := range partsQuestions {
		r.Noise.Parts = text.Selection{Sigma: r.sigma(paid, len(ordered)), Delta: r.Delta}
		var questions []text.Question
		for _, i := range ordered {
			if q, ok := r.lastQuestion(verdicts[i], i, k == 0 && !few, heaps[i]); ok {
				questions = append(questions, q)
			}
		}
		if len(questions) == 0 {
			continue
		}
		r.Noise.Parts.Sigma = r.sigma(paid, len(questions))
		held, err := s.Values(questions, r.Noise.Parts)
		if err != nil {
			return err
		}
		for k, w := range questions {
			v, c := verdicts[w.Column], &r.Columns[w.Column]
			if w.Texts {
				heaps[w.Column] = r.heapsOf(v, held[k].Texts, c)
				continue
			}
			if w.Magnitudes.Steps != nil {
				v.format = gridFormat(w.Magnitudes, held[k].Magnitudes, r.Noise.Parts.Sigma)
				c.Found = v.column(c.Name, c.counts.cells, false, r.Noise.Values.Sigma)
				continue
			}
			c.counts.coarse = append(c.counts.coarse, c.counts.cells)
			var dropped noisy
			c.counts.cells, dropped = r.splitCells(c.counts.cells, w.Magnitudes, held[k].Magnitudes)
			v.cutOffRows = v.cutOffRows.plus(dropped.rows, dropped.sigma)
			c.Found = v.column(c.Name, c.counts.cells, false, r.Noise.Values.Sigma)
		}
	}
	return nil
}

// lastQuestion is what column i is asked: which grid its values are on, or which numbers are heaps,
// where that is asked first; else about parts. False if nothing.
func (r *Inferred) lastQuestion(
	v *verdict, i int, first bool, heaps []magnitude,
) (q text.Question, ok bool) {
	c := r.Columns[i].Found
	if c == nil || !c.Kind.Ordered() { // codes
		return q, false
	}
	q.Column = i
	if !first {
		edges := r.partEdges(&r.Columns[i], heaps)
		q.Magnitudes = schema.Magnitudes{Kind: v.kind, Format: v.format, Edges: edges}
		return q, edges != nil
	}
	if steps := v.kind.Grids(v.format); steps != nil {
		q.Magnitudes = schema.Magnitudes{Kind: v.kind, Format: v.format, Steps: steps}
		return q, true
	}
	stored := c.Kind.Stored()
	q.Texts = stored == schema.StoredFloat || c.Max-c.Min > 1
	return q, q.Texts
}

// gridFormat is the format of a column that names the coarsest grid which nearly all values are on,
// out of rows by the grid of each, with noise sigma.
func gridFormat(m schema.Magnitudes, rows []int64, sigma float64) string {
	off, all := 0.0, 0.0
	for _, n := range rows {
		all += float64(n)
	}
	format := m.Format
	for i := len(rows) - 1; i > 0; i-- {
		off += float64(rows[i])
		if off > strayShare*all+marginSigmas*sigma*math.Sqrt(float64(len(rows)-i)) {
			break
		}
		format = m.Kind.OnGrid(m.Format, m.Steps[i-1])
	}
	return format
}

// heapsOf are the numbers that many cells of a column have, by the texts that were found. If the
// column is one of codes, it becomes that, and there are none.
func (r *Inferred) heapsOf(v *verdict, found []text.Found, c *inferredColumn) (heaps []magnitude) {
	fine, rows, least, most, n := r.Noise.Parts, 0.0, math.Inf(1), math.Inf(-1), 0.0
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
		if float64(f.Rows) >= heapColumnShare*v.values && x >= c.Found.Min && x <= c.Found.Max {
			heaps = append(heaps, magnitude{lo: x, hi: x, rows: float64(f.Rows)})
		}
	}
	possible := math.Round((most-least)*math.Pow10(c.Found.Decimals)) + 1
	enough := coveredShare*v.values + marginSigmas*math.Hypot(v.noise, fine.Sigma*math.Sqrt(n))
	if n < 2 || rows < enough || n > codesShare*possible || v.declared != 0 ||
		v.kind.Stored() == schema.StoredDays {
		return heaps
	}
	v.readAsTexts()
	c.Found = categories(c.Name, found, v, text.SelectionThreshold(r.Neighbours, fine), fine.Sigma)
	if c.Found != nil {
		v.addNote("few numbers, read as codes")
	}
	c.counts, c.bought, c.Note = countsOf(nil, found, *v, fine.Sigma), c.Found != nil, v.note
	return nil
}

// partEdges are the edges of the parts of a column's cells: of the heavy ones parts of equal width,
// and of a heap its own; nil if there are no parts.
func (r *Inferred) partEdges(c *inferredColumn, heaps []magnitude) []float64 {
	whole, unit := wholeUnit(c.Found)
	in := c.counts.cells
	var out []float64
	cut, last, total, limit := false, math.Inf(-1), 0.0, farthest(c.Found.Kind)
	divided := !r.heapsUnseen() || len(c.counts.coarse) > 0
	for _, m := range in {
		total += m.rows
	}
	for i, m := range in {
		from, to := m.lo, m.hi
		switch {
		case whole || m.lo == m.hi:
			to = endOf(m.hi, c.Found.Kind)
		case m.lo < 0: // the upper end is in the cell, the lower one is not
			from, to = endOf(m.lo, c.Found.Kind), endOf(m.hi, c.Found.Kind)
		}
		from, last = max(from, last), to
		cuts, rest := cutHeaps(m, from, to, heaps, c.Found.Kind)
		parts := min(mostParts, math.Floor(rest/(partSigmas*r.Noise.Parts.Sigma)))
		if i == 0 || i == len(in)-1 {
			parts = max(parts, endParts)
		}
		if rest > dominantShare*total {
			if parts, divided = mostParts, true; r.heapsUnseen() {
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

// endOf is the end of what is up to x.
func endOf(x float64, kind schema.Kind) float64 {
	if whole, unit := wholeUnit(&schema.Column{Kind: kind}); whole {
		return (math.Floor(x/unit) + 1) * unit
	}
	return math.Nextafter(x, math.Inf(1))
}

// cutHeaps begins the edges within a cell with those of the heaps in it, and has the other rows.
func cutHeaps(
	m magnitude, from, to float64, heaps []magnitude, kind schema.Kind,
) (cuts []float64, rest float64) {
	cuts, rest = []float64{from}, m.rows
	if m.lo <= -farthest(kind) { // with what is beyond
		cuts[0] = -outermost
	}
	for _, h := range heaps {
		if h.lo >= from && h.lo < to && m.lo < m.hi {
			cuts, rest = append(cuts, h.lo, endOf(h.lo, kind)), rest-h.rows
		}
	}
	return cuts, rest
}

// splitCells are the cells of a column, some of them replaced by their parts, with the counts of
// the last question, but for parts at either end that hold next to nothing, which are dropped.
func (r *Inferred) splitCells(
	in []magnitude, m schema.Magnitudes, counts []int64,
) (out []magnitude, dropped noisy) {
	sigma := r.Noise.Parts.Sigma
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
	for range 2 {
		keep := len(out) - emptyEnd(out, in, sigma)
		for _, c := range out[keep:] {
			dropped = dropped.plus(c.rows, c.sigma)
		}
		out = out[:keep]
		slices.Reverse(out)
	}
	return slices.Clip(out), dropped
}

// emptyEnd is how many parts at the end hold less than others, as far as can be told: of the last
// of the cells in, each with noise sigma.
func emptyEnd(out, in []magnitude, sigma float64) (n int) {
	end, peak, most, total, inEnd, parts := out[len(out)-1].part, 0.0, 0.0, 0.0, 0.0, 0.0
	for _, c := range out {
		if total += c.rows; c.part == end {
			peak, inEnd, parts = max(peak, c.rows), inEnd+c.rows, parts+1
		}
	}
	if end == 0 || peak <= countedSigmas*sigma {
		return 0
	}
	// what each has more, as the whole cell was counted, too
	more := (in[end-1].rows - inEnd) / (parts + math.Pow(in[end-1].sigma/sigma, 2))
	rows, behind := 0.0, 0.0 // of the cells looked at, and of those of them that stay
	for k := 1; k < len(out) && out[len(out)-k].part == end; k++ {
		rows, behind = rows+out[len(out)-k].rows, behind+out[len(out)-k].rows
		x := float64(k)
		if behind > clearSigmas*sigma*math.Sqrt(float64(k-n)) { // they stand out
			break
		}
		if less := endSigmas*sigma*x - rows; less > most &&
			peak/2*x-rows > peakSigmas*sigma*math.Sqrt(x) &&
			rows+more*x <= endShare*total+sigma/2*math.Sqrt(x*(1-x/parts)) {
			most, n, behind = less, k, 0
		}
	}
	return n
}

// heapsUnseen reports whether the rows are so few for the noise that heaps would not be found.
func (r *Inferred) heapsUnseen() bool { return r.Rows <= manyRows*r.Noise.Texts.Sigma }
