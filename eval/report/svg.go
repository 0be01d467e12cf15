package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// drawing is an SVG in the making. Text is escaped here and nowhere else; classes are constants of
// this package.
type drawing struct{ b strings.Builder }

// draw starts a drawing of a width and height in units of about a pixel; label says what it shows
// to those who do not see it.
func draw(width, height float64, label string) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s">`, coordinate(width),
		coordinate(height), html.EscapeString(label))
	return d
}

func (d *drawing) done() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String())
}

// shape writes an element with its attributes, in which numbers are coordinates, and the tip that
// shows when one points at it, if any.
func (d *drawing) shape(tag, tip, attributes string, args ...any) {
	for i, a := range args {
		if x, ok := a.(float64); ok {
			args[i] = coordinate(x)
		}
	}
	end := "/>"
	if tip != "" {
		end = "><title>" + html.EscapeString(tip) + "</title></" + tag + ">"
	}
	fmt.Fprintf(&d.b, "<"+tag+" "+attributes+"%s", append(args, end)...)
}

// text writes at the base line y; anchor is start, middle or end. What is longer than most runes is
// cut, with the whole as a tip.
func (d *drawing) text(x, y float64, class, anchor, s string, most int) {
	d.turned(x, y, 0, class, anchor, s, most)
}

// turned writes text along a line that rises by so many degrees.
func (d *drawing) turned(x, y, degrees float64, class, anchor, s string, most int) {
	shown, tip := html.EscapeString(s), ""
	if r := []rune(s); len(r) > most {
		shown, tip = html.EscapeString(string(r[:most-1]))+"…", "<title>"+shown+"</title>"
	}
	at := fmt.Sprintf(`x="%s" y="%s"`, coordinate(x), coordinate(y))
	if degrees != 0 {
		at = fmt.Sprintf(`transform="translate(%s %s) rotate(%s)"`, coordinate(x), coordinate(y),
			coordinate(-degrees))
	}
	fmt.Fprintf(&d.b, `<text %s class="%s" text-anchor="%s">%s%s</text>`, at, class, anchor, shown,
		tip)
}

func (d *drawing) rect(x, y, w, h float64, class, tip string) {
	d.filled(x, y, w, h, class, "", tip)
}

// shade is a rectangle in the colour of a value, the fainter the nearer it is to 0; ±1 and beyond
// are full.
func (d *drawing) shade(x, y, w, h, value float64, tip string) {
	class, opacity := "pos", ""
	switch {
	case value != value:
		class = "none"
	case value < 0:
		class = "neg"
	}
	if math.Abs(value) < 1 {
		opacity = fmt.Sprintf(` fill-opacity="%.3f"`, math.Abs(value))
	}
	d.filled(x, y, w, h, class, opacity, tip)
}

func (d *drawing) filled(x, y, w, h float64, class, opacity, tip string) {
	d.shape("rect", tip, `x="%s" y="%s" width="%s" height="%s" class="%s"%s`, x, y, max(w, 0),
		max(h, 0), class, opacity)
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	d.shape("line", "", `x1="%s" y1="%s" x2="%s" y2="%s" class="%s"`, x1, y1, x2, y2, class)
}

func (d *drawing) dot(x, y, r float64, class string) {
	d.shape("circle", "", `cx="%s" cy="%s" r="%s" class="%s"`, x, y, r, class)
}

// path joins points by straight lines.
func (d *drawing) path(class string, points [][2]float64) {
	var along strings.Builder
	for i, p := range points {
		along.WriteByte("ML"[min(i, 1)])
		along.WriteString(coordinate(p[0]).String() + " " + coordinate(p[1]).String())
	}
	d.shape("path", "", `class="%s" d="%s"`, class, along.String())
}

// coordinate is written to a hundredth.
type coordinate float64

func (x coordinate) String() string {
	s := strconv.FormatFloat(float64(x), 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
