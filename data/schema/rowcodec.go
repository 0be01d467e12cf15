package schema

import (
	"math"
	"slices"
	"sync"
)

// RowCodec turns whole rows of cells into codes and back, for what of a cell depends on the others
// of its row: columns that are after another, rules and made columns. It is immutable.
//
// Reading is by row: [RowCodec.Cell] reads a cell by itself, [RowCodec.Row] then settles the codes
// of the row. Nothing but the row and the schema has a say. Made cells are never read.
type RowCodec struct {
	codecs  []*Codec
	base    []int // the column that column i is after; −1: none
	order   []int // these columns, each behind its base
	numbers []numberForm
	rules   []rule
	thens   []then
	ruled   int // codes of the columns that the rules name
	made    []madeCodec
	makes   []int // the made columns, each behind those that it follows from
	file    []FileColumn
	forms   func() []numberForm // of these, by formsOf
	lenient bool
	related []bool // columns that Row looks at, or sets
}

// RowCodec makes the codec of whole rows. Its error is that of Validate.
func (s *Schema) RowCodec() (*RowCodec, error) {
	_, r, err := s.compile()
	return r, err
}

// newRowCodec reports what is wrong with after, made columns and rules. No codec is nil.
func newRowCodec(ps *problems, s *Schema, codecs []*Codec) *RowCodec {
	n := len(codecs)
	r := &RowCodec{codecs: codecs, base: make([]int, n), numbers: make([]numberForm, n),
		lenient: s.Lenient, related: make([]bool, n)}
	if !r.after(ps, s) {
		return nil // the others may be about columns that are not understood
	}
	before := len(ps.found)
	r.compileRules(ps, s)
	r.compileMade(ps, s)
	if len(ps.found) > before {
		return nil
	}
	made := 0
	for at := range n + len(s.Made) {
		if made < len(s.Made) && s.Made[made].At == at {
			m := r.made[made]
			r.file = append(r.file, FileColumn{Name: s.Made[made].Name, Column: -1, Made: made, At: n + made,
				Stored: m.stored(), Zoned: m.form.zoned(), Nullable: m.kind != madeID, Categories: m.distinct})
			made++
			continue
		}
		i := at - made
		c, form := &s.Columns[i], r.numbers[i]
		f := FileColumn{Name: c.Name, Column: i, Made: -1, At: i, Stored: c.Kind.Stored(),
			Nullable: codecs[i].values < codecs[i].size, Categories: codecs[i].column.Categories}
		if form.root != nil {
			f.Stored, f.Zoned = form.root.facts.stored, form.zoned()
		}
		r.file = append(r.file, f)
	}
	r.forms = sync.OnceValue(r.formsOf)
	for _, i := range r.order {
		r.related[i], r.related[r.base[i]] = true, true
	}
	for _, x := range r.rules {
		for _, set := range append(slices.Clone(x.when), x.then...) {
			r.related[set.Column] = true
		}
	}
	return r
}

// Codecs are those of the columns, as [Schema.Codecs] gives them.
func (r *RowCodec) Codecs() []*Codec { return r.codecs }

// Relates reports whether a cell may have to do with others of its row. If not, reading is up to
// the codecs of the columns alone.
func (r *RowCodec) Relates() bool { return slices.Contains(r.related, true) }

// Cell reads a cell of column i by itself: its code and, in a column with an order, its value; NaN
// if it has none. The code of a column that is after another is settled by Row. Errors are those of
// [Codec.EncodeText].
func (r *RowCodec) Cell(i int, cell []byte) (code uint16, x float64, err error) {
	c, root := r.codecs[i], r.numbers[i].root
	if r.base[i] < 0 {
		if code, err = c.EncodeText(cell); root == nil || int(code) == c.values || err != nil {
			return code, math.NaN(), err
		}
	} else if code, ok := c.words[string(cell)]; ok {
		return code, math.NaN(), nil
	}
	if x, ok := root.parse(cell); ok && !math.IsInf(x, 0) {
		return code, x, nil
	}
	if r.base[i] >= 0 {
		code, err = c.disallowed(root.facts.notOne)
	}
	return code, math.NaN(), err
}

// Value is Cell for a value that is not a text, or a null: see [Codec.EncodeValue].
func (r *RowCodec) Value(i int, as Stored, v Value) (code uint16, x float64, err error) {
	c, root := r.codecs[i], r.numbers[i].root
	if v.Missing || root == nil {
		code, err = c.EncodeValue(as, v)
		return code, math.NaN(), err
	}
	x, ok := root.facts.number(as, v)
	if r.base[i] < 0 {
		if code, err = c.EncodeValue(as, v); int(code) == c.values || err != nil || !ok {
			x = math.NaN()
		}
		return code, x, err
	}
	word, isWord := c.words[formatNumber(x)]
	switch {
	case !ok || math.IsInf(x, 0):
		code, err = c.mistyped()
	case isWord && root.facts.unit == 0:
		code = word
	case math.IsNaN(x):
		code, err = c.EncodeMissing()
	default:
		return code, x, nil
	}
	return code, math.NaN(), err
}

// Related reports whether Row looks at column i, or sets it.
func (r *RowCodec) Related(i int) bool { return r.related[i] }

// Row settles the codes of a row from what Cell gave of its cells: differences, and the rules. The
// error, a constant about the cell of a column, is for a column that refuses.
func (r *RowCodec) Row(codes []uint16, x []float64) (column int, err error) {
	for _, i := range r.order {
		if math.IsNaN(x[i]) {
			continue
		}
		if d := r.Difference(i, x); math.IsNaN(d) {
			codes[i], err = r.codecs[i].EncodeMissing()
		} else {
			codes[i], err = r.codecs[i].EncodeNumber(d)
		}
		if err != nil {
			return i, err
		}
	}
	code := func(c int) uint16 { return codes[c] }
	for k := range r.thens {
		t := &r.thens[k]
		if allow := r.allowed(t, code); allow != nil && !allow[codes[t.column]] {
			c := r.codecs[t.column]
			if c.column.OnInvalid == Refuse && !r.lenient {
				return t.column, errRule
			}
			codes[t.column] = t.nearest(allow, codes[t.column])
		}
	}
	return 0, nil
}

// Difference is the value, as the bounds of the column have it, of column i that is after another:
// by how much, in a row of the values that Cell gave. NaN where one of the two is.
func (r *RowCodec) Difference(i int, x []float64) float64 {
	if from := x[r.base[i]]; !math.IsNaN(x[i]) && !math.IsNaN(from) {
		return r.numbers[i].difference(x[i], from)
	}
	return math.NaN()
}
