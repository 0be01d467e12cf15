package schema

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
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

// MeansMissing reports whether a text usually means that a cell is missing.
func MeansMissing(text string) bool {
	return slices.ContainsFunc(table, func(f form) bool { return f.kind == 0 && f.name == text })
}

// maxCategories is the most distinct texts of a categorical column.
const maxCategories = 1000

// reach is cells of a class, read as they look, or as an alternative.
type reach struct {
	class Class
	as    Written
}

// widen makes a span hold a value.
func (d *draft) widen(r reach, x float64) {
	s, known := d.spans[r]
	if !known {
		s = [2]float64{x, x}
	}
	d.spans[r] = [2]float64{min(s[0], x), max(s[1], x)}
}

// spanOf is the span of all values, read as those of a family.
func (d *draft) spanOf(f *Family) {
	for r, s := range d.spans {
		own := slices.Contains(f.Classes, r.class)
		if own && r.as.Kind == 0 || !own && f.is(r.as) {
			d.min, d.max = min(d.min, s[0]), max(d.max, s[1])
		}
	}
}

// A draft is what is known of one column.
type draft struct {
	name   string
	seen   []bool          // the classes of its cells
	values int             // cells that do not mean missing
	texts  map[string]bool // distinct cells but "", until there are too many
	many   bool            // there are

	// of an ordered kind
	spans    map[reach][2]float64 // of the values of each class, as it is read
	min, max float64              // of those of all, once the family is known
	long     bool                 // a whole number of 2^53 and more, such as an account's
	fraction bool                 // some number is not whole
	decimals int                  // most digits behind the point
}

// NewDrafter starts a draft of a table with these column names.
func NewDrafter(names []string) *Drafter {
	d := &Drafter{columns: make([]draft, len(names))}
	for i, name := range names {
		d.columns[i] = draft{name: name, seen: make([]bool, len(forms())), texts: map[string]bool{},
			spans: map[reach][2]float64{}, min: math.Inf(1), max: math.Inf(-1)}
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
	kind := forms()[class].kind
	if kind == 0 {
		return
	}
	d.values++
	f := kind.facts()
	n := f.notation(forms()[class].format)
	if n == nil {
		return
	}
	x, _ := n.parse([]byte(cell))
	d.widen(reach{class, Written{}}, x)
	for _, a := range forms()[class].otherwise {
		if n := a.Kind.facts().notation(cmp.Or(a.Format, a.Kind.facts().format)); n != nil {
			y, _ := n.parse([]byte(cell))
			d.widen(reach{class, a}, y)
		}
	}
	if !kind.Numeric() && !slices.ContainsFunc(forms()[class].otherwise, func(a Written) bool {
		return a.Kind.Numeric()
	}) {
		return
	}
	whole := x == math.Trunc(x)
	d.long, d.fraction = d.long || whole && math.Abs(x) > maxWhole, d.fraction || !whole
	_, behind, _ := strings.Cut(cell, ".")
	if n, ok := scan([]byte(cell)); ok && forms()[class].key != nil {
		behind = string(n.rest)
	}
	d.decimals = max(d.decimals, len(behind))
}

// family is the one that has all cells, and how they are written in it; nil if there is none, or
// more than one, as of dates whose day and month cannot be told apart.
func (d *draft) family() (found *Family, format string) {
	most, several := 0, false
	all := Families()
	var values []Class
	for c, seen := range d.seen {
		if seen && forms()[c].kind != 0 {
			values = append(values, Class(c))
		}
	}
	for i := range all {
		f := &all[i]
		own := f.own(values)
		switch {
		case own == 0 || own < most:
		case own == most:
			several = true
		default:
			found, most, several = f, own, false
		}
	}
	if several || found == nil || d.long {
		return nil, ""
	}
	rows := map[Class]float64{}
	for _, c := range found.Classes {
		if d.seen[c] {
			rows[c] = 1
		}
	}
	if found.Kind.Numeric() {
		n := Numbers(rows)
		for c := range rows {
			if n.Digits(c) < 0 {
				return nil, ""
			}
		}
		return found, n.Format
	}
	format, _ = found.Written(func(c ...Class) float64 { return rows[c[0]] }, 0)
	return found, format
}

// own is how many classes of cells a family has; 0 if a cell can be of no class of it.
func (f *Family) own(cells []Class) (own int) {
	for _, c := range cells {
		switch look := c.Looks(); {
		case slices.Contains(f.Classes, c):
			own++
		case !look.Kind.Ordered() || !slices.ContainsFunc(look.Else, f.is):
			return 0
		}
	}
	return own
}

// is reports whether an alternative is of the family.
func (f *Family) is(a Written) bool {
	return f.Kind == a.Kind && f.Format == a.Format || f.Kind.Numeric() && a.Kind.Numeric()
}

// column gives the draft of one column, or what is wrong.
func (d *draft) column() (c Column, problem string) {
	c = Column{Name: d.name, Kind: Categorical}
	if f, format := d.family(); f != nil {
		c.Kind, c.Format = f.Kind, format
		d.spanOf(f)
	}
	if c.Kind.Numeric() {
		c.Kind = Real
	}
	if d.values == 0 && len(d.texts) == 0 && !d.many {
		return c, "every cell is empty: leave the column out, or describe it by hand"
	}
	switch c.Kind {
	case Boolean:
		c.Categories = d.spelling()
	case Real:
		d.bounds(&c)
	case Time, Duration, Period:
		c.Min, c.Max = d.min, d.max
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
	for i, f := range forms() {
		if d.seen[i] && f.kind == 0 && (f.name == "" || c.Kind != Categorical) {
			c.Missing = append(c.Missing, f.name)
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
	if d.decimals > 0 && !d.seen[ClassNamed("real")] { // more look like computed numbers
		c.Decimals = d.decimals
		if values := math.Floor((c.Max - c.Min) * pow10[d.decimals]); values < defaultBins {
			c.Bins = int(values) // one bin a value, about
		}
	}
	if _, err := NewCodec(*c); err != nil {
		c.Bins, c.Decimals = 0, 0 // the decimals are too few for the bins
	}
}

// roundOutward rounds x to two significant decimal digits: up if sign is
// positive, else down. x is finite.
func roundOutward(x float64, sign int) float64 {
	if x == 0 {
		return 0
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	digits = strings.Replace(digits, ".", "", 1) + "0"
	two, _ := strconv.Atoi(digits[:2])
	if away := (x > 0) == (sign > 0); away && strings.Trim(digits[2:], "0") != "" {
		two++
	}
	y, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", two, e-1), 64)
	return math.Copysign(y, x)
}

// roundMoments rounds a range of microseconds outward to whole years, months,
// days or hours, the longest of these that the range holds two of and that is
// not shorter than least. The end is exclusive: the start of the next year and so on.
func roundMoments(lo, hi, least int64) (from, end int64) {
	const day = 24 * time.Hour
	first, last := time.UnixMicro(lo).UTC(), time.UnixMicro(hi).UTC()
	date := func(t time.Time, month time.Month) time.Time {
		return time.Date(t.Year(), month, 1, 0, 0, 0, 0, time.UTC)
	}
	switch span := last.Sub(first); {
	case span >= 2*365*day:
		first, last = date(first, 1), date(last, 13)
	case span >= 2*30*day:
		first, last = date(first, first.Month()), date(last, last.Month()+1)
	case span >= 2*day || least == microsPerDay:
		first, last = first.Truncate(day), last.Truncate(day).Add(day)
	default:
		first, last = first.Truncate(time.Hour), last.Truncate(time.Hour).Add(time.Hour)
	}
	return first.UnixMicro(), last.UnixMicro()
}
