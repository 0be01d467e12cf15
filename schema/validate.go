package schema

import (
	"math"
	"reflect"
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
	ps := &problems{}
	ps.schema(s, 0)
	codecs = make([]*Codec, len(s.Columns))
	for i := range s.Columns {
		if c := ps.column(i, &s.Columns[i], givenFields(&s.Columns[i]), 0); c != nil {
			c.lenient = s.Lenient
			codecs[i] = c
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
	ps := &problems{}
	codec := ps.column(0, &c, givenFields(&c), 0)
	if err := ps.err(); err != nil {
		return nil, err
	}
	return codec, nil
}

// givenFields are the fields of c that say something. Bounds of zero count as
// given for a kind that has bounds, unless edges give them.
func givenFields(c *Column) (given keys) {
	for k := keyName; k < keyNone; k++ {
		bound := (k == keyMin || k == keyMax) && c.Kind.Ordered() && c.Edges == nil
		if bound || !reflect.ValueOf(c.field(k)).Elem().IsZero() {
			given.add(k)
		}
	}
	return given
}

// schema checks what is not about one column alone. A broken field has a problem reported already.
func (ps *problems) schema(s *Schema, broken keys) {
	wrong := func(k key, format string, args ...any) {
		if !broken.has(k) {
			ps.add(place{-1, k, -1}, "", format, args...)
		}
	}
	switch known := !broken.has(keyMaxRows) && !broken.has(keyUnit); {
	case s.MaxRowsPerUnit < 0:
		wrong(keyMaxRows, "max_rows_per_unit must be at least 1, not %d", s.MaxRowsPerUnit)
	case known && s.Unit != "" && s.MaxRowsPerUnit == 0:
		wrong(keyUnit, "unit needs max_rows_per_unit: every noise grows with the rows that one unit may "+
			"have, so the limit must be said (further rows of a unit are left out at random)")
	case known && s.Unit == "" && s.MaxRowsPerUnit > 1:
		wrong(keyMaxRows,
			"max_rows_per_unit needs unit: without an id column every row is a unit of its own")
	}
	if why := badText(s.Unit); why != "" {
		wrong(keyUnit, "unit %s", why)
	}
	if c := s.CSV.Comma; c >= utf8.RuneSelf || c == '"' || c != 0 && c < ' ' && c != '\t' {
		wrong(keyCSV, "comma must be one ASCII character, and no quote, line break or control "+
			"character but the tab")
	}
	if len(s.Columns) == 0 {
		wrong(keyColumns, "a schema needs at least one column")
	}
	shares := 0.0
	for i, c := range s.Columns {
		if c.After != "" && s.Index(c.After) < 0 {
			ps.add(place{i, keyAfter, -1}, c.Name, "after names %s, but no column that a model has is "+
				"called so%s", yamlfile.Quote(c.After), s.Hint(c.After))
		}
		shares += c.BuyShare
	}
	if shares > maxShare*(1+1e-9) {
		ps.add(place{-1, keyColumns, -1}, "", "the shares of bins: dp add up to %.3g, more than %v: too "+
			"little of epsilon is left for the fit", shares, maxShare)
	}
	seen := make(map[string]int, len(s.Columns))
	for i := range s.Columns {
		name := s.Columns[i].Name
		if name == "" {
			continue // reported with the column
		}
		at := place{i, keyName, -1}
		if first, ok := seen[name]; ok {
			ps.add(at, name, "the name is that of column number %d", first+1)
		} else {
			seen[name] = i
		}
		if name == s.Unit {
			ps.add(at, name, "the unit is not a column: ids are never made up, so take it out of columns")
		}
	}
}

// checked is a column that is being checked.
type checked struct {
	*Column
	ps     *problems
	at     int
	given  keys // fields that say something
	broken keys // those with a problem that is reported already
}

func (c *checked) wrong(k key, item int, format string, args ...any) {
	if !c.broken.has(k) {
		c.ps.add(place{c.at, k, item}, c.Name, format, args...)
	}
}

func (c *checked) sound(k key) bool { return c.given.has(k) && !c.broken.has(k) }

// column checks column i and, where nothing is wrong, makes its codec.
func (ps *problems) column(i int, column *Column, given, broken keys) *Codec {
	before := len(ps.found)
	c := &checked{column, ps, i, given, broken}
	if c.Name == "" {
		c.wrong(keyName, -1, "a column needs a name")
	} else if why := badText(c.Name); why != "" {
		c.wrong(keyName, -1, "name %s", why)
	}
	if !kindNames.has(uint8(c.Kind)) {
		c.wrong(keyKind, -1, "a column needs a kind (%s)", strings.Join(kindNames.texts, ", "))
		return nil
	}
	allowed := c.Kind.facts().keys | 1<<keyMissing | 1<<keyOnInvalid
	for k := keyCategories; k < keyNone; k++ {
		if given.has(k) && !allowed.has(k) {
			c.wrong(k, -1, "%s does not apply to kind %s%s", k, c.Kind, instead(k, c.Kind))
			c.broken.add(k)
		}
	}
	if !spacingNames.has(uint8(c.Spacing)) {
		c.wrong(keySpacing, -1, "%s", spacingNames.unknown(c.Spacing.String()))
	}
	c.texts(keyMissing, "missing token", c.Missing)
	if c.Kind.Ordered() {
		c.numbers()
	} else {
		c.categories()
	}
	c.invalid()
	if len(ps.found) > before || broken != 0 {
		return nil
	}
	codec, fault := newCodec(c.filled())
	if fault != nil {
		c.wrong(fault.key, fault.item, "%s", fault.text)
		return nil
	}
	return codec
}

// texts checks a list of texts, which must differ.
func (c *checked) texts(k key, what string, list []string) (first map[string]int) {
	first = make(map[string]int, len(list))
	for j, text := range list {
		if why := badText(text); why != "" {
			c.wrong(k, j, "%s %s", what, why)
		} else if at, ok := first[text]; ok {
			c.wrong(k, j, "%s %s is there twice: as number %d and number %d", what,
				yamlfile.Quote(text), at+1, j+1)
		} else {
			first[text] = j
		}
	}
	return first
}

// instead says how to write what a key was meant for that does not apply to a kind.
func instead(k key, kind Kind) string {
	if k != keyAfter {
		return ""
	}
	switch kind {
	case Date:
		return ": write kind: integer, and in min and max the days between the two, as in {name: " +
			"discharged, kind: integer, after: admitted, min: 0, max: 90}, without edges and format"
	case Timestamp:
		return ": write kind: integer, and in min and max the seconds between the two (minutes, if " +
			"the format has no seconds)"
	}
	return ""
}

// categories checks what a categorical or boolean column declares.
func (c *checked) categories() {
	pair := c.Kind.facts().pair
	switch k := len(c.Categories); {
	case k == 0 && (pair == nil || c.given.has(keyCategories)):
		c.wrong(keyCategories, -1, "categories must list at least one text")
		return
	case k > 0 && pair != nil && k != len(pair):
		c.wrong(keyCategories, -1, "categories of a %s are two texts: that of false, then that of true",
			c.Kind)
		return
	}
	if n := len(c.Categories) + min(len(c.Missing), 1); n > maxCodes {
		c.wrong(keyCategories, -1, "%d categories (and a missing one, if there is one) are more than %d",
			len(c.Categories), maxCodes)
		return
	}
	first := c.texts(keyCategories, "category", c.Categories)
	for j, token := range c.Missing {
		if _, ok := first[token]; ok {
			c.wrong(keyMissing, j, "missing token %s is also a category: it can be one or the other",
				yamlfile.Quote(token))
		}
	}
	if c.OnInvalid == Other && c.given.has(keyOther) && len(first) > 0 {
		if _, ok := first[c.Other]; !ok {
			c.wrong(keyOther, -1, "other %s is not one of the categories", yamlfile.Quote(c.Other))
		}
	}
}

// invalid checks on_invalid and other.
func (c *checked) invalid() {
	switch {
	case !policyNames.has(uint8(c.OnInvalid)):
		c.wrong(keyOnInvalid, -1, "%s", policyNames.unknown(c.OnInvalid.String()))
	case c.OnInvalid == Other && c.Kind.Ordered():
		c.wrong(keyOnInvalid, -1, "on_invalid: other does not apply to kind %s: use clamp", c.Kind)
	case c.OnInvalid == Other && !c.given.has(keyOther):
		c.wrong(keyOnInvalid, -1, "on_invalid: other needs other: the category that takes such cells")
	case c.OnInvalid != Other && c.given.has(keyOther) && !c.Kind.Ordered():
		c.wrong(keyOther, -1, "other needs on_invalid: other")
	case c.OnInvalid == Clamp && !c.Kind.Ordered() && len(c.Missing) == 0:
		c.wrong(keyOnInvalid, -1, "on_invalid: clamp turns a cell of kind %s into a missing one, so it "+
			"needs missing tokens", c.Kind)
	}
}

// numbers checks the bounds and bins of a numeric column.
func (c *checked) numbers() {
	if c.given.has(keyEdges) {
		if c.given.has(keyBins) || c.given.has(keySpacing) || c.given.has(keyBuy) {
			c.wrong(keyEdges, -1, "edges and bins cannot both be set")
		}
		if c.sound(keyEdges) {
			c.edges()
		}
	} else {
		for _, b := range []struct {
			key   key
			value float64
		}{{keyMin, c.Min}, {keyMax, c.Max}} {
			if !c.given.has(b.key) {
				c.wrong(b.key, -1, "%s is missing: kind %s needs min and max, or edges", b.key, c.Kind)
			} else if c.sound(b.key) {
				if why := c.badValue(b.value); why != "" {
					c.wrong(b.key, -1, "%s %s", b.key, why)
				}
			}
		}
		if c.sound(keyMin) && c.sound(keyMax) {
			if c.Min > c.Max {
				c.wrong(keyMin, -1, "min %s is greater than max %s", c.show(c.Min), c.show(c.Max))
			} else if c.Min == c.Max && c.Kind.Stored() == StoredFloat {
				c.wrong(keyMin, -1, "min equals max: a real column needs a range")
			}
		}
	}
	if c.sound(keyBins) {
		if c.Bins < 1 || c.Bins > maxCodes {
			c.wrong(keyBins, -1, "bins must be from 1 to %d, not %d", maxCodes, c.Bins)
		} else if values := c.Max - c.Min + 1; c.Kind.Stored() != StoredFloat && values >= 1 &&
			c.sound(keyMin) && c.sound(keyMax) && float64(c.Bins) > values {
			c.wrong(keyBins, -1, "%d bins are more than the %.0f values from min to max", c.Bins, values)
		} else if c.Bins+min(len(c.Missing), 1) > maxCodes {
			c.wrong(keyBins, -1, "%d bins and a missing one are more than %d", c.Bins, maxCodes)
		}
	}
	c.bought()
	if c.sound(keyFormat) {
		switch {
		case c.Format == "":
			c.wrong(keyFormat, -1, "format is empty")
		case strings.Contains(c.Format, "MST"):
			c.wrong(keyFormat, -1, "format may not use MST: a zone's name does not tell its offset; use "+
				"-0700 or Z07:00")
		case badText(c.Format) != "":
			c.wrong(keyFormat, -1, "format %s", badText(c.Format))
		}
	}
	if c.sound(keyDecimals) && (c.Decimals < 1 || c.Decimals > maxDecimals) {
		c.wrong(keyDecimals, -1, "decimals must be from 1 to %d, not %d; leave it out to have it chosen",
			maxDecimals, c.Decimals)
	}
}

// bought checks bins whose edges are bought.
func (c *checked) bought() {
	if c.sound(keyBuy) && c.BuyBins < 2 {
		c.wrong(keyBuy, -1, "dp must be at least 2, not %d", c.BuyBins)
	}
	switch {
	case c.given.has(keyShare) && !c.given.has(keyBuy):
		c.wrong(keyShare, -1, "share needs dp: the number of bins to buy")
	case c.sound(keyShare) && !(c.BuyShare > 0 && c.BuyShare <= maxShare):
		c.wrong(keyShare, -1, "share must be above 0 and at most %v, not %v", maxShare, c.BuyShare)
	}
}

// maxShare is the most of ε that bought edges may cost: of one column, and of all.
const maxShare = 0.5

// edges checks explicit edges.
func (c *checked) edges() {
	k := len(c.Edges)
	if k < 2 {
		c.wrong(keyEdges, -1, "edges must list at least two numbers")
		return
	}
	if k-1+min(len(c.Missing), 1) > maxCodes {
		c.wrong(keyEdges, -1, "%d edges make more than %d codes", k, maxCodes)
		return
	}
	for j, e := range c.Edges {
		if why := c.badValue(e); why != "" {
			c.wrong(keyEdges, j, "edge number %d %s", j+1, why)
		} else if j > 0 && e <= c.Edges[j-1] {
			c.wrong(keyEdges, j, "edges must increase: number %d, %s, is not greater than %s", j+1,
				c.show(e), c.show(c.Edges[j-1]))
		}
	}
	if c.sound(keyMin) && c.Min != c.Edges[0] {
		c.wrong(keyMin, -1, "min is not the first edge; leave it out")
	}
	if c.sound(keyMax) && c.Max != c.Edges[k-1] {
		c.wrong(keyMax, -1, "max is not the last edge; leave it out")
	}
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
