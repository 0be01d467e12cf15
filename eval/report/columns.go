package report

import (
	"html/template"
	"math"
	"slices"
	"strings"
)

// sampling is what the band around the training table's shares needs: how far a real table of
// another size would be off by chance alone.
type sampling struct {
	z     float64
	scale float64 // √(1/n + 1/m) for the training table's n rows and m of another real table
}

func (r *Report) sampling() sampling {
	s := sampling{z: math.Sqrt2 * math.Erfinv(r.Settings.Level)}
	rows := map[string]float64{}
	for _, t := range r.Tables {
		rows[t.Role] = float64(t.Rows)
	}
	other := rows["holdout"]
	if other == 0 {
		other = rows["synthetic"]
	}
	s.scale = math.Sqrt(1/rows["train"] + 1/other)
	return s
}

// half is half the width of the band around a share.
func (s sampling) half(share Number) float64 {
	p := float64(share)
	return s.z * s.scale * math.Sqrt(p*(1-p))
}

// half is half the width of the band around the share of group i.
func (c Column) half(i int, s sampling) float64 {
	if c.halves != nil {
		return c.halves[i]
	}
	return s.half(c.Train[i])
}

// chart draws the distribution of a column.
func (c Column) chart(s sampling) template.HTML {
	if c.Edges != nil {
		return c.histogram(s)
	}
	return c.bars(s)
}

// tip is what each table has in group i.
func (c Column) tip(i int) string {
	if c.tips != nil {
		return c.Labels[i] + ": " + c.tips[i]
	}
	out := c.Labels[i] + ": training " + percent(c.Train[i])
	if c.Holdout != nil {
		out += ", holdout " + percent(c.Holdout[i])
	}
	return out + ", synthetic " + percent(c.Synthetic[i])
}

// histogram draws a number: the area of a group is its share of the rows, and its width that of its
// values. A group far denser than all others is cut, and its share written above it.
func (c Column) histogram(s sampling) template.HTML {
	right := 6.
	if c.Missing {
		right += 44 // room for the missing cells
	}
	d := newPlot(340, 176, "distribution of "+c.Name, 36, right, 16, 24)
	groups, axis := len(c.Bounds)-1, scaleOf(c)
	edges, widths := make([]float64, groups+1), make([]float64, groups)
	for i, b := range c.Bounds {
		edges[i] = axis.at(b)
		if i > 0 {
			widths[i-1] = max(edges[i]-edges[i-1], 1e-6)
		}
	}
	dense := func(v Number, i int) float64 { return float64(v) / widths[i] }
	var peaks []float64
	for i := range groups {
		high := c.Train[i]
		if c.halves != nil { // a band of noise may be wide
			high += Number(c.halves[i])
		}
		peaks = append(peaks, max(dense(high, i), dense(c.Synthetic[i], i)))
	}
	sorted := slices.Sorted(slices.Values(peaks))
	top := max(sorted[groups-1], 1e-9)
	cut := groups > 3 && sorted[groups-2] > 0 && top > 5*sorted[groups-2]
	if cut {
		top = 1.6 * sorted[groups-2]
	}
	even := slices.Max(widths) < 1.01*slices.Min(widths)
	if even && !cut {
		d.rows([]float64{0, .5, 1}, func(t float64) string { return percent(t * top * widths[0]) })
	} else {
		d.rows([]float64{.5, 1}, nil)
	}
	heights := func(of func(i int) float64) []float64 {
		out := make([]float64, groups)
		for i := range out {
			out[i] = min(1, max(0, of(i)/widths[i]/top))
		}
		return out
	}
	d.steps("step train", edges, heights(func(i int) float64 { return float64(c.Train[i]) }))
	d.area("band", edges,
		heights(func(i int) float64 { return float64(c.Train[i]) + c.half(i, s) }),
		heights(func(i int) float64 { return float64(c.Train[i]) - c.half(i, s) }))
	d.steps("step synthetic", edges, heights(func(i int) float64 { return float64(c.Synthetic[i]) }))
	for i := range groups {
		if cut && peaks[i] > top {
			d.text(min(d.x((edges[i]+edges[i+1])/2), d.right-24), d.up-5, "tick", "middle",
				"↑ "+percent(c.Synthetic[i]), 12)
		}
		d.rect(d.x(edges[i]), d.up, d.x(edges[i+1])-d.x(edges[i]), d.down-d.up, "touch", c.tip(i))
	}
	if c.Missing {
		m, most := len(c.Labels)-1, 1e-9
		if c.halves != nil {
			most = float64(c.Train[m]) + c.halves[m]
		}
		for _, shares := range [][]Number{c.Train, c.Synthetic} {
			for _, v := range shares {
				most = max(most, float64(v))
			}
		}
		for k, v := range []Number{c.Train[m], c.Synthetic[m]} {
			d.rect(d.right+14+13*float64(k), d.y(float64(v)/most), 12, d.down-d.y(float64(v)/most),
				"bar "+[]string{"train", "synthetic"}[k], "")
		}
		if c.halves != nil {
			at := func(v float64) float64 { return d.y(max(0, float64(c.Train[m])+v) / most) }
			d.line(d.right+20, at(c.halves[m]), d.right+20, at(-c.halves[m]), "chancebar")
		}
		d.text(d.right+27, d.down+13, "tick", "middle", "missing", 12)
		d.rect(d.right+10, d.up, 36, d.down-d.up, "touch", c.tip(m))
	}
	d.line(d.left, d.down, d.right, d.down, "axis")
	c.ticks(d, edges)
	if axis.unit != 0 {
		d.text(d.right, d.up-5, "tick", "end", "log scale", 12)
	}
	return d.done()
}

// ticks names as many edges as have room, about evenly spread.
func (c Column) ticks(d plot, edges []float64) {
	const letter = 5.4
	end := math.Inf(-1)
	last := len(edges) - 1
	for k := range 5 {
		at := 0
		for i := range edges {
			if math.Abs(edges[i]-float64(k)/4) < math.Abs(edges[at]-float64(k)/4) {
				at = i
			}
		}
		x, width, anchor := d.x(edges[at]), letter*float64(len([]rune(c.Edges[at]))), "middle"
		from, to := x-width/2, x+width/2
		switch at {
		case 0:
			anchor, from, to = "start", x, x+width
		case last:
			anchor, from, to = "end", x-width, x
		}
		lastWidth := letter * float64(len([]rune(c.Edges[last])))
		if from < end+8 || at != last && to > d.x(1)-lastWidth-8 {
			continue
		}
		end = to
		d.line(x, d.down, x, d.down+3, "axis")
		d.text(x, d.down+13, "tick", anchor, c.Edges[at], 22)
	}
}

// bars draws categories. The line at the end of a training bar is the band of chance.
func (c Column) bars(s sampling) template.HTML {
	const width, left, right, thick, gap = 340., 112., 46., 6., 7.
	row := thick*2 + gap
	height := row*float64(len(c.Labels)) + 4
	top := 1e-9
	for i := range c.Labels {
		top = max(top, float64(c.Train[i])+c.half(i, s), float64(c.Synthetic[i]))
	}
	d := draw(width, height, "distribution of "+c.Name)
	x := func(v float64) float64 { return left + (width-left-right)*max(0, v)/top }
	d.line(left, 0, left, height-2, "axis")
	for i, label := range c.Labels {
		y := 2 + row*float64(i)
		class := "label"
		if c.Missing && i == len(c.Labels)-1 || c.Rest && strings.HasSuffix(label, " others") {
			class = "label soft"
		}
		d.text(left-5, y+thick+3, class, "end", label, 18)
		a, b, half := float64(c.Train[i]), float64(c.Synthetic[i]), c.half(i, s)
		d.rect(left, y, x(a)-left, thick-.5, "bar train", "")
		d.rect(left, y+thick, x(b)-left, thick-.5, "bar synthetic", "")
		d.line(x(a-half), y+thick/2, x(a+half), y+thick/2, "chancebar")
		d.text(x(max(a+half, b))+5, y+thick+3, "tick", "start", percent(b), 12)
		d.rect(0, y-gap/2, width, row, "touch", c.tip(i))
	}
	return d.done()
}
