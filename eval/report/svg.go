package report

import (
	"fmt"
	"html"
	"html/template"
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
	fmt.Fprintf(&d.b, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s">`, num(width),
		num(height), html.EscapeString(label))
	return d
}

func (d *drawing) done() template.HTML {
	d.b.WriteString("</svg>")
	return template.HTML(d.b.String())
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
	at := fmt.Sprintf(`x="%s" y="%s"`, num(x), num(y))
	if degrees != 0 {
		at = fmt.Sprintf(`transform="translate(%s %s) rotate(%s)"`, num(x), num(y), num(-degrees))
	}
	fmt.Fprintf(&d.b, `<text %s class="%s" text-anchor="%s">%s%s</text>`, at, class, anchor, shown,
		tip)
}

// rect has the tip that shows when one points at it, if any.
func (d *drawing) rect(x, y, w, h float64, class, tip string) { d.shade(x, y, w, h, class, 1, tip) }

// shade is a rectangle of an opacity from 0 to 1.
func (d *drawing) shade(x, y, w, h float64, class string, opacity float64, tip string) {
	fmt.Fprintf(&d.b, `<rect x="%s" y="%s" width="%s" height="%s" class="%s"`, num(x), num(y),
		num(max(w, 0)), num(max(h, 0)), class)
	if opacity < 1 {
		fmt.Fprintf(&d.b, ` fill-opacity="%s"`, strconv.FormatFloat(opacity, 'f', 3, 64))
	}
	d.end("rect", tip)
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&d.b, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`, num(x1), num(y1),
		num(x2), num(y2), class)
}

func (d *drawing) dot(x, y, r float64, class, tip string) {
	fmt.Fprintf(&d.b, `<circle cx="%s" cy="%s" r="%s" class="%s"`, num(x), num(y), num(r), class)
	d.end("circle", tip)
}

// path joins points by straight lines.
func (d *drawing) path(class string, points [][2]float64) {
	fmt.Fprintf(&d.b, `<path class="%s" d="`, class)
	for i, p := range points {
		d.b.WriteByte("ML"[min(i, 1)])
		d.b.WriteString(num(p[0]) + " " + num(p[1]))
	}
	d.b.WriteString(`"/>`)
}

func (d *drawing) end(tag, tip string) {
	if tip == "" {
		d.b.WriteString("/>")
		return
	}
	fmt.Fprintf(&d.b, "><title>%s</title></%s>", html.EscapeString(tip), tag)
}

// num is a coordinate to a hundredth.
func num(x float64) string {
	s := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
