package schema

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// check ends the test, which may be one of package rapid, on an error.
func check(t interface {
	Helper()
	Fatal(...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustCodec(t testing.TB, c Column) *Codec {
	t.Helper()
	c.Name = "x"
	codec := stattest.Must(NewCodec(c))
	return codec
}

func column(c Column) Column   { c.Name = "x"; return c }
func clamp(c Column) Column    { c.OnInvalid = Clamp; return c }
func optional(c Column) Column { c.Missing = []string{"", "NA"}; return c }

var (
	age    = Column{Kind: Integer, Min: 17, Max: 90}
	dose   = Column{Kind: Real, Min: -1, Max: 1, Bins: 4}
	sex    = Column{Kind: Categorical, Categories: []string{"female", "male", "1"}}
	alive  = Column{Kind: Boolean}
	died   = Column{Kind: Boolean, Categories: []string{"No", "Yes"}}
	day    = Column{Kind: Date, Min: 0, Max: 99, Bins: 10}
	moment = Column{Kind: Timestamp, Min: 0, Max: 99e6, Bins: 10}
)

func other(c Column, text string) Column { c.OnInvalid, c.Other = Other, text; return c }

// cases reads a list of test cases from testdata.
func cases[T any](t *testing.T, name string) (list []T) {
	t.Helper()
	text := stattest.Must(os.ReadFile("testdata/" + name))
	check(t, yaml.Unmarshal(text, &list))
	return list
}

// columnOf reads a schema of one column, as a file has it.
func columnOf(t *testing.T, text string, lenient bool) *Schema {
	t.Helper()
	s, err := Parse(fmt.Appendf(nil, "decoy: 1\nlenient: %v\ncolumns:\n  - {name: x, %s\n", lenient,
		strings.TrimPrefix(text, "{")))
	check(t, err)
	return s
}

// outcome is a code, or an error of a cell.
func outcome(t *testing.T, code uint16, err error) string {
	t.Helper()
	if err == nil {
		return strconv.Itoa(int(code))
	}
	if !errors.Is(err, ErrSchema) {
		t.Errorf("%v does not wrap ErrSchema", err)
	}
	return err.Error()
}

func TestColumns(t *testing.T) {
	for _, test := range cases[struct {
		Name, Column           string
		Lenient                bool
		Cells, Values, Written map[string]string
		Labels                 []string
		Edges                  []float64
	}](t, "columns.yaml") {
		t.Run(test.Name, func(t *testing.T) {
			codecs := stattest.Must(columnOf(t, test.Column, test.Lenient).Codecs())
			c := codecs[0]
			for cell, want := range test.Cells {
				code, err := c.EncodeText([]byte(cell))
				if cell == "unreadable" {
					code, err = c.Unreadable(), nil
				}
				if got := outcome(t, code, err); got != want {
					t.Errorf("%q: %s, want %s", cell, got, want)
				}
			}
			for value, want := range test.Values {
				code, err := encodeNamed(c, value)
				if got := outcome(t, code, err); got != want {
					t.Errorf("%s: %s, want %s", value, got, want)
				}
			}
			for number, want := range test.Written {
				x := stattest.Must(strconv.ParseFloat(number, 64))
				if got := string(c.AppendText(nil, Value{Float: x})); got != want {
					t.Errorf("%v is written %s, want %s", number, got, want)
				}
			}
			for code, want := range test.Labels {
				if got := c.Label(uint16(code)); got != want || len(test.Labels) != c.Size() {
					t.Errorf("the label of %d is %s, want %s", code, got, want)
				}
			}
			if test.Edges != nil && !slices.Equal(c.bins.lower, test.Edges) {
				t.Errorf("edges %v, want %v", c.bins.lower, test.Edges)
			}
		})
	}
}

// encodeNamed encodes a value such as "days 17".
func encodeNamed(c *Codec, value string) (uint16, error) {
	kind, number, _ := strings.Cut(value, " ")
	as := Stored(slices.Index([]string{"", "bool", "int", "float", "days", "micros"}, kind))
	x, _ := strconv.ParseFloat(number, 64)
	n, _ := strconv.ParseInt(number, 10, 64)
	switch kind {
	case "null":
		return c.EncodeMissing()
	case "absent":
		return c.Absent()
	}
	return c.EncodeValue(as, Value{Int: n, Float: x})
}

// stored encodes a value that is not a text.
func stored(as Stored, v Value) func(*Codec) (uint16, error) {
	return func(c *Codec) (uint16, error) { return c.EncodeValue(as, v) }
}

func TestPanics(t *testing.T) {
	tests := map[string]func(){
		"fingerprint":          func() { (&Schema{}).Fingerprint() },
		"bin of missing":       func() { mustCodec(t, optional(dose)).Bin(4) },
		"bin of a category":    func() { mustCodec(t, sex).Bin(0) },
		"decode beyond Size":   func() { mustCodec(t, sex).Decode(3, nil) },
		"label beyond Size":    func() { mustCodec(t, dose).Label(4) },
		"boolean that is none": func() { mustCodec(t, alive).AppendText(nil, Value{Int: 2}) },
	}
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			stattest.Panics(t, f, "")
		})
	}
}

func TestMissingValue(t *testing.T) {
	c := mustCodec(t, optional(age))
	if got := c.Values(); got != 74 || c.Size() != 75 {
		t.Errorf("%d values, %d codes", got, c.Size())
	}
	if v := c.Decode(74, nil); !v.Missing {
		t.Errorf("got %+v", v)
	}
	c = mustCodec(t, Column{Kind: Boolean, Missing: []string{"?", ""}})
	if got := string(c.AppendText([]byte("a,"), Value{Missing: true})); got != "a,?" {
		t.Errorf("missing is written %q", got)
	}
	if c := mustCodec(t, age); c.Values() != c.Size() {
		t.Error("a column without tokens has a missing code")
	}
}

// The codec keeps its own copy of the column.
func TestCodecIsImmutable(t *testing.T) {
	categories := []string{"a", "b"}
	c := mustCodec(t, Column{Kind: Categorical, Categories: categories})
	categories[0] = "z"
	if got := c.Label(0); got != "a" {
		t.Errorf("label is %q", got)
	}
}

// anyColumn draws valid columns of every kind.
func anyColumn() *rapid.Generator[Column] {
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
	})
	words := rapid.Custom(func(t *rapid.T) Column {
		c := Column{Name: "x", Kind: rapid.SampledFrom([]Kind{Categorical, Boolean}).Draw(t, "kind")}
		distinct := rapid.SliceOfNDistinct(text, 4, 30, rapid.ID).Draw(t, "texts")
		n := len(distinct)
		c.Categories, c.Missing = distinct[:n-2], distinct[n-2:]
		if c.Kind == Boolean {
			c.Categories = distinct[:2]
		}
		switch rapid.IntRange(0, 3).Draw(t, "policy") {
		case 0:
			c.OnInvalid = Clamp
		case 1:
			c.OnInvalid, c.Other = Other, c.Categories[1]
		case 2:
			c.Missing = nil
		}
		if c.OnInvalid == Other && c.Other == "" {
			c.Other = c.Categories[0]
		}
		return c
	})
	return rapid.Custom(func(t *rapid.T) Column {
		c := rapid.OneOf(words, anyNumbers()).Draw(t, "column")
		if name := text.Draw(t, "name"); name != "" {
			c.Name = name
		}
		return c
	})
}

// For every column and code: the value that Decode draws, and its text, encode to the code.
func TestDecodeEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := NewCodec(anyColumn().Draw(t, "column"))
		check(t, err)
		u := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for i := range c.Size() {
			want := uint16(i)
			for range 3 {
				v := c.Decode(want, u)
				text := c.AppendText(nil, v)
				if got, err := c.EncodeText(text); err != nil || got != want {
					t.Fatalf("code %d of %+v is drawn as %+v, written %q, read as %d, %v", want, c.Column(), v,
						text, got, err)
				}
				if got, err := encodeValue(c, v); err != nil || got != want {
					t.Fatalf("code %d of %+v is drawn as %+v, encoded as %d, %v", want, c.Column(), v, got, err)
				}
			}
		}
	})
}

// encodeValue encodes a value by its type, as a Parquet reader does.
func encodeValue(c *Codec, v Value) (uint16, error) {
	if as := c.Column().Kind.Stored(); as != StoredText || v.Missing {
		return c.EncodeValue(as, v)
	}
	return c.EncodeText([]byte(v.Text))
}

// Parse(YAML()) is the identity, for schemas with any texts in them.
func TestIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Schema{Columns: rapid.SliceOfNDistinct(anyColumn(), 1, 5,
			func(c Column) string { return c.Name }).Draw(t, "columns")}
		if rapid.Bool().Draw(t, "has a unit") {
			s.Unit = "the " + s.Columns[0].Name
			s.MaxRowsPerUnit = rapid.IntRange(1, 1000).Draw(t, "limit")
			if s.Index(s.Unit) >= 0 {
				t.Skip("the unit is a column")
			}
		}
		s.CSV = rapid.SampledFrom([]CSV{{}, {Comma: ';'}, {NoHeader: true}, {NoHeader: true, Comma: '\t'},
			{Comma: '#'}, {Comma: '\\'}}).Draw(t, "csv")
		checkIdentity(t, s)
	})
}

// Sampling from a model must give the same bytes on every platform and in every
// later version.
func TestDecodeIsReproducible(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 7))
	var text []byte
	for _, c := range []Column{age, dose, {Kind: Real, Min: 0, Max: 5000, Spacing: Log},
		{Kind: Integer, Min: 0, Max: 99999, Spacing: Log}, day, moment, {Kind: Real, Min: 0,
			Max: 1e300}} {
		codec := mustCodec(t, c)
		for range 3 {
			text = append(codec.AppendText(text, codec.Decode(uint16(u.IntN(codec.Size())), u)), ' ')
		}
	}
	const want = "88 73 34 -0.403 0.782 -0.332 332.41 33.06 312.29 18 2 75888 1970-03-29 1970-04-01 " +
		"1970-01-28 " +
		"1970-01-01T00:00:59Z 1970-01-01T00:01:01Z 1970-01-01T00:00:46Z 6.3639242104532395e+299 " +
		"6.263552770853325e+299 9.693994873466297e+298 "
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestEncodeTextDoesNotAllocate(t *testing.T) {
	tests := map[string]struct {
		c     Column
		cells string
	}{
		"integer":     {optional(age), "17 18.0 2e1 NA 16 99999999999999999999 x"},
		"real":        {optional(dose), "0.25 -1 1e-9 0.12345678901234567890 NA 7 nan"},
		"categorical": {optional(sex), "female 1 NA none"},
		"boolean":     {alive, "true FALSE yes none"},
		"date":        {day, "1970-01-01 2000-01-01 x"},
		"timestamp":   {moment, "1970-01-01T00:00:09.5+00:00 2000-01-01T00:00:00Z x"},
		"format":      {Column{Kind: Date, Format: "02/01/2006", Max: 99}, "01/02/1970"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := mustCodec(t, test.c)
			for _, cell := range strings.Fields(test.cells) {
				cell := []byte(cell)
				if n := testing.AllocsPerRun(100, func() { c.EncodeText(cell) }); n != 0 {
					t.Errorf("%s: %v allocations", cell, n)
				}
			}
		})
	}
}

// FuzzEncodeText: no panic, codes in range, and an error says nothing of the
// cell: it is one of the constant ones.
func FuzzEncodeText(f *testing.F) {
	var codecs []*Codec
	for _, c := range []Column{
		age, dose, sex, alive, died, day, moment,
		clamp(optional(age)), clamp(optional(dose)), clamp(optional(sex)), clamp(optional(day)),
		other(sex, "1"),
		{Kind: Date, Format: "02/01/2006", Min: 0, Max: 99},
		{Kind: Real, Min: 0, Max: 1e6, Spacing: Log},
		{Kind: Integer, Min: -maxWhole, Max: maxWhole, Missing: []string{"-", "1e99"}},
	} {
		codec := stattest.Must(NewCodec(column(c)))
		codecs = append(codecs, codec)
	}
	constant := []error{errCategory, errBoolean, errInteger, errNumber, errDate, errTimestamp,
		errBounds}
	for _, cell := range []string{"", "17", "-0.5", "1e3", "female", "true", "1970-01-01",
		"1970-01-01T00:00:00Z", "01/02/1970", "NA", "Inf", "9999999999999999999", "\xff\x00"} {
		f.Add([]byte(cell))
	}
	f.Fuzz(func(t *testing.T, cell []byte) {
		for i, c := range codecs {
			code, err := c.EncodeText(cell)
			if err == nil {
				if int(code) >= c.Size() {
					t.Fatalf("codec %d: code %d of %d", i, code, c.Size())
				}
				continue
			}
			found := false
			for _, e := range constant {
				found = found || err == e
			}
			if !found || errors.Unwrap(err) != ErrSchema {
				t.Fatalf("codec %d: %v is not one of the constant errors", i, err)
			}
		}
	})
}

// TestLenientNeverFails: no value of any type is an error, and what a strict
// schema takes keeps its code. Which columns a file has is not in its rows.
func TestLenientNeverFails(t *testing.T) {
	columns := []Column{age, dose, sex, alive, died, day, moment}
	for _, c := range columns {
		columns = append(columns, optional(c))
	}
	rapid.Check(t, func(t *rapid.T) {
		c := columns[rapid.IntRange(0, len(columns)-1).Draw(t, "column")]
		c.Name = "x"
		codecs, err := (&Schema{Lenient: true, Columns: []Column{c}}).Codecs()
		check(t, err)
		strict, err := NewCodec(c)
		check(t, err)
		text := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 12), rapid.Map(rapid.Int(),
			func(i int) []byte {
				return strconv.AppendInt(nil, int64(i), 10)
			})).Draw(t, "text")
		whole, number := rapid.Int64().Draw(t, "int"), rapid.Float64().Draw(t, "float")
		for name, encode := range map[string]func(*Codec) (uint16, error){
			"text":    func(c *Codec) (uint16, error) { return c.EncodeText(text) },
			"int":     stored(StoredInt, Value{Int: whole}),
			"float":   stored(StoredFloat, Value{Float: number}),
			"NaN":     stored(StoredFloat, Value{Float: math.NaN()}),
			"bool":    stored(StoredBool, Value{Int: whole & 1}),
			"days":    stored(StoredDays, Value{Int: int64(int32(whole))}),
			"micros":  stored(StoredMicros, Value{Int: whole}),
			"missing": (*Codec).EncodeMissing,
		} {
			want, wantErr := encode(strict)
			got, err := encode(codecs[0])
			if err != nil || int(got) >= strict.Size() || wantErr == nil && got != want {
				t.Errorf("%s: %d, %v; strictly %d, %v", name, got, err, want, wantErr)
			}
		}
		want, wantErr := strict.Absent()
		if got, err := codecs[0].Absent(); got != want || err != wantErr {
			t.Errorf("an absent column: %v, strictly %v", err, wantErr)
		}
	})
}

func TestFits(t *testing.T) {
	column := func(kind Kind, categories ...string) Column {
		c := Column{Name: "a", Kind: kind, Categories: categories}
		if kind.Ordered() {
			c.Max = 9
		}
		return c
	}
	all := []Stored{StoredText, StoredBool, StoredInt, StoredFloat, StoredDays, StoredMicros}
	for _, tt := range []struct {
		column Column
		fit    []Stored
	}{
		{column(Categorical, "yes", "no"), all[:1]},
		{column(Categorical, "true", "2", "2024-05-06"), all[:5]},
		{column(Boolean), all[:4]},
		{column(Boolean, "no", "yes"), all[:2]},
		{column(Integer), []Stored{StoredText, StoredInt, StoredFloat}},
		{column(Date), []Stored{StoredText, StoredDays, StoredMicros}},
	} {
		c := stattest.Must(NewCodec(tt.column))
		for _, as := range all {
			if err := c.Fits(as); (err == nil) != slices.Contains(tt.fit, as) {
				t.Errorf("%v %q, %d: %v", tt.column.Kind, tt.column.Categories, as, err)
			}
		}
	}
}
