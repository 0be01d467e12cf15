package marginal

import (
	"math/rand/v2"
	"slices"
)

// A Completer draws the columns of a row that are not known, from their distribution given those
// that are: exactly, along the junction tree. A row takes time for the cells that its known columns
// leave, of all cliques that lie above one; the memory is half of the model's. It is not safe for
// concurrent use.
type Completer struct {
	sizes   []int
	cliques []completion // parents before children
}

// completion is a clique's table given its separator. The cells that a row leaves, its block, lie
// side by side: the columns of the separator that are not known come before the others.
type completion struct {
	given          []float32 // p(clique | separator)
	known, sep     []int     // columns that are known; those of the separator that are not
	rest           []int     // the others, which are drawn here
	block, width   int       // cells of sep and rest, of rest
	at             int       // where the row's block begins
	parent         int
	up             []int32   // of each cell of the parent's block that of message; nil: it sends none
	value, message []float64 // the block times the messages of its children; nil: it gets none
}

// Completer prepares for rows of which these columns are known.
func (m *Model) Completer(known []int) *Completer {
	t := m.tree
	fixed := colsetOf(len(t.sizes), known...)
	c := &Completer{t.sizes, make([]completion, len(t.cliques))}
	for i := len(t.cliques) - 1; i >= 0; i-- { // children before parents
		o, q := &c.cliques[i], t.cliques[i]
		drawn := colsetOf(len(t.sizes), q...)
		for _, x := range t.seps[i] {
			if drawn.remove(x); !fixed.has(x) {
				o.sep = append(o.sep, x)
			}
		}
		for _, x := range q {
			if fixed.has(x) {
				o.known = append(o.known, x)
			} else if drawn.has(x) {
				o.rest = append(o.rest, x)
			}
		}
		o.width = int(cellsOf(t.sizes, o.rest))
		o.block = o.width * int(cellsOf(t.sizes, o.sep))
		f := factor{q, slices.Clone(m.p[i])}
		given(t.sizes, f, t.seps[i])
		table := make([]float64, len(f.v))
		transpose(table, f.v, t.sizes, q, append(append(o.known[:len(o.known):len(o.known)],
			o.sep...), o.rest...))
		o.given = make([]float32, len(table))
		for k, x := range table {
			o.given[k] = float32(x)
		}
		// without a known column at it or below, the message to the parent is 1
		says := o.value != nil || drawn.overlap(fixed).count() > 0
		if o.parent = t.parent[i]; says && len(o.sep) > 0 {
			o.message = make([]float64, o.block/o.width)
			c.cliques[o.parent].value = []float64{}
		}
	}
	for i := range c.cliques {
		o := &c.cliques[i]
		if o.value != nil {
			o.value = make([]float64, o.block)
		}
		if o.message != nil {
			p := &c.cliques[o.parent]
			o.up = offsets(t.sizes, append(p.sep[:len(p.sep):len(p.sep)], p.rest...),
				strides(t.sizes, o.sep))
		}
	}
	return c
}

// Given takes the known columns of a row, for any number of draws. A condition that the model rules
// out counts as none.
func (c *Completer) Given(row []uint16) {
	for i := range c.cliques {
		o := &c.cliques[i]
		o.at = c.cell(o.known, row) * o.block
		if o.value != nil {
			for k, x := range o.given[o.at:][:o.block] {
				o.value[k] = float64(x)
			}
		}
	}
	for i := len(c.cliques) - 1; i >= 0; i-- {
		o := &c.cliques[i]
		top := 0.0
		for k := range o.message {
			if o.value != nil {
				o.message[k] = sum(o.value[k*o.width:][:o.width])
			} else {
				o.message[k] = sum(o.given[o.at+k*o.width:][:o.width])
			}
			top = max(top, o.message[k])
		}
		if top == 0 {
			continue
		}
		for k := range o.message {
			o.message[k] /= top
		}
		value := c.cliques[o.parent].value[:len(o.up)]
		for k, to := range o.up {
			value[k] *= o.message[to]
		}
	}
}

// sum adds in an order that is the same on every platform.
func sum[T float32 | float64](v []T) float64 {
	var a, b, c, d float64
	for ; len(v) >= 4; v = v[4:] {
		a, b, c, d = a+float64(v[0]), b+float64(v[1]), c+float64(v[2]), d+float64(v[3])
	}
	for _, x := range v {
		a += float64(x)
	}
	return a + b + (c + d)
}

// Draw sets the columns of the row that are not known. For the same u it draws the same on every
// platform.
func (c *Completer) Draw(row []uint16, u *rand.Rand) {
	for i := range c.cliques {
		o := &c.cliques[i]
		if len(o.rest) == 0 {
			continue
		}
		at, cell := c.cell(o.sep, row)*o.width, 0
		if o.value != nil {
			cell = pick(o.value[at:][:o.width], u)
		} else {
			cell = pick(o.given[o.at+at:][:o.width], u)
		}
		for k := len(o.rest) - 1; k >= 0; k-- {
			size := c.sizes[o.rest[k]]
			row[o.rest[k]] = uint16(cell % size)
			cell /= size
		}
	}
}

// cell is the row's cell in a table over some of its columns.
func (c *Completer) cell(cols []int, row []uint16) (cell int) {
	for _, x := range cols {
		cell = cell*c.sizes[x] + int(row[x])
	}
	return cell
}

// pick draws a cell by its weight, any cell if all weights are 0.
func pick[T float32 | float64](weights []T, u *rand.Rand) (cell int) {
	all := sum(weights)
	if all == 0 {
		return int(below(u, uint64(len(weights))))
	}
	x := float64(u.Float64() * all)
	for k, w := range weights {
		if w > 0 {
			if cell = k; x < float64(w) {
				break
			}
			x -= float64(w)
		}
	}
	return cell
}
