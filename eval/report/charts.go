package report

import (
	"fmt"
	"html/template"
)

// chart draws the two ROC curves of a learner.
func (p Prediction) chart() template.HTML {
	d := newPlot(320, 320, "ROC curves of "+p.Learner, 46, 10, 8, 40)
	ticks := []float64{0, .25, .5, .75, 1}
	d.rows(ticks, number)
	for _, t := range ticks {
		d.line(d.x(t), d.y(0), d.x(t), d.y(1), "grid")
		d.text(d.x(t), d.y(0)+13, "tick", "middle", number(t), 6)
	}
	d.line(d.x(0), d.y(0), d.x(1), d.y(1), "chance")
	for _, c := range []struct {
		curve Curve
		class string
	}{{p.Real, "train"}, {p.Synthetic, "synthetic"}} {
		var points [][2]float64
		for _, q := range c.curve.Points {
			points = append(points, [2]float64{d.x(float64(q[0])), d.y(float64(q[1]))})
		}
		d.path("curve "+c.class, points)
	}
	d.text(d.x(1)-6, d.y(0)-26, "label train", "end", "trained on real rows: "+fixed(p.Real.AUROC), 60)
	d.text(d.x(1)-6, d.y(0)-12, "label synthetic", "end",
		"trained on synthetic rows: "+fixed(p.Synthetic.AUROC), 60)
	d.text(d.x(.5), d.y(0)+30, "tick", "middle", "false positive rate", 40)
	d.upright(12, d.y(.5), "tick", "true positive rate")
	return d.done()
}

// chart draws the adversarial accuracies with their terms.
func (n *Nearest) chart(z float64) template.HTML {
	d := newPlot(460, 230, "nearest-neighbour adversarial accuracy", 36, 6, 10, 44)
	y := func(v Number) float64 { return d.y(float64(v)) }
	d.rows([]float64{0, .25, .5, .75, 1}, number)
	d.line(d.left, y(.5), d.right, y(.5), "chance")
	groups := []struct {
		name, under  string
		first, other string // the classes of the two terms
		a            *Accuracy
	}{
		{"synthetic – training", "rows it was made from", "train", "synthetic", &n.Train},
		{"synthetic – holdout", "other real rows", "holdout", "synthetic", n.Holdout},
		{"holdout – training", "yardstick: real – real", "train", "holdout", n.Yardstick},
	}
	for i, g := range groups {
		middle := d.x((float64(i) + .5) / float64(len(groups)))
		if g.a == nil {
			d.text(middle, y(.5)-6, "label soft", "middle", "needs a holdout", 30)
			continue
		}
		for k, v := range []Number{g.a.Real, g.a.Synthetic} {
			at := middle - 46 + 36*float64(k)
			class, name := g.first, "real term"
			if k == 1 {
				class, name = g.other, "second term"
			}
			d.rect(at, y(v), 32, y(0)-y(v), "bar "+class, fmt.Sprintf("%s: %s %.3f", g.name, name, v))
			d.text(at+16, y(v)-4, "tick", "middle", fixed(v), 8)
		}
		half := Number(z) * g.a.StdErr
		d.line(middle+40, y(min(1, g.a.Mean+half)), middle+40, y(max(0, g.a.Mean-half)), "whisker")
		d.dot(middle+40, y(g.a.Mean), 4, "mean", fmt.Sprintf("mean %.3f ± %.3f", g.a.Mean, half))
		d.text(middle, d.down+15, "label", "middle", g.name, 40)
		d.text(middle, d.down+28, "tick", "middle", g.under, 40)
	}
	return d.done()
}

// chart draws the privacy loss on a line.
func (l *Loss) chart(z float64) template.HTML {
	const width, height, left, right, y = 460., 70., 20., 20., 30.
	d := draw(width, height, "privacy loss")
	x := func(v Number) float64 {
		return left + (width-left-right)*(float64(max(-.5, min(.5, v)))+.5)
	}
	d.line(left, y, width-right, y, "axis")
	for _, t := range []Number{-.5, -.25, 0, .25, .5} {
		d.line(x(t), y-4, x(t), y+4, "axis")
		d.text(x(t), y+17, "tick", "middle", t.String(), 6)
	}
	d.line(x(0), y-9, x(0), y+8, "chance")
	half := Number(z) * l.StdErr
	d.line(x(l.Value-half), y, x(l.Value+half), y, "whisker thick")
	d.dot(x(l.Value), y, 5, "mean", fmt.Sprintf("%.3f ± %.3f", l.Value, half))
	d.text(x(l.Value), y-11, "label", "middle", fixed(l.Value), 10)
	d.text(x(0), height-6, "tick", "middle", "none", 20)
	d.text(x(.5), height-6, "tick", "end", "a copied table", 20)
	return d.done()
}

// chart draws the distances to the closest record.
func (h Histogram) chart() template.HTML {
	d := newPlot(460, 210, "distances of synthetic rows to the closest real row", 40, 8, 10, 34)
	top := 1e-9
	for _, s := range [][]Number{h.Train, h.Holdout} {
		for _, v := range s {
			top = max(top, float64(v))
		}
	}
	d.rows([]float64{0, .5, 1}, func(t float64) string { return percent(t * top) })
	last := h.Edges[len(h.Edges)-1]
	var edges []float64
	for _, e := range h.Edges {
		edges = append(edges, float64(e/last))
	}
	for _, s := range []struct {
		class  string
		shares []Number
	}{{"train", h.Train}, {"holdout", h.Holdout}} {
		var heights []float64
		for _, v := range s.shares {
			heights = append(heights, float64(v)/top)
		}
		d.steps("step "+s.class, edges, heights)
	}
	for i := range h.Train {
		tip := fmt.Sprintf("%s – %s: training %s", h.Edges[i], h.Edges[i+1], percent(h.Train[i]))
		if h.Holdout != nil {
			tip += ", holdout " + percent(h.Holdout[i])
		}
		d.rect(d.x(edges[i]), d.up, d.x(edges[i+1])-d.x(edges[i]), d.down-d.up, "touch", tip)
	}
	d.line(d.left, d.down, d.right, d.down, "axis")
	for _, k := range []int{0, len(h.Train) / 2, len(h.Train)} {
		anchor := []string{"start", "middle", "end"}[2*k/len(h.Train)]
		d.text(d.x(edges[k]), d.down+13, "tick", anchor, fmt.Sprintf("%.2g", h.Edges[k]), 10)
	}
	d.text(d.x(.5), d.down+28, "tick", "middle",
		"distance to the closest real row (0 = equal, 1 = different in everything)", 90)
	return d.done()
}

// number is a tick of an axis.
func number(t float64) string { return Number(t).String() }

// chart draws the rates of a value in the tables, each with its interval, from 0 up.
func (r RareValue) chart() template.HTML {
	const width, left, right, row = 460., 64., 146., 16.
	rates := []struct {
		name, class string
		rate        *Rate
	}{{"training", "train", &r.Train}, {"holdout", "holdout", r.Holdout},
		{"synthetic", "synthetic", &r.Synthetic}}
	top, rows := 1e-9, 0.
	for _, x := range rates {
		if x.rate != nil {
			top = max(top, float64(x.rate.High))
			rows++
		}
	}
	d := draw(width, rows*row+4, "rate of "+r.Column+" = "+r.Value)
	x := func(v Number) float64 { return left + (width-left-right)*float64(v)/(1.04*top) }
	d.line(left, 0, left, rows*row+2, "axis")
	y := 2 + row/2
	for _, s := range rates {
		if s.rate == nil {
			continue
		}
		d.text(left-6, y+3, "label", "end", s.name, 12)
		d.line(x(s.rate.Low), y, x(s.rate.High), y, "interval "+s.class)
		d.dot(x(s.rate.Rate), y, 3.6, "point "+s.class, "")
		d.text(width-right+6, y+3, "tick", "start",
			fmt.Sprintf("%s (%s – %s)", percent(s.rate.Rate), percent(s.rate.Low),
				percent(s.rate.High)), 60)
		y += row
	}
	return d.done()
}
