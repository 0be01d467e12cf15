package report

import (
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/schema"
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
func (s sampling) half(share number) float64 {
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
	return c.bars(s, 0)
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
	groups, axis := len(c.Bounds)-1, scaleOf(c)
	edges, widths := make([]float64, groups+1), make([]float64, groups)
	for i, b := range c.Bounds {
		edges[i] = axis.at(b)
		if i > 0 {
			widths[i-1] = max(edges[i]-edges[i-1], 1e-6)
		}
	}
	var peaks []float64
	for i := range groups {
		high := float64(c.Train[i])
		if c.halves != nil { // a band of noise may be wide
			high += c.halves[i]
		}
		peaks = append(peaks, max(high, float64(c.Synthetic[i]))/widths[i])
	}
	sorted := slices.Sorted(slices.Values(peaks))
	top := max(sorted[groups-1], 1e-9)
	cut := groups > 3 && sorted[groups-2] > 0 && top > 5*sorted[groups-2]
	if cut {
		top = 1.6 * sorted[groups-2]
	}
	heights := func(shares []number, halves float64) []float64 {
		out := make([]float64, groups)
		for i := range out {
			high := float64(shares[i]) + halves*c.half(i, s)
			out[i] = min(1, max(0, high/widths[i]/top))
		}
		return out
	}
	f := lines{label: "distribution of " + c.Name, width: 340, height: 176, left: 36, right: 6,
		up: 16, down: 24, below: c.ticks(edges), across: []tick{{.5, ""}, {1, ""}},
		series: []series{
			{class: "step train", steps: true, x: edges, y: heights(c.Train, 0)},
			{class: "band", steps: true, x: edges, y: heights(c.Train, 1), low: heights(c.Train, -1)},
			{class: "step synthetic", steps: true, x: edges, y: heights(c.Synthetic, 0)}}}
	if slices.Max(widths) < 1.01*slices.Min(widths) && !cut { // heights are shares
		f.across = shareTicks(top * widths[0])
	}
	for i := range groups {
		f.tips = append(f.tips, c.tip(i))
	}
	d := f.plot()
	for i := range groups {
		if cut && peaks[i] > top {
			d.text(min(d.x((edges[i]+edges[i+1])/2), d.right-24), d.up-5, "tick", "middle",
				"↑ "+percent(c.Synthetic[i]), 12)
		}
	}
	if axis.unit != 0 {
		d.text(d.right, d.up-5, "tick", "end", "log scale", 12)
	}
	if c.Missing {
		return d.done() + c.bars(s, groups)
	}
	return d.done()
}

// shareTicks are those of an axis of shares up to top.
func shareTicks(top float64) []tick {
	var out []tick
	for _, at := range []float64{0, .5, 1} {
		out = append(out, tick{at, percent(at * top)})
	}
	return out
}

// ticks are five edges, about evenly spread.
func (c Column) ticks(edges []float64) []tick {
	var out []tick
	for k := range 5 {
		at := 0
		for i := range edges {
			if math.Abs(edges[i]-float64(k)/4) < math.Abs(edges[at]-float64(k)/4) {
				at = i
			}
		}
		out = append(out, tick{edges[at], c.Edges[at]})
	}
	return out
}

// bars draws the groups from the given one on as categories. The line at the end of a training bar
// is the band of chance.
func (c Column) bars(s sampling, from int) template.HTML {
	f := rows{label: "distribution of " + c.Name, width: 340, left: 112, right: 46, to: 1e-9}
	for i := from; i < len(c.Labels); i++ {
		label := c.Labels[i]
		r := row{name: label, text: percent(c.Synthetic[i]), tip: c.tip(i)}
		if c.Missing && i == len(c.Labels)-1 || c.Rest && strings.HasSuffix(label, " others") {
			r.class = "soft"
		}
		a, b, half := float64(c.Train[i]), float64(c.Synthetic[i]), c.half(i, s)
		r.marks = []mark{{class: "train", value: a, low: a - half, high: a + half, bar: true},
			{class: "synthetic", value: b, bar: true}}
		f.to = max(f.to, a+half, b)
		f.rows = append(f.rows, r)
	}
	return f.draw()
}

// scale maps values to the axis from 0 to 1.
type scale struct {
	low, high float64 // after the map
	unit      float64 // 0: linear, else asinh(x/unit), which is logarithmic far from 0
}

// scaleOf is linear, unless the schema spaces the bins by logarithms, or bins become wider away
// from the first and most rows are in some that would be less than a fortieth of the axis wide.
func scaleOf(c Column) scale {
	first, last := c.Bounds[0], c.Bounds[len(c.Bounds)-1]
	log := c.codec != nil && c.codec.Column().Spacing == schema.Log
	thin, unit := number(0), math.Inf(1)
	for i, b := range c.Bounds {
		if b != 0 {
			unit = min(unit, math.Abs(float64(b)))
		}
		if i > 0 && b-c.Bounds[i-1] < (last-first)/40 {
			thin += c.Train[i-1]
		}
	}
	s := scale{}
	mean := (last - first) / number(len(c.Bounds)-1)
	if (log || thin > .5 && c.Bounds[1]-first < mean/2) && !math.IsInf(unit, 1) {
		s.unit = unit
	}
	s.low, s.high = s.apply(float64(first)), s.apply(float64(last))
	return s
}

func (s scale) apply(x float64) float64 {
	if s.unit == 0 {
		return x
	}
	return math.Asinh(x / s.unit)
}

// at is the place of x on the axis.
func (s scale) at(x number) float64 {
	if s.high <= s.low {
		return 0
	}
	return (s.apply(float64(x)) - s.low) / (s.high - s.low)
}
