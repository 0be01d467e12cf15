package report

import (
	"html/template"
	"math"
	"slices"
)

// A drawing of the pages is one of four figures: lines over axes, steps over groups, rows of bars
// or points, a square of shades.
// What a figure shows is data; how it looks is written here once.

// tick is a place on an axis with its text.
type tick struct {
	at   float64
	text string
}

// series is a line of a figure through points; both coordinates run from 0 to 1.
type series struct {
	class  string
	points [][2]float64
}

// lines is a figure of series over two axes, which run from 0 to 1.
type lines struct {
	label                 string
	width, height         float64
	left, right, up, down float64 // margins
	across, below         []tick  // of the vertical axis, and of the other from its left end
	grid                  bool    // also at the ticks below
	series                []series
}

// plot is a drawing with axes: x and y run from 0 to 1.
type plot struct {
	*drawing
	left, right, up, down float64 // edges of the area within the drawing
}

func (p plot) x(v float64) float64 { return p.left + (p.right-p.left)*v }
func (p plot) y(v float64) float64 { return p.down - (p.down-p.up)*v }

// plot draws all of the figure, to which more can be added.
func (f lines) plot() plot {
	p := plot{draw(f.width, f.height, f.label), f.left, f.width - f.right, f.up, f.height - f.down}
	for _, t := range f.across {
		p.line(p.left, p.y(t.at), p.right, p.y(t.at), "grid")
		p.text(p.left-4, p.y(t.at)+3, "tick", "end", t.text, 12)
	}
	for _, t := range f.below {
		if f.grid {
			p.line(p.x(t.at), p.y(0), p.x(t.at), p.y(1), "grid")
		}
	}
	for _, s := range f.series {
		var points [][2]float64
		for _, at := range s.points {
			points = append(points, [2]float64{p.x(at[0]), p.y(at[1])})
		}
		p.path(s.class, points)
	}
	p.line(p.left, p.down, p.right, p.down, "axis")
	p.ticks(f.below)
	return p
}

// ticks marks all below the axis, and writes as many of the texts as have room, the last of all.
func (p plot) ticks(all []tick) {
	const letter, space = 5.4, 8.
	width := func(t tick) float64 { return letter * float64(len([]rune(t.text))) }
	end := math.Inf(-1)
	for i, t := range all {
		x, anchor := p.x(t.at), "middle"
		from, to := x-width(t)/2, x+width(t)/2
		switch t.at {
		case 0:
			anchor, from, to = "start", x, x+width(t)
		case 1:
			anchor, from, to = "end", x-width(t), x
		}
		p.line(x, p.down, x, p.down+3, "axis")
		last := len(all) - 1
		if from < end+space || i < last && to > p.x(1)-width(all[last])-space {
			continue
		}
		end = to
		p.text(x, p.down+13, "tick", anchor, t.text, 22)
	}
}

// steps is a figure of shares in groups side by side, each as wide as any other.
type steps struct {
	label               string
	width, height, left float64
	edges, tips         []string // of the groups, one more edge than tips
	series              []shares
	halves              []float64 // of the band around the first series; nil: none
}

// shares are those of the groups in one table.
type shares struct {
	class string
	of    []float64
}

// plot draws the axis from 0 to the largest share, and the edges: groups may be of unequal width.
func (f steps) plot() plot {
	top, n := 1e-9, len(f.tips)
	for _, s := range f.series {
		top = max(top, slices.Max(s.of))
	}
	outline := func(shares, halves []float64, sign float64) (out [][2]float64) {
		for i, y := range shares {
			if halves != nil {
				y += sign * halves[i]
			}
			y = min(1, max(0, y/top))
			out = append(out, [2]float64{float64(i) / float64(n), y},
				[2]float64{float64(i+1) / float64(n), y})
		}
		return out
	}
	l := lines{label: f.label, width: f.width, height: f.height, left: f.left, right: 6, up: 10,
		down: 34, across: []tick{{0, percent(0.)}, {.5, percent(.5 * top)}, {1, percent(top)}}}
	for k, edge := range f.edges {
		l.below = append(l.below, tick{float64(k) / float64(n), edge})
	}
	for k, s := range f.series {
		line := slices.Concat([][2]float64{{0, 0}}, outline(s.of, nil, 0), [][2]float64{{1, 0}})
		l.series = append(l.series, series{"step " + s.class, line})
		if k == 0 && f.halves != nil {
			low := outline(s.of, f.halves, -1)
			slices.Reverse(low)
			l.series = append(l.series, series{"band", append(outline(s.of, f.halves, 1), low...)})
		}
	}
	p := l.plot()
	for i, tip := range f.tips {
		x := p.x(float64(i) / float64(n))
		p.rect(x, p.up, p.x(float64(i+1)/float64(n))-x, p.down-p.up, "touch", tip)
	}
	return p
}

// mark is a value in a row: a bar from the left end or a point, with a line from low to high.
type mark struct {
	class            string
	value, low, high float64
	bar              bool
}

// row is one line of rows: its name, its marks and the text after them. Without marks, the name is
// a heading.
type row struct {
	name, class, text, tip string
	marks                  []mark
}

// rows is a figure of values in rows, along an axis.
type rows struct {
	label              string
	width, left, right float64 // of the drawing and of its margins
	to                 float64 // end of the axis, which begins at 0
	ticks              []tick  // in values, with a line down at .5; none: no axis below
	rows               []row
}

// draw draws the rows from above.
func (f rows) draw() template.HTML {
	const thick = 6. // of a bar
	tall := 16.
	for _, r := range f.rows {
		tall = max(tall, thick*float64(len(r.marks))+7)
	}
	height := tall*float64(len(f.rows)) + 4
	d := draw(f.width, height+22*float64(min(1, len(f.ticks))), f.label)
	p := plot{d, f.left, f.width - f.right, 0, height}
	x := func(v float64) float64 { return p.x(max(0, min(1, v/f.to))) }
	for _, t := range f.ticks {
		d.line(x(t.at), 0, x(t.at), height, "grid")
		d.text(x(t.at), height+14, "tick", "middle", t.text, 20)
	}
	if f.ticks != nil {
		d.line(x(.5), 0, x(.5), height, "chance")
	} else {
		d.line(f.left, 0, f.left, height-2, "axis")
	}
	for i, r := range f.rows {
		middle := 2 + tall*(float64(i)+.5)
		if r.marks == nil {
			d.text(2, middle+3, "label halo", "start", r.name, 60)
			continue
		}
		d.text(f.left-5, middle+3, "label "+r.class, "end", r.name, int(f.left/5.7))
		end := 0.
		for k, m := range r.marks {
			end = max(end, m.value, m.high)
			y := middle + thick*(float64(k)+.5-float64(len(r.marks))/2)
			if m.bar {
				d.rect(f.left, y-thick/2, x(m.value)-f.left, thick-.5, "bar "+m.class, "")
			}
			if m.low < m.high {
				line := "interval " + m.class
				if m.bar {
					line = "chancebar"
				}
				d.line(x(m.low), y, x(m.high), y, line)
			}
			if !m.bar {
				d.dot(x(m.value), y, 3.6, "point "+m.class)
			}
		}
		d.text(x(end)+6, middle+3, "tick halo", "start", r.text, 60)
		d.rect(0, middle-tall/2, f.width, tall, "touch", r.tip)
	}
	return d.done()
}

// heat is a figure of a square of shades, a row and a column for each name, with a scale below it.
type heat struct {
	label string
	names []string
	full  float64                                    // the value of the darkest shade
	at    func(i, j int) (value float64, tip string) // of a cell that is not on the diagonal
}

// draw draws the names of the rows to the left, and those of the columns below.
func (f heat) draw() template.HTML {
	const width, left, up, foot, scale = 560., 104., 16., 64., 34.
	n, class := float64(len(f.names)), "label"
	if n > 40 {
		class = "label tiny"
	}
	side := min(38, (width-left)/n)
	gap, down := min(.6, side/10), up+side*n
	d := draw(width, down+foot+scale, f.label)
	for i, name := range f.names {
		middle := side * (float64(i) + .5)
		d.turned(left+middle, down+8, 50, class, "end", name, 14)
		d.text(left-4, up+middle+3, class, "end", name, 18)
		for j := range f.names {
			if i != j {
				value, tip := f.at(i, j)
				d.shade(left+side*float64(j), up+side*float64(i), side-gap, side-gap, value/f.full, tip)
			}
		}
	}
	const step, steps = 14., 10
	for k := -steps; k <= steps; k++ {
		v, x := float64(k)/steps, left+step*float64(k+steps)
		d.shade(x, down+foot+4, step, 8, v, "")
		if k%steps == 0 {
			d.text(x+step/2, down+foot+23, "tick", "middle", twoDigits(number(f.full*v)), 6)
		}
	}
	return d.done()
}
