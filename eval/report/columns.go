package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/schema"
)

const (
	mostBins       = 40 // groups of a number that are drawn
	mostCategories = 10 // categories that are drawn by themselves
)

// distribution describes column k in all tables.
func (w *work) distribution(k int, s eval.ColumnShape) column {
	codec, train := w.codecs[k], count(w.Train, k)
	c := column{Name: s.Column, Kind: codec.Column().Kind.String(), Metric: s.Metric,
		Score: number(s.Score), codec: codec, groups: group(codec, train)}
	c.Train, c.Synthetic = c.shares(train), c.shares(count(w.Synthetic, k))
	other := w.Synthetic
	if w.Holdout != nil {
		c.Holdout, other = c.shares(count(w.Holdout, k)), w.Holdout
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
		c.peaks = append(c.peaks, max(p, c.Synthetic[i]))
	}
	return c
}

// group joins neighbouring bins, or the categories that are rare in the training table.
func group(c *schema.Codec, train []int64) groups {
	g := groups{group: make([]int, c.Size())}
	codes := c.Size()
	if missing, ok := c.MissingCode(); ok {
		g.Missing, codes = true, int(missing)
	}
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

// chart draws the distribution of a column. Of a number, the area of a group is its share of the
// rows, and its width that of its values. A group far denser than all others is cut, and its share
// written above it.
func (c column) chart() template.HTML {
	if c.Edges == nil {
		return c.bars(0)
	}
	groups := len(c.Bounds) - 1
	axis, log := axisOf(c)
	edges, widths, peaks := make([]float64, groups+1), make([]float64, groups),
		make([]float64, groups)
	for i, b := range c.Bounds {
		edges[i] = axis(b)
		if i > 0 {
			widths[i-1] = max(edges[i]-edges[i-1], 1e-6)
			peaks[i-1] = c.peaks[i-1] / widths[i-1]
		}
	}
	sorted := slices.Sorted(slices.Values(peaks))
	top := max(sorted[groups-1], 1e-9)
	cut := groups > 3 && sorted[groups-2] > 0 && top > 5*sorted[groups-2]
	if cut {
		top = 1.6 * sorted[groups-2]
	}
	heights := func(shares []float64, halves float64) []float64 {
		out := make([]float64, groups)
		for i := range out {
			out[i] = min(1, max(0, (shares[i]+halves*c.halves[i])/widths[i]/top))
		}
		return out
	}
	f := lines{label: "distribution of " + c.Name, width: 340, height: 176, left: 36, right: 6,
		up: 16, down: 24, below: c.ticks(edges), across: []tick{{.5, ""}, {1, ""}},
		edges: edges, tips: c.tips[:groups],
		series: []series{{"step train", outline(edges, heights(c.Train, 0))},
			{"band", area(edges, heights(c.Train, 1), heights(c.Train, -1))},
			{"step synthetic", outline(edges, heights(c.Synthetic, 0))}}}
	if slices.Max(widths) < 1.01*slices.Min(widths) && !cut { // heights are shares
		f.across = shareTicks(top * widths[0])
	}
	d := f.plot()
	for i := range groups {
		if cut && peaks[i] > top {
			d.text(min(d.x((edges[i]+edges[i+1])/2), d.right-24), d.up-5, "tick", "middle",
				"↑ "+percent(c.Synthetic[i]), 12)
		}
	}
	if log {
		d.text(d.right, d.up-5, "tick", "end", "log scale", 12)
	}
	if c.Missing {
		return d.done() + c.bars(groups)
	}
	return d.done()
}

// shareTicks are those of an axis of shares up to top.
func shareTicks(top float64) []tick {
	return []tick{{0, percent(0.)}, {.5, percent(.5 * top)}, {1, percent(top)}}
}

// ticks are five edges, about evenly spread.
func (c column) ticks(edges []float64) (out []tick) {
	for k := range 5 {
		at := floats.NearestIdx(edges, float64(k)/4)
		out = append(out, tick{edges[at], c.Edges[at]})
	}
	return out
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

// axisOf maps values to an axis from 0 to 1. It is linear, unless the schema spaces the bins by
// logarithms, or bins become wider away from the first and most rows are in some that would be less
// than a fortieth of the axis wide: then it is asinh(x/unit), which is logarithmic far from 0.
func axisOf(c column) (axis func(x float64) float64, log bool) {
	first, last := c.Bounds[0], c.Bounds[len(c.Bounds)-1]
	thin, unit := 0., math.Inf(1)
	for i, b := range c.Bounds {
		if b != 0 {
			unit = min(unit, math.Abs(b))
		}
		if i > 0 && b-c.Bounds[i-1] < (last-first)/40 {
			thin += c.Train[i-1]
		}
	}
	mean := (last - first) / float64(len(c.Bounds)-1)
	log = c.codec != nil && c.codec.Column().Spacing == schema.Log ||
		thin > .5 && c.Bounds[1]-first < mean/2
	apply := func(x float64) float64 { return x }
	if log = log && !math.IsInf(unit, 1); log {
		apply = func(x float64) float64 { return math.Asinh(x / unit) }
	}
	low, wide := apply(first), apply(last)-apply(first)
	return func(x float64) float64 {
		if wide <= 0 {
			return 0
		}
		return (apply(x) - low) / wide
	}, log
}
