package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
)

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
	return []labelled{
		{"Real (lower left) and synthetic (upper right)", a.heat(order, 1,
			func(i, j int, below bool) float64 {
				if below {
					return float64(a.Real[i][j])
				}
				return float64(a.Synthetic[i][j])
			})},
		{"Synthetic minus real", a.heat(order, fullDifference, func(i, j int, _ bool) float64 {
			return float64(a.Synthetic[i][j] - a.Real[i][j])
		})},
	}
}

// heat draws a square of associations; a value of full is as dark as can be.
func (a *Associations) heat(
	order []int, full float64, value func(i, j int, below bool) float64,
) template.HTML {
	const width, left, up = 560., 104., 84.
	n := len(order)
	cell := min(30, (width-left-46)/float64(n))
	side := cell * float64(n)
	d := draw(width, up+side+34, "associations of columns")
	class := "label"
	if cell < 10 {
		class = "label tiny"
	}
	for y, i := range order {
		d.text(left-4, up+cell*(float64(y)+.5)+3, class, "end", a.Columns[i], 18)
		d.slanted(left+cell*(float64(y)+.5), up-5, class, a.Columns[i], 16)
		for x, j := range order {
			if i == j {
				continue
			}
			v := value(i, j, y > x)
			kind := "pos"
			switch {
			case math.IsNaN(v):
				kind, v = "none", full
			case v < 0:
				kind = "neg"
			}
			d.shade(left+cell*float64(x), up+cell*float64(y), cell-min(.6, cell/10),
				cell-min(.6, cell/10), kind, min(1, math.Abs(v)/full),
				fmt.Sprintf("%s × %s: %s real, %s here", a.Columns[i], a.Columns[j],
					twoDigits(a.Real[i][j]), twoDigits(a.Synthetic[i][j])))
		}
	}
	// the scale
	const step, steps = 14., 10
	at, y := left, up+side+12
	for k := -steps; k <= steps; k++ {
		class := "pos"
		if k < 0 {
			class = "neg"
		}
		d.shade(at+step*float64(k+steps), y, step, 8, class, math.Abs(float64(k))/steps, "")
	}
	for _, k := range []int{-steps, 0, steps} {
		d.text(at+step*(float64(k+steps)+.5), y+19, "tick", "middle",
			twoDigits(Number(full*float64(k)/steps)), 6)
	}
	return d.done()
}

// listed is the pairs whose associations are furthest off, as far as more than chance.
func (a *Associations) listed() []Pair {
	n := 0
	for n < min(len(a.Pairs), listedPairs) && a.Pairs[n].Excess > 0 {
		n++
	}
	return a.Pairs[:n]
}

// chart draws the joint distributions of a pair side by side, under their names.
func (j *Joint) chart(pair, real, synthetic string) template.HTML {
	const width, left, up, gap = 460., 78., 16., 14.
	rows, cols := len(j.First), len(j.Second)
	side := (width - left - gap) / 2
	w, h := side/float64(cols), min(18, 200/float64(rows))
	height := up + h*float64(rows)
	d := draw(width, height+64, "joint distribution of "+pair)
	top := 1e-9
	for _, m := range [][][]Number{j.Real, j.Synthetic} {
		for _, row := range m {
			for _, v := range row {
				top = max(top, float64(v))
			}
		}
	}
	for k, t := range []struct {
		name, class string
		m           [][]Number
	}{{real, "train", j.Real}, {synthetic, "synthetic", j.Synthetic}} {
		x := left + float64(k)*(side+gap)
		d.text(x, up-5, "tick", "start", t.name, 30)
		for k, name := range j.Second {
			d.slantedDown(x+w*(float64(k)+.5), height+8, "label tiny", name, 14)
		}
		for i, row := range t.m {
			if k == 0 {
				d.text(left-4, up+h*(float64(i)+.5)+3, "label tiny", "end", j.First[i], 18)
			}
			for k, v := range row { // the root shows small shares too
				d.shade(x+w*float64(k), up+h*float64(i), w-.6, h-.6, "bar "+t.class,
					math.Sqrt(max(0, float64(v))/top), fmt.Sprintf("%s × %s: %s %s, %s %s", j.First[i],
						j.Second[k], real, percent(j.Real[i][k]), synthetic,
						percent(j.Synthetic[i][k])))
			}
		}
	}
	return d.done()
}
