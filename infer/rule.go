package infer

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

// The rule for kinds. A count stands out of the noise at clear standard deviations: over the some
// 500 cells of a table of 20 columns a count of zero does so once in 60 runs.
const (
	clear      = 4.0
	doubt      = 2.5   // of fractions, where the noise is more than one in manyNoises of the values:
	manyNoises = 20    // in doubt a number is real
	stray      = 0.02  // of the cells, below which those of another kind become missing
	fractional = 0.002 // of numbers that are not whole, below which a column is whole
	fine       = 0.01  // of numbers with more digits, below which they are rounded
)

// judged is what the classes of a column say.
type judged struct {
	kind     schema.Kind // 0: nothing can be said
	missing  []string    // tokens
	empty    bool        // the empty cell is among those that stand out
	decimals int         // Real
	values   float64     // cells that are not missing
	noise    float64     // of their number
	note     string
}

// verdict applies the rule to the noisy classes of a column. rows is the noisy number of rows with
// its noise rowsNoise, sigma the noise of one class. Only what stands out is looked at, so that the
// noise of the many classes that are empty does not drown the one that is not.
func verdict(classes []int64, rows, rowsNoise, sigma float64) judged {
	// rows of the classes that stand out, alone or else together
	standing := func(clear float64, cs []schema.Class) float64 {
		alone, together := 0.0, 0.0
		for _, c := range cs {
			together += float64(classes[c])
			if n := float64(classes[c]); n > clear*sigma {
				alone += n
			}
		}
		if alone == 0 && together > clear*sigma*math.Sqrt(float64(len(cs))) {
			return together
		}
		return alone
	}
	mass := func(cs ...schema.Class) float64 { return standing(clear, cs) }
	var v judged
	absent := 0.0
	var tokens []schema.Class
	for c := schema.Class(0); c < schema.Classes; c++ {
		if _, ok := c.MissingToken(); ok && mass(c) > 0 {
			tokens = append(tokens, c)
			absent += mass(c)
		}
	}
	slices.SortStableFunc(tokens, func(a, b schema.Class) int {
		return cmp.Compare(classes[b], classes[a])
	})
	for _, c := range tokens {
		text, _ := c.MissingToken()
		v.missing = append(v.missing, text)
		v.empty = v.empty || text == ""
	}
	if len(tokens) == 0 && float64(classes[0])+2*sigma > fine*rows {
		v.missing = []string{""} // empty cells may be many: without a code they would be the least value
	}
	var fractions []schema.Class
	for c := schema.ClassDecimals1; c <= schema.ClassReal; c++ {
		fractions = append(fractions, c)
	}
	values := math.Max(0, rows-absent)
	v.values, v.noise = values, math.Hypot(rowsNoise, sigma*math.Sqrt(float64(len(tokens))))
	limit := clear
	if values < manyNoises*sigma {
		limit = doubt
	}
	broken := standing(limit, fractions)
	kinds := []struct {
		kind schema.Kind
		rows float64
		name string
	}{
		{schema.Categorical, mass(schema.ClassText), "texts"},
		{schema.Boolean, mass(schema.ClassBoolean), "true and false"},
		{schema.Date, mass(schema.ClassDate), "dates"},
		{schema.Timestamp, mass(schema.ClassTimestamp), "timestamps"},
		{schema.Integer, mass(schema.ClassWhole) + broken, "whole numbers"},
	}
	best, all := kinds[0], 0.0
	for _, k := range kinds {
		all += k.rows
		if k.rows > best.rows {
			best = k
		}
	}
	if all == 0 {
		v.note = fmt.Sprintf(
			"left out: about %.0f cells that are not missing do not stand out of the noise (±%.0f)",
			values, sigma)
		return v
	}
	v.kind = best.kind
	if all-best.rows > stray*all { // several kinds
		v.kind, best.name = schema.Categorical, "texts"
	}
	if v.kind == schema.Integer && broken > fractional*values {
		v.kind, best.name = schema.Real, "numbers"
		v.decimals = decimals(fractions, values, mass)
	}
	v.note = best.name + "; " + v.seen(values, absent, rows, sigma)
	return v
}

// seen is the noisy counts in words.
func (v judged) seen(values, absent, rows, sigma float64) string {
	text := fmt.Sprintf("about %.0f of %.0f cells hold a value", values, rows)
	if absent > 0 {
		text += fmt.Sprintf(", %.0f are missing", absent)
	}
	return text + fmt.Sprintf(" (±%.0f)", sigma)
}

// decimals is the number of digits that all but few of the numbers have at most; 0: more than six.
func decimals(fractions []schema.Class, values float64, mass func(...schema.Class) float64) int {
	for d := 1; d < len(fractions); d++ {
		if mass(fractions[d:]...) <= fine*values {
			return d
		}
	}
	return 0
}

// categories makes a column of the texts that were found, sigma being the noise of each; nil if
// there are none. Other texts have a category unless the counts rule out that they are many: in a
// lenient schema without one they would be read as the first category.
func categories(
	name string, found []text.Found, v judged, limit int, threshold int64, sigma float64,
) (*schema.Column, string) {
	c := &schema.Column{Name: name, Kind: schema.Categorical}
	found = slices.DeleteFunc(slices.Clone(found), func(f text.Found) bool { return f.Text == "" })
	left, noise := v.values, 2*math.Hypot(sigma*math.Sqrt(float64(len(found))), v.noise)
	for _, f := range found {
		left -= float64(f.Rows)
	}
	dropped := max(0, len(found)-limit)
	if dropped > 0 {
		slices.SortStableFunc(found, func(a, b text.Found) int { return cmp.Compare(b.Rows, a.Rows) })
		found = found[:limit]
	}
	for _, f := range found {
		c.Categories = append(c.Categories, f.Text)
	}
	slices.Sort(c.Categories)
	if len(c.Categories) == 0 {
		return nil,
			fmt.Sprintf("left out: no text is in about %d rows or more (names, ids, free text?); %s",
				threshold, v.note)
	}
	if v.empty {
		c.Missing = []string{""}
	}
	if dropped == 0 && left+noise <= fine*v.values {
		return c, v.note + "; these are nearly all of its texts, others are read as the first"
	}
	c.OnInvalid, c.Other = schema.Other, "(other)"
	for slices.Contains(c.Categories, c.Other) {
		c.Other = "(" + c.Other + ")"
	}
	c.Categories = append(c.Categories, c.Other)
	note := fmt.Sprintf("%s; texts in fewer than about %d rows are %s", v.note, threshold, c.Other)
	if dropped > 0 {
		note += fmt.Sprintf("; the %d least frequent texts that were found are, too", dropped)
	}
	return c, note
}
