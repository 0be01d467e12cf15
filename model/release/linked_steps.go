package release

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
)

// steps draws the further rows of units. Drawn one by one they drift: each is as the model has
// it given the rows before, which are not quite as the model has them; first of all, gaps and
// dates do. So of a few rows one is chosen, towards the pairs of the view, and of that of all rows.
// Post-processing, like all drawing.
type steps struct {
	*drawer
	v      *schema.View
	by     int
	past   *schema.Past
	u      *rand.Rand
	same   []uint16 // of each column: the code of a step that says that it is as before; 0: none
	before []uint16
	// rows that may be next: in the table, and in the view, in groups and without "as before"
	rows, said [][]uint16
	taken      int

	chooser *marginal.Chooser // nil: rows are as the model draws them
	room    room
	all     *allRows
}

const stepTries = 8 // how often a history is drawn that ends before it has all of its rows

// newSteps is for parents with so many rows each.
func newSteps(
	p *Marginal, v *schema.View, own schema.LinkedTable, numbers []uint16, all *allRows,
	rules *schema.RowCodec, u *rand.Rand,
) (*steps, error) {
	s := &steps{drawer: newDrawer(p, v.Given, len(v.Schema.Columns), rules), v: v, u: u,
		by: own.Schema.Index(own.Order.By), past: v.Past(), all: all}
	s.plain = s.past.Plain
	sizes := v.Schema.Sizes()
	for j, size := range own.Schema.Sizes() {
		if s.same = append(s.same, 0); sizes[v.Given+1+j] > size {
			s.same[j] = uint16(size)
		}
	}
	for range stepRows {
		s.rows = append(s.rows, make([]uint16, len(s.same)))
		s.said = append(s.said, make([]uint16, len(sizes)))
	}
	codec, err := schema.NewCodec(v.Fine().Columns[s.by])
	codes, n := sampleOf(p, v, numbers, u)
	if err != nil || codes == nil {
		return s, err
	}
	s.plainly(codes)
	gaps := slices.Clone(codes[v.Given])
	p.Grouping.Columns(v.Given, v.Given+1).Expand([][]uint16{gaps}, u)
	number := slices.Clone(codes[v.Number])
	p.Grouping.Columns(v.Number, v.Number+1).Expand([][]uint16{number}, u)
	s.room = newRoom(codec, v.Schema.Columns[v.Given].Edges, own.Order.Rows, number, gaps)
	weights := noWeights(len(sizes))
	for _, k := range v.Dates()[1:] {
		for l := range sizes {
			weights[min(k, l)][max(k, l)] = 1
		}
	}
	for _, pair := range v.Transitions() {
		weights[pair[0]][pair[1]] += float32(2*chosenMost) / float32(len(v.Transitions()))
	}
	s.chooser = marginal.NewChooser(marginal.CountPairs(p.Model.Sizes(), codes), n, weights)
	return s, nil
}

// plainly puts the code of the row before where rows of the view, in groups, say "as before".
func (s *steps) plainly(codes [][]uint16) {
	for j, pair := range s.v.Transitions() {
		if s.same[j] > 0 {
			before := slices.Clone(codes[pair[0]])
			s.grouping.Columns(pair[0], pair[0]+1).Expand([][]uint16{before}, s.u)
			same := s.group(pair[1], s.same[j])
			for i, code := range codes[pair[1]] {
				if code == same {
					codes[pair[1]][i] = s.group(pair[1], before[i])
				}
			}
		}
	}
}

// history is the rows of a unit: the first, and those that follow it. It has fewer than n where
// the order has no room for more.
func (s *steps) history(unit []uint16, n int, first []uint16) (rows [][]uint16) {
	var counted [][]uint16
	for try := 0; try < stepTries && len(rows) < n; try++ {
		made, said := [][]uint16{first}, [][]uint16{}
		s.past.Start(unit, n, first)
		for len(made) < n {
			s.before = made[len(made)-1]
			row := s.next(n, n-len(made)-1)
			if row == nil {
				break
			}
			s.past.Add(row)
			made, said = append(made, row), append(said, slices.Clone(s.said[0]))
		}
		if len(made) > len(rows) {
			rows, counted = made, said
		}
	}
	for _, row := range counted {
		if s.chooser != nil {
			s.chooser.Count(row)
		}
	}
	s.all.count(rows)
	return rows
}

// next is a row, whose row of the view is s.said[0], that so many others follow in a history of n;
// nil: the past leaves none.
func (s *steps) next(n, left int) []uint16 {
	s.taken = 0
	s.draw(s.past.Given(), s.offer, s.u)
	if s.taken == 0 {
		return nil
	}
	if s.chooser == nil {
		return slices.Clone(s.rows[0])
	}
	chance := make([]float32, s.taken)
	for i := range chance {
		chance[i] = s.room.chance(n, left, s.rows[i][s.by])
	}
	s.chooser.Weigh(s.said, chance)
	at := s.all.choose(s.rows, n-left-1, chance)
	s.said[0], s.said[at] = s.said[at], s.said[0]
	return slices.Clone(s.rows[at])
}

// offer keeps what was drawn if the past leaves a place for it, and reports whether it is enough.
func (s *steps) offer(drawn []uint16) bool {
	if row := s.rows[s.taken]; s.past.NextTo(row, drawn, s.u) {
		s.say(s.said[s.taken], row)
		s.taken++
	}
	return s.taken == stepRows || s.taken == 1 && s.chooser == nil
}

// say writes a row as the view has it, but for "as before".
func (s *steps) say(dst, row []uint16) {
	for k, code := range s.past.Step(row) {
		if j := k - s.v.Given - 1; j >= 0 && s.same[j] > 0 && code == s.same[j] {
			code = s.before[j]
		}
		dst[k] = s.group(k, code)
	}
}

// room says whether rows still fit in: a history that comes to the end of the order too soon would
// lose its last rows. A row is drawn with the chance that those behind it have room (Doob's
// transform), as if their gaps were those of any rows of units with as many.
type room struct {
	value []float64     // of each fine code of the order
	step  float64       // of the grid
	fits  [][][]float32 // of the rows of a unit, those that follow, and what is left of the order
}

// roomCells is the most cells of the grid.
const roomCells = 256

// newRoom is for units of up to most rows, of which a sample has these numbers and gaps.
func newRoom(order *schema.Codec, edges []float64, most int, number, gaps []uint16) (r room) {
	for code := range order.Values() {
		least, _ := order.Bin(uint16(code))
		r.value = append(r.value, least)
	}
	span := r.value[len(r.value)-1] - r.value[0]
	r.step = max(edges[1], span/roomCells)
	share := make([][]float32, most+1)
	all := make([]float32, most+1)
	for n := range share {
		share[n] = make([]float32, len(edges))
	}
	for i, n := range number {
		share[n][gaps[i]]++
		all[n]++
	}
	for n := range share {
		fits := make([][]float32, max(1, n))
		for left := range fits {
			fits[left] = make([]float32, int(span/r.step)+1)
			for s := range fits[left] {
				if fits[left][s] = 1; left == 0 || all[n] == 0 {
					continue
				}
				sum := float32(0)
				for g, x := range share[n] {
					if rest := s - int(math.Ceil(edges[g]/r.step)); rest >= 0 {
						sum += float32(x / all[n] * fits[left-1][rest])
					}
				}
				fits[left][s] = sum
			}
		}
		r.fits = append(r.fits, fits)
	}
	return r
}

// chance is that so many rows fit in behind one with this fine code, of a unit of n.
func (r *room) chance(n, left int, code uint16) float32 {
	s := int((r.value[len(r.value)-1] - r.value[code]) / r.step)
	return r.fits[n][left][s] + float32(float32(s+1)*1e-9) // the most room, where there is not enough
}
