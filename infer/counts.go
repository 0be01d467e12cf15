package infer

import (
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// counts is what was bought of the cells of a column, with the noise of each number in rows.
type counts struct {
	cells   []magnitude   // within the bounds, in the order of their values
	coarse  [][]magnitude // those of the questions before, if there are parts of these
	texts   []text.Found  // categories, or truth values
	sigma   float64       // of each cell and text
	missing noisy
	rest    noisy // of the cells with a value, those with another text
}

// noisy is a number of rows, with the standard deviation of its noise.
type noisy struct{ rows, sigma float64 }

func (n noisy) plus(rows, sigma float64) noisy {
	return noisy{n.rows + rows, math.Hypot(n.sigma, sigma)}
}

// Measurements is the noisy counts that bought the schema, as one-way marginals over the columns of
// [Inferred.Schema]: a method can take them for measurements of its own, at no further cost. A
// column of numbers is measured at the resolution that its bins and the public magnitudes share.
// Counts of texts are of those that passed a threshold, which biases them upwards a little where
// they are close to it.
func (r *Inferred) Measurements() ([]marginal.Measurement, error) {
	if len(r.Columns) == 0 { // units of which nothing is known
		return nil, nil
	}
	codecs, err := r.Schema().Codecs()
	if err != nil {
		return nil, err
	}
	var out []marginal.Measurement
	at := 0
	for _, c := range r.Columns {
		if c.Made != nil || c.Found == nil && !r.base.CSV.NoHeader {
			continue
		}
		codec := codecs[at]
		if c.Found != nil && c.counts.sigma > 0 {
			missing := c.counts.missing
			for i, cells := range append([][]magnitude{c.counts.cells}, c.counts.coarse...) {
				m := marginal.Measurement{Cols: []int{at}}
				if c.Found.Kind.Ordered() {
					measureBins(cells, &m, codec)
				} else {
					c.counts.measureCategories(&m, codec)
				}
				if i > 0 && len(m.Counts) < 2 {
					continue // the parts have bins across the whole ones
				}
				if codec.Values() < codec.Size() {
					m.Counts = append(m.Counts, missing.rows)
					m.Sigmas = append(m.Sigmas, missing.sigma)
				}
				out = append(out, m)
				missing.sigma *= 1e6 // it is told once
			}
		}
		at++
	}
	return out, nil
}

// measureBins measures groups of bins, each of which holds the same values as a run of cells.
func measureBins(cells []magnitude, m *marginal.Measurement, codec *schema.Codec) {
	bins := codec.Values()
	find := func(x float64) int {
		return max(0, sort.Search(bins, func(i int) bool {
			lo, _ := codec.Bin(uint16(i))
			return lo > x
		})-1)
	}
	groups, next := make([]uint16, codec.Size()), 0 // the first bin without a group
	column := codec.Column()
	for _, cell := range cells {
		first, last := cell.ends(&column)
		if g := len(m.Counts); g == 0 || find(first) >= next {
			m.Counts, m.Sigmas = append(m.Counts, 0), append(m.Sigmas, 0)
		}
		g := len(m.Counts) - 1
		m.Counts[g] += cell.rows
		m.Sigmas[g] = math.Hypot(m.Sigmas[g], cell.sigma)
		for ; next <= find(last); next++ {
			groups[next] = uint16(g)
		}
	}
	for ; next < len(groups); next++ {
		groups[next] = uint16(len(m.Counts) - 1 + next/bins) // missing is one more
	}
	m.Groups = [][]uint16{groups}
}

// ends are the least and the greatest value of a column in a cell.
func (m *magnitude) ends(of *schema.Column) (first, last float64) {
	first, last = m.lo, m.hi
	if of.Kind.Stored() != schema.StoredFloat || first == last {
		return first, last
	}
	last = math.Nextafter(last, first)
	if of.Decimals > 0 { // values are multiples of 1/unit: those of the cell, if any
		unit := math.Pow10(of.Decimals)
		lo, hi := math.Ceil(first*unit)/unit, (math.Ceil(m.hi*unit)-1)/unit
		switch {
		case first == 0:
			lo = 1 / unit
		case first < 0: // the upper end is in the cell, the lower one is not
			lo, hi = (math.Floor(first*unit)+1)/unit, math.Floor(m.hi*unit)/unit
		}
		if lo <= hi {
			return lo, hi
		}
	}
	return first, last
}

// measureCategories measures each category.
func (c counts) measureCategories(m *marginal.Measurement, codec *schema.Codec) {
	column := codec.Column()
	for _, category := range column.Categories {
		n := noisy{}
		for _, f := range c.texts {
			if f.Text == category ||
				column.Kind.Stored() == schema.StoredBool && strings.EqualFold(f.Text, category) {
				n = n.plus(float64(f.Rows), c.sigma)
			}
		}
		if n.sigma == 0 { // it stands for what was not found
			n = c.rest
		}
		m.Counts, m.Sigmas = append(m.Counts, n.rows), append(m.Sigmas, n.sigma)
	}
}

// countsOf is the counts of a column whose cells or texts have noise sigma.
func countsOf(cells []magnitude, texts []text.Found, v verdict, sigma float64) counts {
	c := counts{cells: cells, texts: texts, sigma: sigma, missing: v.missingRows,
		rest: noisy{v.values, v.noise}}
	if v.missingRows.sigma == 0 {
		c.missing = v.unseenMissing
	}
	for _, f := range texts {
		if slices.Contains(v.missing, f.Text) {
			continue
		}
		c.rest = c.rest.plus(-float64(f.Rows), sigma)
	}
	return c
}

// kindCount is a family of classes, and the cells that have it.
type kindCount struct {
	kind    schema.Kind
	rows    float64
	format  string // of dates; "" is that of the kind
	classes []schema.Class
	whole   []schema.Class // of numbers: the classes of whole ones
	// and of others, by their digits behind the point, from 1
	fractions [][]schema.Class
	foreign   float64 // cells with another currency or unit than most
}

// countKind is the standing of a family.
func countKind(f schema.Family, mass func(...schema.Class) float64) kindCount {
	k := kindCount{kind: f.Kind, classes: f.Classes}
	if f.Kind.Numeric() {
		k.countNumbers(mass)
	} else {
		k.format, k.rows = f.Written(mass, strayShare)
	}
	return k
}

// countNumbers counts numbers, and chooses how they are written.
func (k *kindCount) countNumbers(mass func(...schema.Class) float64) {
	rows := map[schema.Class]float64{}
	for _, c := range k.classes {
		if n := mass(c); n > 0 {
			rows[c] = n
		}
	}
	written := schema.Numbers(rows)
	k.format = written.Format
	for _, c := range k.classes {
		d := written.Digits(c)
		for len(k.fractions) < d {
			k.fractions = append(k.fractions, nil)
		}
		switch {
		case d < 0: // of another currency
			k.foreign += rows[c]
			continue
		case d == 0:
			k.whole = append(k.whole, c)
		default:
			k.fractions[d-1] = append(k.fractions[d-1], c)
		}
		k.rows += rows[c]
	}
	if broken := slices.Concat(k.fractions...); len(rows) == 0 {
		k.rows += mass(broken...) + mass(k.whole...)
	}
}
