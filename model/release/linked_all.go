package release

import (
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
)

// allRows draws first rows from a view of all rows, and weighs all rows by the pairs of that view.
type allRows struct {
	*drawer
	v       *schema.View
	u       *rand.Rand
	chooser *marginal.Chooser // nil: rows are as their models draw them
	parent  []uint16          // columns of the view before the place
	rows    [][]uint16        // that may be first
	said    [][]uint16        // rows as the view has them, in groups
}

const (
	stepRows = 16 // that are drawn for each row, of which one is taken
	// chosenMost is how much the date of a row counts beside its other columns, and a column with
	// itself in the row before beside a gap or a date with any
	chosenMost = 10
)

// newAllRows is for parents with so many rows each, of which column by has the order.
func newAllRows(
	p *Marginal, v *schema.View, by int, numbers []uint16, rules *schema.RowCodec, u *rand.Rand,
) *allRows {
	sizes := v.Schema.Sizes()
	a := &allRows{drawer: newDrawer(p, v.Place+1, len(sizes), rules), v: v, u: u}
	for range stepRows {
		a.rows = append(a.rows, make([]uint16, len(a.drawn)))
		a.said = append(a.said, make([]uint16, len(sizes)))
	}
	codes, n := sampleOf(p, v, numbers, u)
	if codes == nil {
		return a
	}
	weights := noWeights(len(sizes))
	for k := v.Place + 1; k < len(sizes); k++ {
		for l := range sizes {
			weights[min(k, l)][max(k, l)] = 1
			if k == v.Place+1+by || l == v.Place+1+by {
				weights[min(k, l)][max(k, l)] = chosenMost
			}
		}
	}
	a.chooser = marginal.NewChooser(marginal.CountPairs(p.Model.Sizes(), codes), n, weights)
	return a
}

// noWeights are those of so many columns.
func noWeights(n int) (out [][]float32) {
	for range n {
		out = append(out, make([]float32, n))
	}
	return out
}

// of begins the rows of a parent, of which its view says so much and what is known, and which has
// n of them.
func (a *allRows) of(parent, known []uint16, n int) {
	a.parent = append(append(a.parent[:0], known...), uint16(n))
	if a.v.Parents() {
		a.parent = append(a.parent[:0], parent[:a.v.Place]...)
	}
}

// firstTo draws the first row, and reports whether there is one.
func (a *allRows) firstTo(row []uint16, past *schema.Past) bool {
	taken := 0
	a.draw(append(a.parent, 0), func(drawn []uint16) bool {
		if past.FirstTo(a.rows[taken], drawn, a.u) {
			taken++
		}
		return taken == stepRows || taken == 1 && a.chooser == nil
	}, a.u)
	if taken > 0 {
		copy(row, a.rows[a.choose(a.rows, 0, slices.Repeat([]float32{1}, taken))])
	}
	return taken > 0
}

// choose takes one of some rows at a place, which have these chances. It changes the chances.
func (a *allRows) choose(rows [][]uint16, place int, chance []float32) int {
	if a.chooser != nil {
		for i := range chance {
			a.say(a.said[i], place, rows[i])
		}
		a.chooser.Weigh(a.said, chance)
	}
	total := float32(0)
	for _, q := range chance {
		total += q
	}
	return marginal.Pick(chance, total, a.u)
}

// count counts the rows of a parent.
func (a *allRows) count(rows [][]uint16) {
	for place, row := range rows {
		if a.chooser != nil {
			a.say(a.said[0], place, row)
			a.chooser.Count(a.said[0])
		}
	}
}

// say writes a row as the view has it, in groups.
func (a *allRows) say(dst []uint16, place int, row []uint16) {
	for k, code := range a.v.Row(a.parent, place, row) {
		dst[k] = a.group(k, code)
	}
}

// sampleOf is rows of a view of steps or of all rows, in groups, and how many will be drawn for
// parents with so many. As many parents have a number of rows, and as many of their rows each
// place, as will be drawn: a row of the view is weighed. There is none if none is drawn, or if
// their pairs are too many.
func sampleOf(
	p *Marginal, v *schema.View, numbers []uint16, u *rand.Rand,
) (codes [][]uint16, n int) {
	sizes, cells := v.Schema.Sizes(), 0
	for _, size := range p.Model.Sizes() {
		cells += size
	}
	places, less := sizes[v.Place]-1, 0 // the last code is for no row
	if v.Steps {
		places, less = sizes[v.Place], 1
	}
	for _, k := range numbers {
		n += max(0, int(k)-less)
	}
	if n == 0 || cells > steeredCells {
		return nil, 0
	}
	codes = p.Model.Sample(min(pairRows, countedPairs/(len(sizes)*len(sizes))), u)
	var known [2][]uint16
	for i, k := range []int{v.Number, v.Place} {
		known[i] = slices.Clone(codes[k])
		p.Grouping.Columns(k, k+1).Expand(known[i:i+1], u)
	}
	cell := func(i int) int { return int(known[0][i])*sizes[v.Place] + int(known[1][i]) }
	size := sizes[v.Number] * sizes[v.Place]
	want, have, upTo, sum := make([]float64, size), make([]float64, size), []float64{}, 0.
	for _, k := range numbers {
		for place := range max(0, int(k)-less) {
			want[int(k)*sizes[v.Place]+min(place, places-1)]++
		}
	}
	for i := range known[0] {
		have[cell(i)]++
	}
	for i := range known[0] {
		sum += want[cell(i)] / have[cell(i)]
		upTo = append(upTo, sum)
	}
	if sum == 0 {
		return nil, 0 // no sample has a place that will be drawn
	}
	for k, column := range codes {
		out, at := make([]uint16, len(column)), 0
		for i := range out {
			for at+1 < len(upTo) && upTo[at] < (float64(i)+.5)/float64(len(out))*sum {
				at++
			}
			out[i] = column[at]
		}
		codes[k] = out
	}
	return codes, n
}
