package report

import (
	"math"

	"github.com/decoy-dp/decoy/schema"
)

// plot is a drawing with axes: x and y run from 0 to 1.
type plot struct {
	*drawing
	left, right, up, down float64 // edges of the area within the drawing
}

// newPlot starts a drawing with margins around the area of its axes.
func newPlot(width, height float64, label string, left, right, up, down float64) plot {
	return plot{draw(width, height, label), left, width - right, up, height - down}
}

func (p plot) x(v float64) float64 { return p.left + (p.right-p.left)*v }
func (p plot) y(v float64) float64 { return p.down - (p.down-p.up)*v }

// rows draws lines across at heights v, with their labels.
func (p plot) rows(v []float64, label func(float64) string) {
	for _, t := range v {
		p.line(p.left, p.y(t), p.right, p.y(t), "grid")
		if label != nil {
			p.text(p.left-4, p.y(t)+3, "tick", "end", label(t), 12)
		}
	}
}

// steps draws a line of steps from the axis up and back to it: heights between edges, both from 0
// to 1.
func (p plot) steps(class string, edges, heights []float64) {
	if len(heights) == 0 {
		return
	}
	points := [][2]float64{{p.x(edges[0]), p.y(0)}}
	for i, h := range heights {
		points = append(points, [2]float64{p.x(edges[i]), p.y(h)}, [2]float64{p.x(edges[i+1]), p.y(h)})
	}
	p.path(class, append(points, [2]float64{p.x(edges[len(heights)]), p.y(0)}))
}

// area fills what is between two lines of steps.
func (p plot) area(class string, edges, high, low []float64) {
	var points [][2]float64
	for i, h := range high {
		points = append(points, [2]float64{p.x(edges[i]), p.y(h)}, [2]float64{p.x(edges[i+1]), p.y(h)})
	}
	for i := len(low) - 1; i >= 0; i-- {
		points = append(points, [2]float64{p.x(edges[i+1]), p.y(low[i])},
			[2]float64{p.x(edges[i]), p.y(low[i])})
	}
	p.path(class, points)
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
	thin, unit := Number(0), math.Inf(1)
	for i, b := range c.Bounds {
		if b != 0 {
			unit = min(unit, math.Abs(float64(b)))
		}
		if i > 0 && b-c.Bounds[i-1] < (last-first)/40 {
			thin += c.Train[i-1]
		}
	}
	s := scale{}
	mean := (last - first) / Number(len(c.Bounds)-1)
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
func (s scale) at(x Number) float64 {
	if s.high <= s.low {
		return 0
	}
	return (s.apply(float64(x)) - s.low) / (s.high - s.low)
}
