package schema

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Drafter drafts a schema from the rows of a public file: kinds, categories, missing tokens, and
// bounds rounded outward. What it writes down, down to the greatest value of a column, comes
// straight from the rows: never show it private ones.
//
// A column is boolean if it holds only the words true and false, integer or real if only numbers, a
// date (2006-01-02) or a timestamp (RFC 3339) if only those, else categorical. Numbers with leading
// zeros or a plus sign (postal codes, telephone numbers) and integers of 2^53 and more are texts.
// Empty cells are missing; in a column that is not categorical so are ?, NA, N/A, NaN, null, None
// and a lone point.
type Drafter struct {
	columns []draft
	rows    int
}

// draftTokens are the texts that mean missing in a column of numbers, dates or booleans.
var draftTokens = []string{"", "?", "NA", "N/A", "NaN", "null", "None", "."}

// MeansMissing reports whether a text usually means that a cell is missing.
func MeansMissing(text string) bool { return slices.Contains(draftTokens, text) }

// maxCategories is the most distinct texts of a categorical column.
const maxCategories = 1000

// A draft is what is known of one column.
type draft struct {
	name   string
	seen   [Classes]bool   // of its cells
	values int             // cells that are not draftTokens
	texts  map[string]bool // distinct cells but "", until there are too many
	many   bool            // there are

	// of an ordered kind
	min, max float64
	long     bool // a whole number of 2^53 and more, such as an account's
	fraction bool // some number is not whole
	decimals int  // most digits behind the point
}

// NewDrafter starts a draft of a table with these column names.
func NewDrafter(names []string) *Drafter {
	d := &Drafter{columns: make([]draft, len(names))}
	for i, name := range names {
		d.columns[i] = draft{name: name, texts: map[string]bool{}, min: math.Inf(1),
			max: math.Inf(-1)}
	}
	return d
}

// Add shows the drafter one row, a cell for each name, of valid UTF-8 without a NUL. The cells are
// copied as needed.
func (d *Drafter) Add(cells []string) {
	d.rows++
	for i, cell := range cells {
		d.columns[i].add(cell)
	}
}

// Schema gives the draft. Where columns cannot be drafted it gives the schema of
// the others and an error that joins one for each, with its position; there is
// no schema if no column is left. The errors wrap ErrInvalid.
func (d *Drafter) Schema() (*Schema, error) {
	ps := &problems{}
	if d.rows == 0 {
		return nil, &problem{text: "there are no rows to draft from"}
	}
	s := &Schema{}
	for i := range d.columns {
		c, why := d.columns[i].column()
		if why == "" && c.Kind == Categorical && d.columns[i].many {
			why = fmt.Sprintf("more than %d distinct texts: leave the column out, give it a kind or "+
				"its categories by hand", maxCategories)
		}
		if why != "" {
			ps.found = append(ps.found, &problem{column: fmt.Sprintf("column number %d", i+1), text: why})
			continue
		}
		s.Columns = append(s.Columns, c)
	}
	if len(s.Columns) == 0 {
		return nil, ps.err()
	}
	if err := s.Validate(); err != nil { // names: the rest is of our making
		return nil, err
	}
	return s.filled(), ps.err()
}

// add takes one cell into account.
func (d *draft) add(cell string) {
	if !d.many && cell != "" && !d.texts[cell] {
		if len(d.texts) == maxCategories {
			d.many, d.texts = true, nil
		} else {
			d.texts[strings.Clone(cell)] = true
		}
	}
	class := Classify([]byte(cell))
	d.seen[class] = true
	kind, _ := class.Looks()
	if kind == 0 {
		return
	}
	d.values++
	f := kind.facts()
	if f.parse == nil {
		return
	}
	x, _ := f.parse(f.format, []byte(cell))
	d.min, d.max = min(d.min, x), max(d.max, x)
	if f.unit > 0 {
		return
	}
	whole := x == math.Trunc(x)
	d.long, d.fraction = d.long || whole && math.Abs(x) > maxWhole, d.fraction || !whole
	_, behind, _ := strings.Cut(cell, ".")
	d.decimals = max(d.decimals, len(behind))
}

// kind is that of all cells, and their layout; of several kinds, and of dates whose day and month
// come first, texts. Numbers are Real.
func (d *draft) kind() (kind Kind, layout string) {
	first := true
	for c := range Classes {
		k, l := c.Looks()
		switch {
		case !d.seen[c] || k == 0:
			continue
		case k == Date && l != "" || d.long:
			return Categorical, ""
		case k == Integer:
			k = Real
		}
		if !first && k != kind {
			return Categorical, ""
		}
		if !first && l != layout {
			l = ""
		}
		kind, layout, first = k, l, false
	}
	return kind, layout
}

// column gives the draft of one column, or what is wrong.
func (d *draft) column() (c Column, problem string) {
	c = Column{Name: d.name}
	if c.Kind, c.Format = d.kind(); c.Kind == 0 {
		c.Kind = Categorical
	}
	if d.values == 0 && len(d.texts) == 0 && !d.many {
		return c, "every cell is empty: leave the column out, or describe it by hand"
	}
	switch c.Kind {
	case Boolean:
		c.Categories = d.spelling()
	case Real:
		d.bounds(&c)
	case Date:
		from, end := roundMoments(int64(d.min)*microsPerDay, int64(d.max)*microsPerDay, microsPerDay)
		c.Min, c.Max = float64(from/microsPerDay), float64(end/microsPerDay-1)
	case Timestamp:
		from, end := roundMoments(int64(d.min), int64(d.max), microsPerHour)
		c.Min, c.Max = float64(from), float64(end)
	default:
		for text := range d.texts {
			c.Categories = append(c.Categories, text)
		}
		slices.Sort(c.Categories)
	}
	for i, token := range draftTokens {
		if d.seen[i] && (token == "" || c.Kind != Categorical) {
			c.Missing = append(c.Missing, token)
		}
	}
	return c, ""
}

// spelling gives the texts of false and true of a boolean column; the default
// ones where it spells them in more than one way.
func (d *draft) spelling() []string {
	var words [2]string
	for text := range d.texts {
		if MeansMissing(text) {
			continue
		}
		v := booleanAlias([]byte(text))
		if words[v] != "" {
			return nil
		}
		words[v] = text
	}
	if words[0] == "" || words[1] == "" {
		return nil // the case of the other word is not known
	}
	return words[:]
}

// bounds drafts the bounds and bins of a column of numbers.
func (d *draft) bounds(c *Column) {
	c.Min, c.Max = roundOutward(d.min, -1), roundOutward(d.max, 1)
	if !d.fraction {
		c.Kind = Integer
		c.Min, c.Max = max(c.Min, -maxWhole), min(c.Max, maxWhole)
		return
	}
	c.Kind = Real
	if c.Min == c.Max { // one value only, such as 2.5
		margin := math.Abs(c.Min) / 10
		c.Min, c.Max = roundOutward(c.Min-margin, -1), roundOutward(c.Max+margin, 1)
	}
	if d.decimals > 0 && !d.seen[ClassReal] { // more look like computed numbers
		c.Decimals = d.decimals
		if values := math.Floor((c.Max - c.Min) * pow10[d.decimals]); values < defaultBins {
			c.Bins = int(values) // one bin a value, about
		}
	}
	if _, err := NewCodec(*c); err != nil {
		c.Bins, c.Decimals = 0, 0 // the decimals are too few for the bins
	}
}
