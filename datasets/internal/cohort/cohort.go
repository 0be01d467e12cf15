// Package cohort simulates three intensive care cohorts from a fixed public seed. It reads nothing:
// the model and its constants are in this package, and the comment of package datasets gives the
// formulas.
//
// It draws what a patient is (patient.go), works out the published scores (scores.go), and writes
// what a cohort writes down (designs.go). It is not part of the program: go generate runs it, and a
// test of package datasets compares.
package cohort

import (
	"bytes"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
)

// A Table is one simulated cohort as text: what is embedded in package datasets.
type Table struct {
	Name   string
	Header []string
	Rows   [][]string

	// Intercept is β₀ of the outcome model, found so that the number of positive outcomes is exact.
	Intercept float64

	// Margin is the smallest distance of any decision from its other side, in the unit of that
	// decision (1 for a rounding). Floating-point arithmetic differs between processors (fused
	// multiply-add, assembly for exp) by some 1e-12 here at most, so a margin above 1e-9 says that the
	// table is the same on all of them.
	Margin float64
}

// A column is one field of a table: its name and how a patient's cell is written, "" for a missing
// value.
type column struct {
	name string
	cell func(*patient) string
}

// A design is what makes a cohort: who is admitted, what is written down, and what decides the
// outcome.
type design struct {
	name       string
	rows       int
	positives  int
	population population
	columns    []column
	outcome    string
	risk       func(*patient) float64 // η, log odds up to the intercept
}

// seed1 is the first word of the seed of every cohort, for table 3.2 of 2022; the second is its
// number of rows.
const seed1 = 3_2022

// Tables simulates the three cohorts.
func Tables() []Table {
	return []Table{simulate(mortality), simulate(severity), simulate(readmission)}
}

// simulate draws the patients, then one standard logistic ξ for each, and gives the outcome to the
// d.positives patients with the largest η + ξ. With t between the last of these and the next, this
// is the logistic model
//
//	P(outcome | patient) = 1 / (1 + exp(-(β₀ + η)))    with β₀ = -t.
func simulate(d design) Table {
	s := newSource(seed1, uint64(d.rows))
	t := Table{Name: d.name, Rows: make([][]string, d.rows)}
	for _, c := range d.columns {
		t.Header = append(t.Header, c.name)
	}
	t.Header = append(t.Header, d.outcome)

	liability := make([]float64, d.rows)
	for i := range t.Rows {
		p := draw(s, d.population)
		for _, c := range d.columns {
			t.Rows[i] = append(t.Rows[i], c.cell(&p))
		}
		liability[i] = d.risk(&p) + s.logistic()
	}
	sorted := slices.Clone(liability)
	slices.Sort(sorted)
	last := d.rows - d.positives
	threshold := sorted[last-1]/2 + sorted[last]/2
	t.Intercept = -threshold
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], strconv.Itoa(one(!s.below(liability[i], threshold))))
	}
	t.Margin = s.margin
	return t
}

// CSV writes the table with a header, comma and LF.
func (t Table) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(t.Header)
	_ = w.WriteAll(t.Rows) // a bytes.Buffer does not fail
	return b.Bytes()
}

// integer writes a whole number.
func integer(name string, value func(*patient) int) column {
	return column{name, func(p *patient) string { return strconv.Itoa(value(p)) }}
}

// tenths writes a value that is kept in tenths of its unit.
func tenths(name string, value func(*patient) int) column {
	return column{name, func(p *patient) string {
		return strconv.FormatFloat(float64(value(p))/10, 'f', 1, 64)
	}}
}

// category writes one of the names.
func category(name string, names []string, index func(*patient) int) column {
	return column{name, func(p *patient) string { return names[index(p)] }}
}

// missing leaves the cell empty where taken is false.
func (c column) missing(taken func(*patient) bool) column {
	return column{c.name, func(p *patient) string {
		if !taken(p) {
			return ""
		}
		return c.cell(p)
	}}
}

// ln is the natural logarithm of a value kept in the given number of parts of its unit.
func ln(x, parts int) float64 { return math.Log(float64(x) / float64(parts)) }
