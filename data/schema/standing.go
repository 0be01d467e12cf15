package schema

import (
	"cmp"
	"math"
	"strings"
)

// standing are the mean and the spread of a column, of dates and times in microseconds.
type standing struct {
	*Known
	unit         float64
	rows         float64
	mean, spread float64
	noise, width float64 // of the mean: what noise may move it by, and what the cells hide
	blur         float64 // what noise may move the spread by
	heaviest     float64 // share of the rows in one value that is not zero
}

func momentsOf(k *Known) standing {
	m := standing{Known: k, unit: max(1, float64(k.Kind.facts().unit))}
	mid := func(c Mass) float64 { return (c.Lo/2 + c.Hi/2) * m.unit }
	for _, c := range k.Masses {
		m.rows += c.Rows
		m.mean += c.Rows * mid(c)
	}
	m.mean /= m.rows
	variance, noise := 0., 0.
	for _, c := range k.Masses {
		off := mid(c) - m.mean
		m.width += max(0, c.Rows) / m.rows * (c.Hi - c.Lo) * m.unit * binShare
		variance += c.Rows / m.rows * off * off
		m.noise = math.Hypot(m.noise, c.Sigma/m.rows*off)
		noise = math.Hypot(noise, c.Sigma/m.rows*off*off)
		if c.Lo == c.Hi && c.Lo != 0 {
			m.heaviest = max(m.heaviest, c.Rows/m.rows)
		}
	}
	m.spread = math.Sqrt(max(0, variance))
	m.blur = math.Sqrt(max(0, variance)+meanSigmas*noise) - m.spread
	m.noise *= meanSigmas
	return m
}

// off is by how much a mean may be another.
func (m *standing) off() float64 { return m.noise + m.width }

// flag reports whether a column has so few values that relations of it hold by chance.
func (m *standing) flag() bool {
	return m.heaviest > heaviestValue || m.Kind.Whole() && m.Max-m.Min < fewValues
}

// digits are those behind the point.
func (m *standing) digits() int {
	if m.Kind.Whole() {
		return 0
	}
	return m.Decimals
}

// mark is the currency or unit that stands beside the digits.
func (m *standing) mark() string {
	marks, _ := marksOf(m.Format)
	return strings.Trim(marks.prefix+marks.suffix, blanks)
}

// alike reports whether two columns may be of one currency or unit, which one need not name.
func (m *standing) alike(other *standing) bool {
	a, b := m.mark(), other.mark()
	return a == b || a == "" || b == ""
}

// written has a made column of some others the marks and the digits of the one that it stands for.
func (m *standing) written(made Made, of ...*standing) Made {
	digits, sameFormat := 0, true
	for _, x := range of {
		digits = max(digits, x.digits())
		sameFormat = sameFormat && x.Format == m.Format
	}
	if !sameFormat {
		made.Format = cmp.Or(m.Format, plainNumbers)
	}
	if made.Round == 0 && m.digits() > digits {
		made.Round, made.Decimals = nearest, m.digits()
	}
	return made
}
