package schema

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/decoy-dp/decoy/internal/yamlfile"
)

// Validate reports everything that is wrong with s, joined; each error wraps ErrInvalid.
func (s *Schema) Validate() error {
	_, err := s.Codecs()
	return err
}

// Codecs makes one codec a column, in the order of s.Columns. Its error is that of Validate.
func (s *Schema) Codecs() ([]*Codec, error) {
	codecs, _, err := s.compile()
	return codecs, err
}

// compile makes the codecs of the columns, and that of whole rows.
func (s *Schema) compile() (codecs []*Codec, rows *RowCodec, err error) {
	ps := &problems{s: s}
	ps.schema()
	for i := range s.Columns {
		c := ps.column(i, &s.Columns[i])
		if codecs = append(codecs, c); c != nil {
			c.lenient = s.Lenient
		}
	}
	if !slices.Contains(codecs, nil) {
		rows = newRowCodec(ps, s, codecs)
	}
	if err := ps.err(); err != nil {
		return nil, nil, err
	}
	return codecs, rows, nil
}

// NewCodec makes the codec of one column. Its error joins everything that is
// wrong with the column, and wraps ErrInvalid.
func NewCodec(c Column) (*Codec, error) {
	ps := &problems{s: &Schema{Columns: []Column{c}}}
	codec := ps.column(0, &c)
	if err := ps.err(); err != nil {
		return nil, err
	}
	return codec, nil
}

// schema checks what is not about one column alone.
func (ps *problems) schema() {
	s := ps.s
	wrong := func(bad bool, key, format string, args ...any) {
		if bad {
			ps.add(-1, key, -1, format, args...)
		}
	}
	const limit = "max_rows_per_unit"
	wrong(s.MaxRowsPerUnit < 0, limit, "max_rows_per_unit must be at least 1, not %d",
		s.MaxRowsPerUnit)
	wrong(s.Unit != "" && s.MaxRowsPerUnit == 0, "unit",
		"unit needs max_rows_per_unit: every noise grows with the rows that one unit may "+
			"have, so the limit must be said (further rows of a unit are left out at random)")
	wrong(s.Unit == "" && s.MaxRowsPerUnit > 1, limit,
		"max_rows_per_unit needs unit: without an id column every row is a unit of its own")
	wrong(badText(s.Unit) != "", "unit", "unit %s", badText(s.Unit))
	wrong(s.CSV.Problem() != "", "csv", "%s", s.CSV.Problem())
	c := s.CSV.Comma
	wrong(c >= utf8.RuneSelf || c == '"' || c != 0 && c < ' ' && c != '\t', "csv",
		"comma must be one ASCII character, and no quote, line break or control character but the tab")
	wrong(len(s.Columns) == 0, "columns", "a schema needs at least one column")
	shares := 0.0
	seen := make(map[string]int, len(s.Columns))
	for i, c := range s.Columns {
		shares += c.BuyShare
		if c.After != "" && s.Index(c.After) < 0 {
			ps.add(i, "after", -1, "after names %s, but no column that a model has is called so%s",
				yamlfile.Quote(c.After), s.Hint(c.After))
		}
		if first, ok := seen[c.Name]; ok && c.Name != "" {
			ps.add(i, "name", -1, "the name is that of column number %d", first+1)
		} else {
			seen[c.Name] = i
		}
		if c.Name == s.Unit && c.Name != "" {
			ps.add(i, "name", -1,
				"the unit is not a column: ids are never made up, so take it out of columns")
		}
	}
	wrong(shares > maxShare*(1+1e-9), "columns", "the shares of bins: dp add up to %.3g, more than "+
		"%v: too little of epsilon is left for the fit", shares, maxShare)
}

// checked is a column that is being checked.
type checked struct {
	*Column
	ps *problems
	at int
}

// wrong reports a problem at a key, if there is one.
func (c *checked) wrong(bad bool, key, format string, args ...any) bool {
	if bad {
		c.ps.add(c.at, key, -1, format, args...)
	}
	return bad
}

// column checks column i and, where nothing is wrong, makes its codec.
func (ps *problems) column(i int, column *Column) *Codec {
	before := len(ps.found)
	c := &checked{column, ps, i}
	why := badText(c.Name)
	c.wrong(c.Name == "", "name", "a column needs a name")
	c.wrong(why != "", "name", "name %s", why)
	if c.wrong(!kindNames.has(uint8(c.Kind)), "kind", "a column needs a kind (%s)",
		strings.Join(kindNames.texts, ", ")) {
		return nil
	}
	allowed := append([]string{"name", "kind", "missing", "on_invalid"}, c.Kind.facts().keys...)
	for _, f := range c.fields() {
		if c.says(f) && !slices.Contains(allowed, f.key) {
			c.ps.add(i, f.key, -1, "%s does not apply to kind %s%s", f.key, c.Kind,
				instead(f.key, c.Kind))
		}
	}
	if !spacingNames.has(uint8(c.Spacing)) {
		c.ps.add(i, "bins", -1, "%s", spacingNames.unknown(c.Spacing.String()))
	}
	c.texts("missing", "missing token", c.Missing)
	if c.Kind.Ordered() {
		c.numbers()
	} else {
		c.categories()
	}
	c.invalid()
	if len(ps.found) > before {
		return nil
	}
	codec, fault := newCodec(c.filled())
	if fault != nil {
		ps.add(i, fault.key, fault.item, "%s", fault.text)
		return nil
	}
	return codec
}

// texts checks a list of texts, which must differ.
func (c *checked) texts(key, what string, list []string) (first map[string]int) {
	first = make(map[string]int, len(list))
	for j, text := range list {
		at, twice := first[text]
		if why := badText(text); why != "" {
			c.ps.add(c.at, key, j, "%s %s", what, why)
		} else if twice {
			c.ps.add(c.at, key, j, "%s %s is there twice: as number %d and number %d", what,
				yamlfile.Quote(text), at+1, j+1)
		} else {
			first[text] = j
		}
	}
	return first
}

// instead says how to write what a key was meant for that does not apply to a kind.
func instead(key string, kind Kind) string {
	switch {
	case key == "after" && kind == Date:
		return ": write kind: integer, and in min and max the days between the two, as in {name: " +
			"discharged, kind: integer, after: admitted, min: 0, max: 90}, without edges and format"
	case key == "after" && kind == Timestamp:
		return ": write kind: integer, and in min and max the seconds between the two (minutes, if " +
			"the format has no seconds)"
	}
	return ""
}

// categories checks what a categorical or boolean column declares.
func (c *checked) categories() {
	pair, k := c.Kind.facts().pair, len(c.Categories)
	if c.wrong(k == 0 && pair == nil, "categories", "categories must list at least one text") ||
		c.wrong(k > 0 && pair != nil && k != len(pair), "categories",
			"categories of a %s are two texts: that of false, then that of true", c.Kind) ||
		c.wrong(k+min(len(c.Missing), 1) > maxCodes, "categories",
			"%d categories (and a missing one, if there is one) are more than %d", k, maxCodes) {
		return
	}
	first := c.texts("categories", "category", c.Categories)
	for j, token := range c.Missing {
		if _, ok := first[token]; ok {
			c.ps.add(c.at, "missing", j, "missing token %s is also a category: it can be one or the other",
				yamlfile.Quote(token))
		}
	}
	_, is := first[c.Other]
	c.wrong(c.OnInvalid == Other && c.Other != "" && len(first) > 0 && !is, "other",
		"other %s is not one of the categories", yamlfile.Quote(c.Other))
}

// invalid checks on_invalid and other.
func (c *checked) invalid() {
	const key = "on_invalid"
	ordered := c.Kind.Ordered()
	if !policyNames.has(uint8(c.OnInvalid)) {
		c.ps.add(c.at, key, -1, "%s", policyNames.unknown(c.OnInvalid.String()))
	}
	c.wrong(c.OnInvalid == Other && ordered, key,
		"on_invalid: other does not apply to kind %s: use clamp", c.Kind)
	c.wrong(c.OnInvalid == Other && !ordered && c.Other == "", key,
		"on_invalid: other needs other: the category that takes such cells")
	c.wrong(c.OnInvalid != Other && !ordered && c.Other != "", "other",
		"other needs on_invalid: other")
	c.wrong(c.OnInvalid == Clamp && !ordered && len(c.Missing) == 0, key, "on_invalid: clamp turns a "+
		"cell of kind %s into a missing one, so it needs missing tokens", c.Kind)
}

// numbers checks the bounds and bins of a numeric column.
func (c *checked) numbers() {
	missing, values := min(len(c.Missing), 1), math.Inf(1)
	if c.Edges != nil {
		c.wrong(c.says(field{"bins", binning{c.Column}}), "edges", "edges and bins cannot both be set")
		c.edges()
	} else if least, most := c.bound("min", c.Min), c.bound("max", c.Max); least && most {
		c.wrong(c.Min > c.Max, "min", "min %s is greater than max %s", c.show(c.Min), c.show(c.Max))
		if c.Kind.Stored() != StoredFloat {
			values = max(c.Max-c.Min, 0) + 1
		}
		c.wrong(c.Min == c.Max && values > 1, "min", "min equals max: a real column needs a range")
	}
	switch k := c.Bins; {
	case c.wrong(k < 0 || k > maxCodes, "bins", "bins must be from 1 to %d, not %d", maxCodes, k):
	case c.wrong(float64(k) > values, "bins",
		"%d bins are more than the %.0f values from min to max", k, values):
	case c.wrong(k+missing > maxCodes, "bins", "%d bins and a missing one are more than %d", k,
		maxCodes):
	}
	c.wrong(c.Spacing != Linear && c.Kind.facts().unit > 0, "bins",
		"spacing does not apply to kind %s", c.Kind)
	c.wrong(c.BuyBins != 0 && c.BuyBins < 2, "bins", "dp must be at least 2, not %d", c.BuyBins)
	switch share := c.BuyShare; {
	case c.wrong(share != 0 && c.BuyBins == 0, "bins", "share needs dp: the number of bins to buy"):
	case c.wrong(!(share >= 0 && share <= maxShare), "bins",
		"share must be above 0 and at most %v, not %v", maxShare, share):
	}
	why := badText(c.Format)
	c.wrong(c.Format != "" && c.Kind.facts().notation(c.Format) == nil, "format",
		"kind %s has no format %s", c.Kind, yamlfile.Quote(c.Format))
	c.wrong(c.Format != "" && c.After != "", "format",
		"format does not apply to a column that is after another, whose format it has")
	c.wrong(strings.Contains(c.Format, "MST"), "format",
		"format may not use MST: a zone's name does not tell its offset; use -0700 or Z07:00")
	c.wrong(why != "", "format", "format %s", why)
	c.wrong(c.Decimals < 0 || c.Decimals > maxDecimals, "decimals",
		"decimals must be from 1 to %d, not %d; leave it out to have it chosen", maxDecimals, c.Decimals)
}

// bound checks a bound, and reports whether it is one.
func (c *checked) bound(key string, x float64) bool {
	why := c.badValue(x)
	return !c.wrong(math.IsNaN(x), key, "%s is missing: kind %s needs min and max, or edges", key,
		c.Kind) && !c.wrong(why != "", key, "%s %s", key, why)
}

// maxShare is the most of ε that bought edges may cost: of one column, and of all.
const maxShare = 0.5

// edges checks explicit edges.
func (c *checked) edges() {
	k := len(c.Edges)
	if c.wrong(k < 2, "edges", "edges must list at least two numbers") ||
		c.wrong(k-1+min(len(c.Missing), 1) > maxCodes, "edges", "%d edges make more than %d codes", k,
			maxCodes) {
		return
	}
	for j, e := range c.Edges {
		if why := c.badValue(e); why != "" {
			c.ps.add(c.at, "edges", j, "edge number %d %s", j+1, why)
		} else if j > 0 && e <= c.Edges[j-1] && !(j == k-1 && e == c.Edges[j-1]) { // max alone
			c.ps.add(c.at, "edges", j, "edges must increase: number %d, %s, is not greater than %s", j+1,
				c.show(e), c.show(c.Edges[j-1]))
		}
	}
	says := func(x float64) bool { return x != 0 && !math.IsNaN(x) }
	c.wrong(says(c.Min) && c.Min != c.Edges[0], "min", "min is not the first edge; leave it out")
	c.wrong(says(c.Max) && c.Max != c.Edges[k-1], "max", "max is not the last edge; leave it out")
}

// badValue says what is wrong with x as a bound of an ordered column, or "".
func (c *Column) badValue(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return "is not a finite number"
	case c.Kind.Stored() != StoredFloat && x != math.Trunc(x):
		return "is not a whole number"
	}
	return c.Kind.facts().wrong(x)
}

// badText says what is wrong with a text of the schema, or "".
func badText(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	case strings.ContainsRune(text, 0):
		return "contains a NUL"
	}
	return ""
}
