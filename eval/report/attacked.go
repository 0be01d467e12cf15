package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
)

//go:embed attacked.html
var attackedText string

var attackedTemplate = pageOf(attackedText, template.FuncMap{
	"percent": percent[float64], "fixed": fixed[float64], "short": short[float64],
})

// Curve is the ROC curve of an attacker who says which rows were in.
type Curve struct {
	Name   string
	AUROC  float64
	Points [][2]float64 // shares of false and of true positives
}

// Attacked writes a page about attacks on rows, which is not private. found is their result with
// the fields that the page names; epsilon and delta are what is claimed, infinite where nothing is.
func Attacked(w io.Writer, epsilon, delta float64, curves []Curve, found any) error {
	return write(w, attackedTemplate, struct {
		Style   template.CSS
		Drawing template.HTML
		Found   any
	}{template.CSS(pageStyle), onLogScale(epsilon, delta, curves), found})
}

// onLogScale draws ROC curves whose axes are logarithmic: what matters is who is found while hardly
// anybody is accused falsely. The band is what a claim leaves room for.
func onLogScale(epsilon, delta float64, curves []Curve) template.HTML {
	const decades = 4
	at := func(x float64) float64 { return max(0, 1+math.Log10(max(x, 1e-9))/decades) }
	f := lines{label: "ROC curves on a log scale", width: 460, height: 400, left: 52, right: 10,
		up: 8, down: 40, grid: true, series: []series{{"chance", [][2]float64{{0, 0}, {1, 1}}}}}
	for d := range decades + 1 {
		f.below = append(f.below, tick{float64(d) / decades, percent(math.Pow10(d - decades))})
	}
	f.across = f.below
	if !math.IsInf(epsilon, 1) {
		room := [][2]float64{{0, 0}}
		for i := range 41 {
			x := float64(i) / 40
			room = append(room, [2]float64{x,
				at(min(1, math.Exp(epsilon)*math.Pow(10, decades*(x-1))+delta))})
		}
		f.series = append(f.series, series{"band", append(room, [2]float64{1, 0})})
	}
	classes := []string{"synthetic", "train", "good"}
	for i, c := range curves {
		var points [][2]float64
		for _, p := range c.Points {
			points = append(points, [2]float64{at(p[0]), at(p[1])})
		}
		f.series = append(f.series, series{"curve " + classes[i%len(classes)], points})
	}
	p := f.plot()
	for i, c := range curves {
		p.text(p.x(1)-6, p.y(0)-14-14*float64(i), "label "+classes[i%len(classes)], "end",
			fmt.Sprintf("%s: AUROC %s", c.Name, fixed(c.AUROC)), 60)
	}
	p.text(p.x(.5), p.y(0)+30, "tick", "middle", "rows that were out, taken to be in", 60)
	p.turned(10, p.y(.5), 90, "tick", "middle", "rows that were in, found", 60)
	return p.done()
}
