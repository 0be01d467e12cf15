package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/decoy-dp/decoy/eval"
)

// chart draws the two ROC curves of a learner.
func (p prediction) chart() template.HTML {
	quarters := numberTicks(0, .25, .5, .75, 1)
	f := lines{label: "ROC curves of " + p.Learner, width: 320, height: 320, left: 46, right: 10,
		up: 8, down: 40, grid: true, across: quarters, below: quarters,
		series: []series{{"chance", [][2]float64{{0, 0}, {1, 1}}},
			{"curve train", p.Real.Points}, {"curve synthetic", p.Synthetic.Points}}}
	d := f.plot()
	for i, c := range []struct{ class, text string }{
		{"label train", "trained on real rows: " + fixed(p.Real.AUROC)},
		{"label synthetic", "trained on synthetic rows: " + fixed(p.Synthetic.AUROC)},
	} {
		d.text(d.x(1)-6, d.y(0)-26+14*float64(i), c.class, "end", c.text, 60)
	}
	d.text(d.x(.5), d.y(0)+30, "tick", "middle", "false positive rate", 40)
	d.turned(12, d.y(.5), 90, "tick", "middle", "true positive rate", 40)
	return d.done()
}

// chart draws the adversarial accuracies with their terms.
func (n *nearest) chart() template.HTML {
	f := rows{label: "nearest-neighbour adversarial accuracy", width: 460, left: 104, right: 96,
		to: 1, ticks: numberTicks(0, .25, .5, .75, 1)}
	for _, g := range []struct {
		name          string
		first, second string // the classes of the two terms
		a             *eval.Terms
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
			point("mean", "mean", g.a.Mean, n.z*g.a.StdErr))
	}
	return f.draw()
}

// LossText is the privacy loss, give or take its interval.
func (n *nearest) LossText() string {
	return fmt.Sprintf("%s ± %.3f", fixed(n.Loss.Loss), n.z*n.Loss.StdErr)
}

// point is a row of one value, give or take half.
func point(name, class string, value, half float64) row {
	text := fixed(value)
	if half > 0 {
		text += fmt.Sprintf(" ± %.3f", half)
	}
	return row{name: name, text: text, marks: []mark{{class: class, value: value,
		low: value - half, high: value + half}}}
}

// numberTicks are at these values.
func numberTicks(values ...number) []tick {
	var out []tick
	for _, v := range values {
		out = append(out, tick{float64(v), v.String()})
	}
	return out
}

// chart draws the distances to the closest record.
func (h histogram) chart() template.HTML {
	f := steps{label: "distances of synthetic rows to the closest real row", width: 460, height: 210,
		left: 40, series: []shares{{"train", h.Train}}}
	if h.Holdout != nil {
		f.series = append(f.series, shares{"holdout", h.Holdout})
	}
	for _, edge := range h.Edges {
		f.edges = append(f.edges, fmt.Sprintf("%.2g", edge))
	}
	for i := range h.Train {
		tip := fmt.Sprintf("%s – %s: training %s", number(h.Edges[i]), number(h.Edges[i+1]),
			percent(h.Train[i]))
		if h.Holdout != nil {
			tip += ", holdout " + percent(h.Holdout[i])
		}
		f.tips = append(f.tips, tip)
	}
	d := f.plot()
	d.text(d.x(.5), d.down+28, "tick", "middle",
		"distance to the closest real row (0 = equal, 1 = different in everything)", 90)
	return d.done()
}

// chart draws the rates of a value in the tables, each with its interval, from 0 up.
func (r rareValue) chart() template.HTML {
	f := rows{label: "rate of " + r.Column + " = " + r.Value, width: 460, left: 64, right: 146,
		to: 1e-9}
	for _, x := range []struct {
		name, class string
		rate        *rate
	}{{"training", "train", &r.Train}, {"holdout", "holdout", r.Holdout},
		{"synthetic", "synthetic", &r.Synthetic}} {
		if x.rate == nil {
			continue
		}
		rate, low, high := float64(x.rate.Rate), float64(x.rate.Low), float64(x.rate.High)
		f.to = max(f.to, high)
		f.rows = append(f.rows, row{name: x.name, text: fmt.Sprintf("%s (%s – %s)",
			percent(rate), percent(low), percent(high)),
			marks: []mark{{class: x.class, value: rate, low: low, high: high}}})
	}
	return f.draw()
}

const (
	mostMapped     = 60 // columns that are drawn
	fullDifference = .5 // difference of two associations that is drawn in full colour
	listedPairs    = 15 // pairs in the table
)

// ordered is the columns that are drawn, those whose associations are furthest off first.
func (a *associations) ordered() []int {
	off, order := make([]float64, len(a.Columns)), make([]int, len(a.Columns))
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

// maps are the associations of both tables in one square, and their differences.
func (a *associations) maps() []picture {
	order := a.ordered()
	square := func(
		full float64, value func(real, synthetic number, above bool) number,
	) []template.HTML {
		f := heat{label: "associations of columns", full: full}
		for _, i := range order {
			f.names = append(f.names, a.Columns[i])
		}
		f.at = func(x, y int) (float64, string) {
			i, j := order[x], order[y]
			real, synthetic := a.Real[i][j], a.Synthetic[i][j]
			return float64(value(real, synthetic, x < y)), fmt.Sprintf("%s × %s: %s real, %s here",
				a.Columns[i], a.Columns[j], twoDigits(real), twoDigits(synthetic))
		}
		return []template.HTML{f.draw()}
	}
	return []picture{
		{Caption: "Real (lower left) and synthetic (upper right)", Drawings: square(1,
			func(real, synthetic number, above bool) number {
				if above {
					return synthetic
				}
				return real
			})},
		{Caption: "Synthetic minus real", Drawings: square(fullDifference,
			func(real, synthetic number, _ bool) number { return synthetic - real })},
	}
}

// listed is the pairs whose associations are furthest off, as far as more than chance.
func (a *associations) listed() []eval.PairLoss {
	n := 0
	for n < min(len(a.Pairs), listedPairs) && a.Pairs[n].Excess > 0 {
		n++
	}
	return a.Pairs[:n]
}
