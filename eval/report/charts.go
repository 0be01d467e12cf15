package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// series is one of the tables in a chart.
type series struct {
	name, class string
	shares      []Number
}

func (c Column) series() []series {
	out := []series{{"training", "train", c.Train}}
	if c.Holdout != nil {
		out = append(out, series{"holdout", "holdout", c.Holdout})
	}
	return append(out, series{"synthetic", "synthetic", c.Synthetic})
}

// chart draws the distribution of a column.
func (c Column) chart() template.HTML {
	if c.Edges != nil {
		return c.histogram()
	}
	return c.bars()
}

// tip is what each table has in group i.
func (c Column) tip(i int) string {
	var out []string
	for _, s := range c.series() {
		out = append(out, s.name+" "+percent(float64(s.shares[i])))
	}
	return c.Labels[i] + ": " + strings.Join(out, ", ")
}

func (c Column) top() float64 {
	top := 1e-9
	for _, s := range c.series() {
		for _, v := range s.shares {
			top = max(top, float64(v))
		}
	}
	return top
}

// histogram draws a number: every group is as wide as every other, whatever its width in the
// schema.
func (c Column) histogram() template.HTML {
	const width, height, left, right, up, down = 340., 170., 36., 6., 8., 22.
	groups := len(c.Edges) - 1
	end := width - right
	if c.Missing {
		end -= 44 // room for the missing cells
	}
	top := c.top()
	x := func(i int) float64 { return left + (end-left)*float64(i)/float64(groups) }
	y := func(v Number) float64 { return height - down - (height-up-down)*float64(v)/top }
	d := draw(width, height, "distribution of "+c.Name)
	for _, t := range []float64{0, .5, 1} {
		at := y(Number(t * top))
		d.line(left, at, width-right, at, "grid")
		d.text(left-4, at+3, "tick", "end", percent(t*top), 12)
	}
	for _, s := range c.series() {
		var points [][2]float64
		if s.class == "train" {
			points = append(points, [2]float64{x(0), y(0)})
		}
		for i, v := range s.shares[:groups] {
			points = append(points, [2]float64{x(i), y(v)}, [2]float64{x(i + 1), y(v)})
		}
		if s.class == "train" {
			points = append(points, [2]float64{x(groups), y(0)})
		}
		d.path("step "+s.class, points)
		if c.Missing {
			at := map[string]float64{"train": 0, "holdout": 1, "synthetic": 2}[s.class]
			v := s.shares[groups]
			d.rect(end+14+at*9, y(v), 8, y(0)-y(v), "bar "+s.class, "")
		}
	}
	if c.Missing {
		d.text(end+27, height-8, "tick", "middle", "missing", 12)
		d.rect(end+12, up, 30, height-up-down, "touch", c.tip(groups))
	}
	for i := range groups {
		d.rect(x(i), up, x(i+1)-x(i), height-up-down, "touch", c.tip(i))
	}
	// As many edges as have room.
	longest := 1
	for _, e := range c.Edges {
		longest = max(longest, len([]rune(e)))
	}
	ticks := min(groups, 4, max(1, int((end-left)/(5.6*float64(longest)+14))))
	for k := range ticks + 1 {
		i := k * groups / ticks
		anchor := "middle"
		if k == 0 {
			anchor = "start"
		} else if k == ticks {
			anchor = "end"
		}
		d.line(x(i), height-down, x(i), height-down+3, "axis")
		d.text(x(i), height-8, "tick", anchor, c.Edges[i], 22)
	}
	d.line(left, height-down, end, height-down, "axis")
	return d.done()
}

// bars draws categories.
func (c Column) bars() template.HTML {
	const width, left, right, thick, gap = 340., 112., 44., 4.5, 6.
	all := c.series()
	row := thick*float64(len(all)) + gap
	height := row*float64(len(c.Labels)) + 4
	top := c.top()
	d := draw(width, height, "distribution of "+c.Name)
	d.line(left, 0, left, height-2, "axis")
	for i, label := range c.Labels {
		y := 2 + row*float64(i)
		class := "label"
		if c.Missing && i == len(c.Labels)-1 || c.Rest && strings.HasSuffix(label, " others") {
			class = "label soft"
		}
		d.text(left-5, y+row/2, class, "end", label, 17)
		for k, s := range all {
			d.rect(left, y+thick*float64(k), (width-left-right)*float64(s.shares[i])/top, thick-.5,
				"bar "+s.class, "")
		}
		longest := Number(0)
		for _, s := range all {
			longest = max(longest, s.shares[i])
		}
		d.text(left+4+(width-left-right)*float64(longest)/top, y+row/2, "tick", "start",
			percent(float64(c.Synthetic[i])), 12)
		d.rect(0, y, width, row, "touch", c.tip(i))
	}
	return d.done()
}

// heat draws a square of associations; a value of full is as dark as can be.
func heat(label string, names []string, full float64, m func(i, j int) float64) template.HTML {
	const width, left, up = 400., 92., 78.
	n := len(names)
	cell := (width - left - 34) / float64(n)
	d := draw(width, up+cell*float64(n)+4, label)
	every := max(1, int(math.Ceil(8/cell)))
	class := "label"
	if cell < 11 {
		class = "label tiny"
	}
	for i, name := range names {
		if i%every == 0 {
			d.text(left-4, up+cell*(float64(i)+.5)+3, class, "end", name, 16)
			d.slanted(left+cell*(float64(i)+.5), up-5, class, name, 16)
		}
		for j := range names {
			v := m(i, j)
			kind, tip := "pos", fmt.Sprintf("%s × %s: %.2f", name, names[j], v)
			switch {
			case math.IsNaN(v):
				kind, v, tip = "none", full, name+" × "+names[j]+": not defined"
			case v < 0:
				kind = "neg"
			}
			d.shade(left+cell*float64(j), up+cell*float64(i), cell-min(.6, cell/10),
				cell-min(.6, cell/10), kind, min(1, math.Abs(v)/full), tip)
		}
	}
	return d.done()
}

// fullDifference is the difference of two associations that is drawn in full colour.
const fullDifference = .25

func (a *Associations) charts() []labelled {
	at := func(m [][]Number) func(i, j int) float64 {
		return func(i, j int) float64 { return float64(m[i][j]) }
	}
	return []labelled{
		{"Real (training table)",
			heat("associations in the training table", a.Columns, 1, at(a.Real))},
		{"Synthetic", heat("associations in the synthetic table", a.Columns, 1, at(a.Synthetic))},
		{"Synthetic minus real",
			heat("difference of the associations", a.Columns, fullDifference,
				func(i, j int) float64 {
					return float64(a.Synthetic[i][j] - a.Real[i][j])
				})},
	}
}

// chart draws the two ROC curves of a learner.
func (p Prediction) chart() template.HTML {
	const width, height, left, up, side = 300., 300., 34., 8., 258.
	d := draw(width, height, "ROC curves of "+p.Learner)
	x := func(v Number) float64 { return left + side*float64(v) }
	y := func(v Number) float64 { return up + side*(1-float64(v)) }
	for _, t := range []Number{0, .5, 1} {
		d.line(x(0), y(t), x(1), y(t), "grid")
		d.line(x(t), y(0), x(t), y(1), "grid")
		d.text(left-4, y(t)+3, "tick", "end", t.String(), 6)
		d.text(x(t), y(0)+12, "tick", "middle", t.String(), 6)
	}
	d.line(x(0), y(0), x(1), y(1), "chance")
	for _, c := range []struct {
		curve Curve
		class string
	}{{p.Real, "train"}, {p.Synthetic, "synthetic"}} {
		var points [][2]float64
		for _, q := range c.curve.Points {
			points = append(points, [2]float64{x(q[0]), y(q[1])})
		}
		d.path("curve "+c.class, points)
	}
	d.text(x(1)-6, y(0)-26, "label train", "end", "trained on real rows: "+fixed(p.Real.AUROC), 60)
	d.text(x(1)-6, y(0)-12, "label synthetic", "end",
		"trained on synthetic rows: "+fixed(p.Synthetic.AUROC), 60)
	d.text(x(.5), height-4, "tick", "middle", "false positive rate", 40)
	return d.done()
}

// chart draws the adversarial accuracies with their terms.
func (n *Nearest) chart(z float64) template.HTML {
	const width, height, left, up, down = 460., 230., 36., 10., 44.
	d := draw(width, height, "nearest-neighbour adversarial accuracy")
	y := func(v Number) float64 { return up + (height-up-down)*(1-float64(v)) }
	for _, t := range []Number{0, .25, .5, .75, 1} {
		d.line(left, y(t), width-6, y(t), map[bool]string{true: "chance", false: "grid"}[t == .5])
		d.text(left-4, y(t)+3, "tick", "end", t.String(), 6)
	}
	groups := []struct {
		name, under  string
		first, other string // the classes of the two terms
		a            *Accuracy
	}{
		{"synthetic – training", "rows it was made from", "train", "synthetic", &n.Train},
		{"synthetic – holdout", "other real rows", "holdout", "synthetic", n.Holdout},
		{"holdout – training", "yardstick: real – real", "train", "holdout", n.Yardstick},
	}
	step := (width - left - 6) / float64(len(groups))
	for i, g := range groups {
		middle := left + step*(float64(i)+.5)
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
			d.rect(at, y(v), 32, y(0)-y(v), "bar "+class,
				fmt.Sprintf("%s: %s %.3f", g.name, name, float64(v)))
			d.text(at+16, y(v)-4, "tick", "middle", fixed(v), 8)
		}
		half := Number(z) * g.a.StdErr
		d.line(middle+40, y(min(1, g.a.Mean+half)), middle+40, y(max(0, g.a.Mean-half)), "whisker")
		d.dot(middle+40, y(g.a.Mean), 4, "mean",
			fmt.Sprintf("mean %.3f ± %.3f", float64(g.a.Mean), float64(half)))
		d.text(middle, height-down+15, "label", "middle", g.name, 40)
		d.text(middle, height-down+28, "tick", "middle", g.under, 40)
	}
	return d.done()
}

// chart draws the privacy loss on a line.
func (l *Loss) chart(z float64) template.HTML {
	const width, height, left, right, y = 460., 70., 20., 20., 30.
	d := draw(width, height, "privacy loss")
	x := func(v Number) float64 {
		return left +
			(width-left-right)*(float64(max(-.5, min(.5, v)))+.5)
	}
	d.line(left, y, width-right, y, "axis")
	for _, t := range []Number{-.5, -.25, 0, .25, .5} {
		d.line(x(t), y-4, x(t), y+4, "axis")
		d.text(x(t), y+17, "tick", "middle", t.String(), 6)
	}
	d.line(x(0), y-9, x(0), y+8, "chance")
	half := Number(z) * l.StdErr
	d.line(x(l.Value-half), y, x(l.Value+half), y, "whisker thick")
	d.dot(x(l.Value), y, 5, "mean", fmt.Sprintf("%.3f ± %.3f", float64(l.Value), float64(half)))
	d.text(x(l.Value), y-11, "label", "middle", fixed(l.Value), 10)
	d.text(x(0), height-6, "tick", "middle", "none", 20)
	d.text(x(.5), height-6, "tick", "end", "a copied table", 20)
	return d.done()
}

// chart draws the distances to the closest record.
func (h Histogram) chart() template.HTML {
	const width, height, left, right, up, down = 460., 210., 40., 8., 10., 34.
	d := draw(width, height, "distances of synthetic rows to the closest real row")
	top := 1e-9
	for _, s := range [][]Number{h.Train, h.Holdout} {
		for _, v := range s {
			top = max(top, float64(v))
		}
	}
	bins := len(h.Train)
	x := func(i int) float64 { return left + (width-left-right)*float64(i)/float64(bins) }
	y := func(v Number) float64 { return height - down - (height-up-down)*float64(v)/top }
	for _, t := range []float64{0, .5, 1} {
		d.line(left, y(Number(t*top)), width-right, y(Number(t*top)), "grid")
		d.text(left-4, y(Number(t*top))+3, "tick", "end", percent(t*top), 10)
	}
	for _, s := range []series{{"", "train", h.Train}, {"", "holdout", h.Holdout}} {
		if s.shares == nil {
			continue
		}
		points := [][2]float64{{x(0), y(0)}}
		for i, v := range s.shares {
			points = append(points, [2]float64{x(i), y(v)}, [2]float64{x(i + 1), y(v)})
		}
		d.path("step "+s.class, append(points, [2]float64{x(bins), y(0)}))
	}
	for i := range bins {
		tip := fmt.Sprintf("%s to %s: training rows %s", h.Edges[i], h.Edges[i+1],
			percent(float64(h.Train[i])))
		if h.Holdout != nil {
			tip += ", holdout rows " + percent(float64(h.Holdout[i]))
		}
		d.rect(x(i), up, x(i+1)-x(i), height-up-down, "touch", tip)
	}
	d.line(left, height-down, width-right, height-down, "axis")
	for k := range 5 {
		i := k * bins / 4
		d.text(x(i), height-down+13, "tick",
			[]string{"start", "middle", "middle", "middle", "end"}[k],
			fmt.Sprintf("%.2g", float64(h.Edges[i])), 8)
	}
	d.text((left+width-right)/2, height-4, "tick", "middle",
		"distance to the closest real row (0 = equal, 1 = different in everything)", 90)
	return d.done()
}

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
			fmt.Sprintf("%s (%s – %s)", percent(float64(s.rate.Rate)), percent(float64(s.rate.Low)),
				percent(float64(s.rate.High))), 60)
		y += row
	}
	return d.done()
}
