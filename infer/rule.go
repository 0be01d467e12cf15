package infer

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
)

// The rule. A count stands out of the noise at clear standard deviations: over the some 500 cells
// of a table of 20 columns a count of zero does so once in 60 runs. A kind needs half of the cells
// that are not missing, and of other kinds no more than stray of them (they become missing).
const (
	clear      = 4.0
	stray      = 0.02
	fractional = 0.002 // of numbers that are not whole, below which a column is whole
	fine       = 0.01  // of numbers with more digits, below which they are rounded
	nearZero   = 0.05  // of the larger bound, within which the smaller one is moved to zero
	// σ at which one of some 1300 magnitudes stands out: a count of zero does in one of 200 runs
	magnitude = 4.5
)

// judged is what the classes of a column say.
type judged struct {
	kind     schema.Kind // 0: nothing can be said
	missing  []string    // tokens
	empty    bool        // the empty cell is among those that stand out
	decimals int         // Real
	note     string
}

// verdict applies the rule to the noisy classes of a column. rows is the noisy number of rows,
// sigma the noise of one class.
func verdict(classes []int64, rows, sigma float64) judged {
	type token struct {
		text string
		rows int64
	}
	var tokens []token
	absent := 0.0
	for c := schema.Class(0); c < schema.Classes; c++ {
		if text, ok := c.MissingToken(); ok && float64(classes[c]) > clear*sigma {
			tokens = append(tokens, token{text, classes[c]})
			absent += float64(classes[c])
		}
	}
	slices.SortStableFunc(tokens, func(a, b token) int { return int(min(1, max(-1, b.rows-a.rows))) })
	var v judged
	for _, t := range tokens {
		v.missing = append(v.missing, t.text)
		v.empty = v.empty || t.text == ""
	}
	if len(v.missing) == 0 {
		v.missing = []string{""} // where a stray cell goes
	}
	sum := func(cs ...schema.Class) (n, noise float64) {
		for _, c := range cs {
			n += float64(classes[c])
		}
		return math.Max(0, n), clear * sigma * math.Sqrt(float64(len(cs)))
	}
	whole := []schema.Class{schema.ClassWhole}
	var fractions []schema.Class
	for c := schema.ClassDecimals1; c <= schema.ClassReal; c++ {
		fractions = append(fractions, c)
	}
	boolean, date, moment, text := schema.ClassBoolean, schema.ClassDate, schema.ClassTimestamp, schema.ClassText
	values := rows - absent
	if _, noise := sum(text, boolean, date, moment); values < 2*noise {
		v.note = fmt.Sprintf(
			"left out: about %.0f cells that are not missing do not stand out of the noise (±%.0f)", math.Max(0, values), sigma)
		return v
	}
	seen := v.seen(values, absent, rows, sigma)
	is := func(inside, outside []schema.Class) bool {
		n, _ := sum(inside...)
		other, noise := sum(outside...)
		return n >= values/2 && other <= math.Max(stray*values, noise)
	}
	numbers := append(slices.Clone(whole), fractions...)
	switch {
	case is([]schema.Class{boolean}, append([]schema.Class{text, date, moment}, numbers...)):
		v.kind, v.note = schema.Boolean, "true and false; "+seen
	case is([]schema.Class{date}, append([]schema.Class{text, boolean, moment}, numbers...)):
		v.kind, v.note = schema.Date, "dates; "+seen
	case is([]schema.Class{moment}, append([]schema.Class{text, boolean, date}, numbers...)):
		v.kind, v.note = schema.Timestamp, "timestamps; "+seen
	case is(numbers, []schema.Class{text, boolean, date, moment}):
		v.kind, v.note = schema.Integer, "whole numbers; "+seen
		if n, noise := sum(fractions...); n > math.Max(fractional*values, noise) {
			v.kind, v.note = schema.Real, "numbers; "+seen
			v.decimals = decimals(fractions, values, sum)
		}
	default:
		v.kind, v.note = schema.Categorical, "texts; "+seen
	}
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
func decimals(fractions []schema.Class, values float64, sum func(...schema.Class) (float64,
	float64)) int {
	for d := 1; d < len(fractions); d++ {
		if n, noise := sum(fractions[d:]...); n <= math.Max(fine*values, noise) {
			return d
		}
	}
	return 0
}

// categories makes a column of the texts that were found; nil if there are none.
func categories(
	name string, found []privacy.Found, v judged, limit int, threshold int64,
) (*schema.Column, string) {
	c := &schema.Column{Name: name, Kind: schema.Categorical, OnInvalid: schema.Other,
		Other: "(other)"}
	found = slices.DeleteFunc(slices.Clone(found), func(f privacy.Found) bool { return f.Text == "" })
	dropped := max(0, len(found)-limit)
	if dropped > 0 {
		slices.SortStableFunc(found, func(a, b privacy.Found) int {
			return int(
				min(1, max(-1, b.Rows-a.Rows)))
		})
		found = found[:limit]
	}
	for _, f := range found {
		c.Categories = append(c.Categories, f.Text)
	}
	slices.Sort(c.Categories)
	if len(c.Categories) == 0 {
		return nil, fmt.Sprintf(
			"left out: no text is in about %d rows or more (names, ids, free text?); %s", threshold, v.note)
	}
	for slices.Contains(c.Categories, c.Other) {
		c.Other = "(" + c.Other + ")"
	}
	c.Categories = append(c.Categories, c.Other)
	if v.empty {
		c.Missing = []string{""}
	}
	note := fmt.Sprintf("%s; texts in fewer than about %d rows are %s", v.note, threshold, c.Other)
	if dropped > 0 {
		note += fmt.Sprintf("; the %d least frequent texts that were found are, too", dropped)
	}
	return c, note
}

// bounds makes a column of the noisy magnitudes of its values; nil if none stands out.
func bounds(name string, counts []int64, v judged, sigma float64) (*schema.Column, string) {
	first, last := support(counts, sigma)
	if first < 0 {
		return nil, fmt.Sprintf(
			"left out: its values are spread so thin that none of their magnitudes stands out of the "+
				"noise (±%.0f); %s", sigma, v.note)
	}
	c := &schema.Column{Name: name, Kind: v.kind, Missing: v.missing, OnInvalid: schema.Clamp}
	c.Min, _ = v.kind.MagnitudeBounds(first)
	_, c.Max = v.kind.MagnitudeBounds(last)
	// next to zero the cells are finer than the noise allows to see
	if number := v.kind == schema.Integer || v.kind == schema.Real; number {
		if c.Min > 0 && c.Min <= c.Max*nearZero {
			c.Min = 0
		}
		if c.Max < 0 && c.Max >= c.Min*nearZero {
			c.Max = 0
		}
	}
	if c.Min > c.Max { // whole numbers between which there is none
		c.Min, c.Max = c.Max, c.Min
	}
	switch {
	case c.Min != c.Max:
	case v.kind == schema.Real:
		c.Min, c.Max = c.Min-1, c.Max+1
	case v.kind == schema.Integer: // a flag whose other value is rare: its neighbours are free, and a column of one value says nothing
		c.Max++
		if c.Min != 0 {
			c.Min--
		}
	}
	if c.Min >= 0 && skewed(c, counts[first:last+1], first) {
		c.Bins, c.Spacing = 32, schema.Log
		if c.Kind == schema.Integer && c.Max-c.Min+1 <= 100 {
			c.Bins, c.Spacing = 0, schema.Linear
		}
	}
	if c.Kind == schema.Real && v.decimals > 0 {
		c.Decimals = v.decimals
		if _, err := schema.NewCodec(*c); err != nil {
			c.Decimals = 0 // too few for the bins
		}
	}
	return c, fmt.Sprintf("%s; bounds where the noise (±%.0f) ends, values beyond are moved to them",
		v.note, sigma)
}

// support is the first and the last cell that stands out of the noise; −1 if none does. Cells that
// do so only together, eight at a time, count as well.
func support(counts []int64, sigma float64) (first, last int) {
	const span = 8
	first, last = -1, -1
	take := func(i int) {
		if first < 0 {
			first = i
		}
		last = i
	}
	for from := 0; from < len(counts); from += span {
		block := counts[from:min(from+span, len(counts))]
		sum, alone := 0.0, false
		for i, n := range block {
			sum += float64(n)
			if float64(n) > magnitude*sigma {
				take(from + i)
				alone = true
			}
		}
		if !alone && sum > magnitude*sigma*math.Sqrt(span) {
			take(from)
			take(from + len(block) - 1)
		}
	}
	return first, last
}

// skewed reports that nine in ten of the values are in the first tenth of the bounds.
func skewed(c *schema.Column, counts []int64, first int) bool {
	if c.Kind != schema.Integer && c.Kind != schema.Real {
		return false
	}
	all, low := 0.0, 0.0
	for i, n := range counts {
		x := math.Max(0, float64(n))
		all += x
		if _, hi := c.Kind.MagnitudeBounds(first + i); hi <= c.Min+(c.Max-c.Min)/10 {
			low += x
		}
	}
	return low > .9*all
}
