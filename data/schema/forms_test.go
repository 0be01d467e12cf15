package schema

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// germanNumber is a form that nothing but tests has: 1_234,5.
var germanNumber = form{
	name: "1_234,5", kind: Real, reading: reading{format: "1_234,5"}, digits: manyDigits,
	takes: func(c *cell) bool {
		_, ok := germanNumberCell(c.text)
		return ok && bytes.IndexByte(c.text, ',') >= 0
	},
	notation: &notation{parse: germanNumberCell,
		print: func(dst []byte, v Value, digits int) []byte {
			whole, behind, _ := bytes.Cut(decimal.print(nil, v, digits), []byte("."))
			for len(whole) > 3 {
				n := (len(whole)-1)%3 + 1
				dst, whole = append(append(dst, whole[:n]...), '_'), whole[n:]
			}
			return append(append(append(dst, whole...), ','), behind...)
		},
		sql: func(e SQL, text string) string {
			return "CASE WHEN " + e.Matches(text, "[0-9]{1,3}([_][0-9]{3})*,[0-9]+") + " THEN " +
				decimal.sql(e, "REPLACE(REPLACE("+text+", '_', ''), ',', '.')") + " END"
		}},
}

func germanNumberCell(cell []byte) (float64, bool) {
	whole, behind, _ := bytes.Cut(cell, []byte(","))
	for i, group := range bytes.Split(whole, []byte("_")) {
		if n := len(group); n == 0 || n > 3 || i > 0 && n < 3 {
			return 0, false
		}
	}
	if len(behind) == 0 || bytes.IndexByte(behind, '.') >= 0 || bytes.ContainsAny(cell, "+-eE") {
		return 0, false
	}
	text := bytes.ReplaceAll(whole, []byte("_"), nil)
	return parseNumber(append(append(text, '.'), behind...))
}

// withGermanNumbers adds the form to the table for the time of a test.
func withGermanNumbers(t *testing.T) {
	own := slices.Clone(table)
	use := func(next []form) {
		all := slices.Concat(next, moreMoments(), withMarks(), withZeros())
		table, forms = next, func() []form { return all }
		classText = slices.IndexFunc(table, func(f form) bool { return f.name == "text" })
		generated = sync.OnceValue(newFinder)
	}
	use(slices.Insert(slices.Clone(own), classText, germanNumber))
	families = sync.OnceValue(newFamilies)
	t.Cleanup(func() {
		use(own)
		families = sync.OnceValue(newFamilies)
	})
}

// TestEveryForm: a value that a form prints is read as it was, and its text has the class of the
// form; its format is one of the schema, and an engine reads it, or it is said that it cannot.
func TestEveryForm(t *testing.T) {
	withGermanNumbers(t)
	for i := range forms() {
		f := &forms()[i]
		if !f.kind.Ordered() {
			continue
		}
		n := f.kind.facts().notation(f.format)
		v, digits := Value{Int: 11_356, Float: 1234.5}, 1 // 2001-02-03
		if f.kind.facts().stored != StoredFloat {
			digits = wholeDigits
		}
		switch f.kind {
		case Timestamp:
			v.Int *= microsPerDay
		case Time, Period:
			v.Int = 309 // 05:09, 1995-10
		}
		want := float64(v.Int)
		if digits != wholeDigits {
			want = v.Float
		}
		text := n.print(nil, v, digits)
		if x, ok := n.parse(text); !ok || x != want {
			t.Errorf("%s: %s is read as %v, %v", f.name, text, x, ok)
		}
		if c := forms()[Classify(text)]; c.kind.Numeric() != f.kind.Numeric() || c.kind != f.kind &&
			!c.kind.Numeric() || c.name != f.name && f.format == "" &&
			!f.kind.Numeric() {
			t.Errorf("%s: %s has class %s", f.name, text, c.name)
		}
		column := Column{Name: "x", Kind: f.kind, Format: f.format, Min: 0, Max: want + 1, Bins: 2}
		if f.kind.facts().unit > 0 {
			column.Max = want
		}
		codec := stattest.Must(NewCodec(column))
		code, err := codec.EncodeText(text)
		if err != nil || code != 1 {
			t.Errorf("%s: %s has code %d, %v", f.name, text, code, err)
		}
		sql, err := codec.ReadSQL(words{}, "x")
		if (err == nil) != strings.Contains(sql, "x") || err != nil &&
			!strings.Contains(err.Error(), "not read in SQL") {
			t.Errorf("%s in SQL: %s, %v", f.name, sql, err)
		}
	}
}

// words is no engine's SQL.
type words struct{}

func (words) Matches(text, pattern string) string { return text + " LIKE '" + pattern + "'" }
func (words) Trim(text, characters string) string { return "TRIM(" + text + ")" }
func (words) Float(text string) string            { return "FLOAT(" + text + ")" }
func (words) Number(float64) string               { return "1" }
func (words) Whole(text string) string            { return "INT(" + text + ")" }
func (words) Over(a string, b int) string         { return a + " / 2" }
func (words) ToFloat(a string) string             { return "FLOAT(" + a + ")" }

// TestAFormIsOneEntry: a form that is added to the table alone is known to all that has to do with
// texts: its class, a schema, a draft, codes, magnitudes and what is written.
func TestAFormIsOneEntry(t *testing.T) {
	const file = "decoy: 1\ncolumns:\n" +
		"  - {name: fee, kind: real, format: \"1_234,5\", min: 0, max: 2000, bins: 4, decimals: 2}\n"
	stattest.Fails(t, stattest.Err(Parse([]byte(file))), "the form is there already")
	withGermanNumbers(t)
	cell := []byte("1_238,10")
	if x := Classify(cell).Looks(); x.Kind != Real || x.Format != "1_234,5" {
		t.Errorf("%s looks like %+v", cell, x)
	}
	s := stattest.Must(Parse([]byte(file)))
	s = stattest.Must(Parse(stattest.Must(s.YAML())))
	rows := stattest.Must(s.RowCodec())
	code, x, err := rows.Cell(0, cell)
	if code != 2 || x != 1238.1 || err != nil {
		t.Errorf("%s has code %d, value %v, %v", cell, code, x, err)
	}
	typed, err := rows.Codecs()[0].EncodeValue(StoredFloat, Value{Float: 1238.1})
	if typed != code || err != nil {
		t.Errorf("as a float64 it has code %d, %v", typed, err)
	}
	out := rows.AppendText(nil, rows.Columns()[0], Value{Float: 1238.1})
	if string(out) != "1_238,10" {
		t.Errorf("it is written as %s", out)
	}
	m := Magnitudes{Kind: Real, PerPower: 1, Format: "1_234,5"}
	plain := Magnitudes{Kind: Real, PerPower: 1}
	a, ok := m.Of(cell)
	if b, _ := plain.Of([]byte("1238.1")); !ok || a != b {
		t.Errorf("its magnitude is %d, not %d", a, b)
	}
	d := NewDrafter([]string{"fee"})
	for _, cell := range []string{"1_238,10", "7,5", "0,25"} {
		d.Add([]string{cell})
	}
	drafted, err := d.Schema()
	if err != nil || drafted.Columns[0].Format != "1_234,5" || drafted.Columns[0].Max < 1238 {
		t.Errorf("the draft: %+v, %v", drafted, err)
	}
	found := false
	for _, f := range Families() {
		found = found || f.Kind.Numeric() && slices.Contains(f.Formats, "1_234,5")
	}
	if !found {
		t.Error("it has no family")
	}
}
