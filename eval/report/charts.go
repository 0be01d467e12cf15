package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// Draw draws a part of the report.
func (v *view) Draw(part interface{ chart(sampling) template.HTML }) template.HTML {
	return part.chart(v.sampling())
}

// chart draws the two ROC curves of a learner.
func (p Prediction) chart(sampling) template.HTML {
	f := lines{label: "ROC curves of " + p.Learner, width: 320, height: 320, left: 46, right: 10,
		up: 8, down: 40, grid: true, across: numberTicks(0, .25, .5, .75, 1),
		below:  numberTicks(0, .25, .5, .75, 1),
		series: []series{{class: "chance", x: []float64{0, 1}, y: []float64{0, 1}}}}
	for _, c := range []struct {
		curve Curve
		class string
	}{{p.Real, "train"}, {p.Synthetic, "synthetic"}} {
		s := series{class: "curve " + c.class}
		for _, q := range c.curve.Points {
			s.x, s.y = append(s.x, float64(q[0])), append(s.y, float64(q[1]))
		}
		f.series = append(f.series, s)
	}
	d := f.plot()
	d.text(d.x(1)-6, d.y(0)-26, "label train", "end", "trained on real rows: "+fixed(p.Real.AUROC), 60)
	d.text(d.x(1)-6, d.y(0)-12, "label synthetic", "end",
		"trained on synthetic rows: "+fixed(p.Synthetic.AUROC), 60)
	d.text(d.x(.5), d.y(0)+30, "tick", "middle", "false positive rate", 40)
	d.turned(12, d.y(.5), 90, "tick", "middle", "true positive rate", 40)
	return d.done()
}

// chart draws the adversarial accuracies with their terms.
func (n *Nearest) chart(s sampling) template.HTML {
	f := rows{label: "nearest-neighbour adversarial accuracy", width: 460, left: 104, right: 96,
		to: 1, ticks: numberTicks(0, .25, .5, .75, 1), chance: .5}
	for _, g := range []struct {
		name          string
		first, second string // the classes of the two terms
		a             *accuracy
	}{
		{"synthetic – training, the rows it was made from", "training", "synthetic", &n.Train},
		{"synthetic – holdout, other real rows", "holdout", "synthetic", n.Holdout},
		{"holdout – training, the yardstick: real – real", "training", "holdout", n.Yardstick},
	} {
		if g.a == nil {
			f.rows = append(f.rows, row{name: g.name + ": needs a holdout"})
			continue
		}
		f.rows = append(f.rows, row{name: g.name},
			point(g.first+" rows", strings.TrimSuffix(g.first, "ing"), g.a.Real, 0),
			point(g.second+" rows", g.second, g.a.Synthetic, 0),
			point("mean", "mean", g.a.Mean, number(s.z)*g.a.StdErr))
	}
	return f.draw()
}

// point is a row of one value, give or take half.
func point(name, class string, value, half number) row {
	text := fixed(value)
	if half > 0 {
		text += fmt.Sprintf(" ± %.3f", half)
	}
	return row{name: name, text: text, marks: []mark{{class: class, value: float64(value),
		low: float64(value - half), high: float64(value + half)}}}
}

// numberTicks are at these values.
func numberTicks(values ...number) []tick {
	var out []tick
	for _, v := range values {
		out = append(out, tick{float64(v), v.String()})
	}
	return out
}

// chart draws the privacy loss on a line.
func (l *loss) chart(s sampling) template.HTML {
	f := rows{label: "privacy loss", width: 460, left: 40, right: 90, from: -.5, to: .5,
		ticks: numberTicks(-.5, -.25, 0, .25, .5),
		rows:  []row{point("loss", "mean", l.Value, number(s.z)*l.StdErr)}}
	f.ticks[2].text = "0: none"
	f.ticks[4].text += ": a copied table"
	return f.draw()
}

// chart draws the distances to the closest record.
func (h histogram) chart(sampling) template.HTML {
	f := lines{label: "distances of synthetic rows to the closest real row", width: 460, height: 210,
		left: 40, right: 8, up: 10, down: 34}
	top := 1e-9
	for _, v := range slices.Concat(h.Train, h.Holdout) {
		top = max(top, float64(v))
	}
	f.across = shareTicks(top)
	last := len(h.Edges) - 1
	var edges []float64
	for _, e := range h.Edges {
		edges = append(edges, float64(e/h.Edges[last]))
	}
	for _, s := range []struct {
		class  string
		shares []number
	}{{"train", h.Train}, {"holdout", h.Holdout}} {
		var heights []float64
		for _, v := range s.shares {
			heights = append(heights, float64(v)/top)
		}
		if heights != nil {
			f.series = append(f.series,
				series{class: "step " + s.class, steps: true, x: edges, y: heights})
		}
	}
	for i := range h.Train {
		tip := fmt.Sprintf("%s – %s: training %s", h.Edges[i], h.Edges[i+1], percent(h.Train[i]))
		if h.Holdout != nil {
			tip += ", holdout " + percent(h.Holdout[i])
		}
		f.tips = append(f.tips, tip)
	}
	for _, k := range []int{0, last / 2, last} {
		f.below = append(f.below, tick{edges[k], fmt.Sprintf("%.2g", h.Edges[k])})
	}
	d := f.plot()
	d.text(d.x(.5), d.down+28, "tick", "middle",
		"distance to the closest real row (0 = equal, 1 = different in everything)", 90)
	return d.done()
}

// chart draws the rates of a value in the tables, each with its interval, from 0 up.
func (r RareValue) chart(sampling) template.HTML {
	f := rows{label: "rate of " + r.Column + " = " + r.Value, width: 460, left: 64, right: 146,
		to: 1e-9}
	for _, x := range []struct {
		name, class string
		rate        *Rate
	}{{"training", "train", &r.Train}, {"holdout", "holdout", r.Holdout},
		{"synthetic", "synthetic", &r.Synthetic}} {
		if x.rate == nil {
			continue
		}
		low, high := float64(x.rate.Low), float64(x.rate.High)
		f.to = max(f.to, high)
		f.rows = append(f.rows, row{name: x.name, text: fmt.Sprintf("%s (%s – %s)",
			percent(x.rate.Rate), percent(low), percent(high)),
			marks: []mark{{class: x.class, value: float64(x.rate.Rate), low: low, high: high}}})
	}
	return f.draw()
}

const (
	mostMapped     = 60 // columns that are drawn
	fullDifference = .5 // difference of two associations that is drawn in full colour
	listedPairs    = 15 // pairs in the table
)

// ordered is the columns that are drawn, those whose associations are furthest off first.
func (a *Associations) ordered() []int {
	off := make([]float64, len(a.Columns))
	order := make([]int, len(a.Columns))
	for i := range order {
		order[i] = i
		for j := range order {
			if d := math.Abs(float64(a.Synthetic[i][j] - a.Real[i][j])); d == d {
				off[i] += d
			}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(off[j], off[i]) })
	return order[:min(len(order), mostMapped)]
}

// charts are the associations of both tables in one square, and their differences.
func (a *Associations) charts() []labelled {
	order := a.ordered()
	var names []string
	for _, i := range order {
		names = append(names, a.Columns[i])
	}
	class := "label"
	if len(names) > 40 {
		class = "label tiny"
	}
	square := func(full float64, value func(i, j int) number) template.HTML {
		at := func(x, y int) (string, float64, string) {
			if x == y {
				return "", 0, ""
			}
			i, j := order[x], order[y]
			v := float64(value(i, j))
			if x < y && full == 1 { // the upper right is the synthetic table
				v = float64(a.Synthetic[i][j])
			}
			shade := min(1, math.Abs(v)/full)
			if v != v {
				shade = 1
			}
			return signClass(v), shade, fmt.Sprintf("%s × %s: %s real, %s here", a.Columns[i],
				a.Columns[j], twoDigits(a.Real[i][j]), twoDigits(a.Synthetic[i][j]))
		}
		return heat{label: "associations of columns", class: class, rows: names, columns: names,
			width: 560, left: 104, square: true, full: full, panels: []panel{{at: at}}}.draw()
	}
	return []labelled{
		{"Real (lower left) and synthetic (upper right)",
			square(1, func(i, j int) number { return a.Real[i][j] })},
		{"Synthetic minus real",
			square(fullDifference, func(i, j int) number { return a.Synthetic[i][j] - a.Real[i][j] })},
	}
}

// listed is the pairs whose associations are furthest off, as far as more than chance.
func (a *Associations) listed() []Pair {
	n := 0
	for n < min(len(a.Pairs), listedPairs) && a.Pairs[n].Excess > 0 {
		n++
	}
	return a.Pairs[:n]
}

// chart draws the joint distributions of a pair of columns.
func (p Pair) chart(sampling) template.HTML {
	return p.Joint.chart(p.First+" and "+p.Second, "training table", "synthetic")
}

// chart draws the joint distributions of a pair side by side, under their names.
func (j *joint) chart(pair, real, synthetic string) template.HTML {
	top := 1e-9
	for _, row := range slices.Concat(j.Real, j.Synthetic) {
		for _, v := range row {
			top = max(top, float64(v))
		}
	}
	side := func(name, class string, m [][]number) panel {
		return panel{name, func(i, k int) (string, float64, string) {
			// the root shows small shares too
			return "bar " + class, math.Sqrt(max(0, float64(m[i][k])) / top),
				fmt.Sprintf("%s × %s: %s %s, %s %s", j.First[i], j.Second[k], real,
					percent(j.Real[i][k]), synthetic, percent(j.Synthetic[i][k]))
		}}
	}
	return heat{label: "joint distribution of " + pair, class: "label tiny", rows: j.First,
		columns: j.Second, width: 460, left: 78,
		panels: []panel{side(real, "train", j.Real), side(synthetic, "synthetic", j.Synthetic)}}.draw()
}
