package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
)

const (
	mostBins       = 40 // groups of a number that are drawn
	mostCategories = 10 // categories that are drawn by themselves
)

// distribution describes column k in all tables.
func (w *work) distribution(k int, s eval.ColumnShape) column {
	codec, train := w.codecs[k], w.Train.Counts(k)
	c := column{Name: s.Column, Kind: codec.Column().Kind.String(), Metric: s.Metric,
		Score: number(s.Score), codec: codec, shape: s, groups: group(codec, train)}
	c.Train, c.Synthetic = c.shares(train), c.shares(w.Synthetic.Counts(k))
	other := w.Synthetic
	if w.Holdout != nil {
		c.Holdout, other = c.shares(w.Holdout.Counts(k)), w.Holdout
	}
	// chance is how far another real table would be off, at this level
	chance := w.z * math.Sqrt(1/float64(w.Train.Rows())+1/float64(other.Rows()))
	for i, p := range c.Train {
		c.halves = append(c.halves, chance*math.Sqrt(p*(1-p)))
		tip := c.Labels[i] + ": training " + percent(p)
		if c.Holdout != nil {
			tip += ", holdout " + percent(c.Holdout[i])
		}
		c.tips = append(c.tips, tip+", synthetic "+percent(c.Synthetic[i]))
	}
	return c
}

// group joins neighbouring bins, or the categories that are rare in the training table.
func group(c *schema.Codec, train []int64) groups {
	g := groups{group: make([]int, c.Size())}
	codes := c.Values()
	g.Missing = codes < c.Size()
	if numeric(c) {
		g.join(c, codes, min(codes, mostBins))
	} else {
		order := make([]int, codes)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(train[b] - train[a]) })
		for rank, code := range order {
			g.group[code] = min(rank, mostCategories)
			if rank < mostCategories {
				g.Labels = append(g.Labels, c.Label(uint16(code)))
			}
		}
		if g.Rest = codes > mostCategories; g.Rest {
			g.Labels = append(g.Labels, fmt.Sprintf("%d others", codes-mostCategories))
		}
	}
	if g.Missing {
		g.group[codes] = len(g.Labels)
		g.Labels = append(g.Labels, "missing")
	}
	return g
}

// join joins the bins of a number, which are codes, into groups.
func (g *groups) join(c *schema.Codec, codes, groups int) {
	edge := func(x, bound float64) {
		g.Edges, g.Bounds = append(g.Edges, c.Show(x, short)), append(g.Bounds, bound)
	}
	for code := range codes {
		g.group[code] = code * groups / codes
		if g.group[code] == len(g.Edges) {
			low, _ := c.Bin(uint16(code))
			edge(low, low)
		}
	}
	_, high := c.Bin(uint16(codes - 1))
	bound := high
	if c.Column().Kind.Stored() == schema.StoredInt {
		bound++ // both ends are in a bin of whole numbers
	}
	edge(high, bound)
	for i := range groups {
		g.Labels = append(g.Labels, g.Edges[i]+" – "+g.Edges[i+1])
		if groups == codes {
			g.Labels[i] = c.Label(uint16(i))
		}
	}
}

func (g groups) shares(counts []int64) []float64 {
	out, total := make([]float64, len(g.Labels)), 0.
	for code, n := range counts {
		out[g.group[code]] += float64(n)
		total += float64(n)
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

func numeric(c *schema.Codec) bool { return c.Column().Kind.Ordered() }

// chart draws the distribution of a column: that of a number as steps, with a bar for missing
// cells.
func (c column) chart() template.HTML {
	if c.Edges == nil {
		return c.bars(0)
	}
	groups := len(c.Edges) - 1
	f := steps{label: "distribution of " + c.Name, width: 340, height: 176, left: 36, edges: c.Edges,
		tips: c.tips[:groups], series: []shares{{"train", c.Train[:groups]},
			{"synthetic", c.Synthetic[:groups]}}, halves: c.halves}
	if c.Missing {
		return f.plot().done() + c.bars(groups)
	}
	return f.plot().done()
}

// bars draws the groups from the given one on as categories. The line at the end of a training bar
// is the band of chance.
func (c column) bars(from int) template.HTML {
	f := rows{label: "distribution of " + c.Name, width: 340, left: 112, right: 46, to: 1e-9}
	for i := from; i < len(c.Labels); i++ {
		r := row{name: c.Labels[i], text: percent(c.Synthetic[i]), tip: c.tips[i]}
		if c.Missing && i == len(c.Labels)-1 || c.Rest && strings.HasSuffix(r.name, " others") {
			r.class = "soft"
		}
		a, b, half := c.Train[i], c.Synthetic[i], c.halves[i]
		r.marks = []mark{{class: "train", value: a, low: a - half, high: a + half, bar: true},
			{class: "synthetic", value: b, bar: true}}
		f.to = max(f.to, a+half, b)
		f.rows = append(f.rows, r)
	}
	return f.draw()
}
