package schema

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

var errRule error = cellError("of a combination that a rule of the schema rules out")

// numberForm is how the values of a column with an order are written in files.
type numberForm struct {
	root     *Codec // of the column whose kind and format they have; nil: there is no order
	decimals int    // digits behind the point, asManyDigits or wholeDigits
}

// after finds for each column what it is after, and reports whether all are understood. A column
// comes behind its base.
func (r *RowCodec) after(ps *problems, s *Schema) bool {
	understood := true
	for i, c := range r.codecs {
		if r.base[i] = -1; c.column.After != "" {
			r.base[i] = s.Index(c.column.After)
			understood = understood && r.base[i] >= 0 // else said by problems.schema
		}
	}
	order, circle := rounds(len(r.codecs), func(i int, placed []bool) bool {
		return r.base[i] < 0 || placed[r.base[i]]
	})
	for _, i := range order {
		c, b := r.codecs[i], r.base[i]
		switch {
		case c.column.After == "" && c.bins != nil:
			r.numbers[i] = numberForm{c, c.bins.ticks.digits}
		case b >= 0 && (r.numbers[b].root != nil || r.codecs[b].bins == nil):
			if why := r.wrongAfter(i, b); why != "" {
				ps.add(i, "after", -1, "%s", why)
				understood = false
			} else {
				r.order = append(r.order, i)
			}
		}
	}
	if circle >= 0 {
		ps.add(circle, "after", -1, "after goes round in a circle")
	}
	return understood && circle < 0
}

// wrongAfter says why column i cannot be after column b, "" if it can, and then notes its form.
func (r *RowCodec) wrongAfter(i, b int) string {
	c, from := r.codecs[i], r.numbers[b]
	if from.root == nil {
		return fmt.Sprintf("after names %s, whose values have no order",
			yamlfile.Quote(r.codecs[b].column.Name))
	}
	kind := Integer
	if from.root.facts.stored == StoredFloat {
		kind = Real
	}
	most := r.greatest(b) + from.unit()*c.bins.max
	switch {
	case c.column.Kind != kind:
		return fmt.Sprintf("the difference to a %s is of kind %s (days between dates; seconds between "+
			"timestamps, or minutes if their format has no seconds), not %s", from.root.column.Kind, kind,
			c.column.Kind)
	case c.bins.min < 0:
		return "min of a difference must be at least 0: what is after is not before"
	case r.codecs[b].values < r.codecs[b].size && c.values == c.size:
		return fmt.Sprintf("%s may be missing, and then so is this: it needs missing tokens",
			yamlfile.Quote(r.codecs[b].column.Name))
	case from.root.facts.wrong(most) != "":
		return fmt.Sprintf("max of %s and of the difference together %s",
			yamlfile.Quote(r.codecs[b].column.Name), from.root.facts.wrong(most))
	}
	form := numberForm{from.root, min(from.decimals, asManyDigits)}
	if d := c.bins.ticks.digits; d >= 0 && from.decimals >= 0 &&
		most*pow10[max(d, from.decimals)] < 1<<52 {
		form.decimals = max(d, from.decimals)
	}
	r.numbers[i] = form
	return ""
}

// greatest is the greatest value that is written in column i.
func (r *RowCodec) greatest(i int) float64 {
	x := 0.0
	for ; r.base[i] >= 0; i = r.base[i] {
		x += r.numbers[i].unit() * r.codecs[i].bins.max
	}
	return x + r.codecs[i].bins.max
}

// unit is what a difference of 1 stands for: of timestamps a second or, where the format has none,
// the least that it tells apart.
func (f numberForm) unit() float64 {
	if f.root.facts.stored == StoredMicros {
		return float64(max(microsPerSecond, f.root.bins.ticks.step))
	}
	return 1
}

// difference is x − from in the units of differences: whole ones, rounded down, or a real number
// without the noise of binary fractions, so that sum and difference undo each other.
func (f numberForm) difference(x, from float64) float64 {
	d := x - from
	if f.root.facts.stored != StoredFloat {
		if unit := f.unit(); unit != 1 {
			d = math.Floor(d / unit)
		}
		return d
	}
	digits := 14 - int(math.Ceil(math.Log10(max(math.Abs(x), math.Abs(from)))))
	if digits < 0 || digits >= len(pow10) { // also for zeros
		return d
	}
	return math.Round(d*pow10[digits]) / pow10[digits]
}
