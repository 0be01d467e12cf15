package report

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
)

const (
	mostBins       = 40 // groups of a number that are drawn
	mostCategories = 10 // categories that are drawn by themselves
)

// grouping joins the codes of a column into few enough groups to draw.
type grouping struct {
	group  []int // of every code
	labels []string
	edges  []string // of the groups of a number
	bounds []number // the same as numbers
	rest   bool
	miss   bool
}

// distribution describes column k in all tables.
func (w *work) distribution(k int, s eval.ColumnShape) Column {
	train := count(w.Train, k)
	g := group(w.codecs[k], train, mostBins)
	c := Column{Name: s.Column, Kind: w.codecs[k].Column().Kind.String(), Metric: s.Metric,
		Score: number(s.Score), codec: w.codecs[k],
		Labels: g.labels, Edges: g.edges, Bounds: g.bounds, Missing: g.miss, Rest: g.rest}
	c.Train, c.Synthetic = g.shares(train), g.shares(count(w.Synthetic, k))
	if w.Holdout != nil {
		c.Holdout = g.shares(count(w.Holdout, k))
	}
	return c
}

// group joins neighbouring bins into at most most, or the categories that are rare in the training
// table.
func group(c *schema.Codec, train []int64, most int) grouping {
	g := grouping{group: make([]int, c.Size())}
	codes := c.Size()
	if missing, ok := c.MissingCode(); ok {
		g.miss, codes = true, int(missing)
	}
	if numeric(c) {
		groups := min(codes, most)
		for code := range codes {
			at := code * groups / codes
			g.group[code] = at
			if at == len(g.edges) {
				lo, _ := c.Bin(uint16(code))
				g.edges = append(g.edges, edge(c, code, false))
				g.bounds = append(g.bounds, number(lo))
			}
		}
		_, hi := c.Bin(uint16(codes - 1))
		if c.Column().Kind.Stored() == schema.StoredInt {
			hi++ // both ends are in a bin of whole numbers
		}
		g.edges = append(g.edges, edge(c, codes-1, true))
		g.bounds = append(g.bounds, number(hi))
		for i := range groups {
			g.labels = append(g.labels, g.edges[i]+" – "+g.edges[i+1])
		}
		if groups == codes {
			for i := range groups {
				g.labels[i] = c.Label(uint16(i))
			}
		}
	} else {
		order := make([]int, codes)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(train[b] - train[a]) })
		for rank, code := range order {
			g.group[code] = min(rank, mostCategories)
			if rank < mostCategories {
				g.labels = append(g.labels, c.Label(uint16(code)))
			}
		}
		if codes > mostCategories {
			g.rest = true
			g.labels = append(g.labels, fmt.Sprintf("%d others", codes-mostCategories))
		}
	}
	if g.miss {
		g.group[codes] = len(g.labels)
		g.labels = append(g.labels, "missing")
	}
	return g
}

func (g grouping) shares(counts []int64) []number {
	out, total := make([]number, len(g.labels)), int64(0)
	for code, n := range counts {
		out[g.group[code]] += number(n)
		total += n
	}
	for i := range out {
		out[i] /= number(total)
	}
	return out
}

func numeric(c *schema.Codec) bool { return c.Column().Kind.Ordered() }

// edge is the lower or the upper end of a bin, for people.
func edge(c *schema.Codec, code int, upper bool) string {
	x, hi := c.Bin(uint16(code))
	if upper {
		x = hi
	}
	return c.Show(x, short)
}
