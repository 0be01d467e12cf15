package synth

import (
	"math"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/table"
)

// What teachers learn with.
const (
	teacherHidden = 4  // units beside the linear part
	teacherEpochs = 3  // passes over its shard a round
	teacherRate   = .1 // Adagrad's learning rate
)

// shown is what all teachers are shown: how many of them there are, generated rows, and a seed for
// the order in which they are taken. It is public.
type shown struct {
	teachers int
	offsets  []int // first cell of each column, one more than columns
	seed     uint64
	fakes    cells     // to be told from the shard's rows
	asked    cells     // to be voted on
	student  []float64 // of each of them, what the student says of its classes; nil: it is not asked
	// directions over the cells, if these are voted on
	directions [][]float32
}

// cells are rows, each as the active cell of every column.
type cells struct {
	columns int
	at      []int32
}

func (c cells) rows() int         { return len(c.at) / c.columns }
func (c cells) row(i int) []int32 { return c.at[i*c.columns:][:c.columns] }
func (c cells) part(from, to int) cells {
	return cells{c.columns, c.at[from*c.columns : to*c.columns]}
}

// teacher tells the rows of its shard from generated ones: D(x) = w·φ(xᵀW + b) + xᵀv + c with φ =
// ReLU, x one cell a column. It keeps its weights and its optimiser's state (Adagrad: Duchi, Hazan,
// Singer 2011) from batch to batch.
type teacher struct {
	number  int
	offsets []int
	hidden  int
	// For each cell hidden weights and v; then b, w, c. state has the sums of squared gradients.
	weights, state []float32
	units          []float32 // scratch
}

func newTeacher(number int, offsets []int, hidden int) *teacher {
	cells := offsets[len(offsets)-1]
	n := cells*(hidden+1) + 2*hidden + 1
	t := &teacher{number: number, offsets: offsets, hidden: hidden, weights: make([]float32, n),
		state: make([]float32, n), units: make([]float32, hidden)}
	u := rand.New(rand.NewPCG(uint64(number), 0x7ea))
	sd := .5 / math.Sqrt(float64(len(offsets)-1))
	for c := range cells {
		for j := range hidden {
			t.weights[c*(hidden+1)+j] = float32(sd * u.NormFloat64())
		}
	}
	_, out, _ := t.tail(t.weights)
	for j := range out {
		out[j] = float32(u.NormFloat64() / math.Sqrt(float64(hidden)))
	}
	return t
}

// tail views b, w and c.
func (t *teacher) tail(of []float32) (bias, out, constant []float32) {
	rest := of[t.offsets[len(t.offsets)-1]*(t.hidden+1):]
	return rest[:t.hidden], rest[t.hidden : 2*t.hidden], rest[2*t.hidden:]
}

// score is D of a row; it leaves φ's arguments in units.
func (t *teacher) score(row []int32) float32 {
	bias, out, constant := t.tail(t.weights)
	copy(t.units, bias)
	d := constant[0]
	for _, cell := range row {
		w := t.weights[int(cell)*(t.hidden+1):][:t.hidden+1]
		for j, x := range w[:t.hidden] {
			t.units[j] += x
		}
		d += w[t.hidden]
	}
	for j, s := range t.units {
		if s > 0 {
			d += out[j] * s
		}
	}
	return d
}

// learn takes one step down the logistic loss of one row; label is 1 for a row of the shard, 0 for
// a generated one.
func (t *teacher) learn(row []int32, label float32) {
	d := t.score(row)
	g := float32(1/(1+math.Exp(-float64(d)))) - label
	bias, out, constant := t.tail(t.weights)
	sBias, sOut, sConstant := t.tail(t.state)
	step := func(w, s *float32, g float32) {
		*s += g * g
		*w -= teacherRate * g / (float32(math.Sqrt(float64(*s))) + 1e-3)
	}
	step(&constant[0], &sConstant[0], g)
	for j, s := range t.units {
		if s <= 0 {
			t.units[j] = 0
			continue
		}
		down := g * out[j]
		step(&out[j], &sOut[j], g*s)
		step(&bias[j], &sBias[j], down)
		t.units[j] = down
	}
	for _, cell := range row {
		at := int(cell) * (t.hidden + 1)
		w, s := t.weights[at:][:t.hidden+1], t.state[at:][:t.hidden+1]
		for j, down := range t.units {
			if down != 0 {
				step(&w[j], &s[j], down)
			}
		}
		step(&w[t.hidden], &s[t.hidden], g)
	}
}

// Train goes some times through the shard's rows, each with a generated row beside it. What it
// does depends on the shard, the batch and the teacher's number.
func (t *teacher) Train(shard *table.Table, l *shown) {
	n := shard.Rows()
	if n == 0 || l.fakes.rows() == 0 {
		return
	}
	u := rand.New(rand.NewPCG(l.seed, uint64(t.number)))
	columns := shard.Columns()
	row := make([]int32, len(columns))
	for range teacherEpochs {
		for _, r := range u.Perm(n) {
			for k, c := range columns {
				row[k] = int32(t.offsets[k]) + int32(c.At(r))
			}
			t.learn(row, 1)
			t.learn(l.fakes.row(u.IntN(l.fakes.rows())), 0)
		}
	}
}

// VotesTo votes 1 for rows that look like the shard's; or on directions.
func (t *teacher) VotesTo(votes []uint8, l *shown) {
	if k := len(l.directions); k > 0 {
		for r := range l.asked.rows() {
			t.directionsTo(votes[r*k:][:k], l.asked.row(r), l.directions)
		}
		return
	}
	for q := range votes {
		votes[q] = 0
		if t.score(l.asked.row(q)) > 0 {
			votes[q] = 1
		}
	}
}
