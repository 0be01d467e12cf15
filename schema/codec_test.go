package schema

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
	codec, err := NewCodec(c)
	check(t, err)
	return codec
}

// A result of an Encode method: a code, or an error if it is not nil.
type result struct {
	code uint16
	err  error
}

func (r result) check(t *testing.T, what string, code uint16, err error) {
	t.Helper()
	if err != r.err || err == nil && code != r.code {
		t.Errorf("%s: got %d, %v, want %d, %v", what, code, err, r.code, r.err)
	}
	if err != nil && !errors.Is(err, ErrSchema) {
		t.Errorf("%s: %v does not wrap ErrSchema", what, err)
	}
}

func code(c uint16) result     { return result{code: c} }
func failed(err error) result  { return result{err: err} }
func named(s string) []string  { return strings.Fields(s) }
func micros(days int64) int64  { return days * microsPerDay }
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

func TestEncodeText(t *testing.T) {
	tests := []struct {
		name  string
		c     Column
		cells map[string]result
	}{
		{"integer", age, map[string]result{
			"17": code(0), "90": code(73), "18.0": code(1), "+20": code(3), "2e1": code(3), "017": code(0),
			"17.": code(0),
			"16":  failed(errBounds), "91": failed(errBounds), "-17": failed(errBounds),
			"1e400":                failed(errBounds),
			"99999999999999999999": failed(errBounds),
			"17.5":                 failed(errInteger), "2.05e1": failed(errInteger),
			"": failed(errInteger), " 17": failed(errInteger), "17 ": failed(errInteger),
			"NaN": failed(errInteger), "Inf": failed(errInteger), "0x11": failed(errInteger),
			"1_7": failed(errInteger), "seventeen": failed(errInteger),
		}},
		{"clamped integer", clamp(age), map[string]result{
			"16": code(0), "91": code(73), "-1e400": code(0), "1e400": code(73), "17.4": code(0),
			"17.5": code(1), "95.5": code(73),
			"": failed(errInteger), "NaN": failed(errInteger), "Inf": failed(errInteger),
		}},
		{"optional integer", optional(age), map[string]result{
			"": code(74), "NA": code(74), "17": code(0), "na": failed(errInteger), "16": failed(errBounds),
		}},
		{"clamped optional integer", clamp(optional(age)), map[string]result{
			"": code(74), "seventeen": code(74), "Inf": code(74), "16": code(0),
		}},
		{"numbers that mean missing", Column{Kind: Integer, Min: 0, Max: 9, Missing: []string{"-9", "1.5",
			"99"}}, map[string]result{
			"-9": code(10), "-9.0": code(10), "1.5": code(10), "99": code(10), "9.9e1": code(10),
			"98": failed(errBounds), "2.5": failed(errInteger),
		}},
		{"real", dose, map[string]result{
			"-1": code(0), "-0.5": code(1), "-0.50000000000000001": code(1), "-0": code(2),
			"0.4999999": code(2), ".5": code(3), "1": code(3), "1e-9": code(2),
			"1.0000001": failed(errBounds), "": failed(errNumber), "nan": failed(errNumber),
			"-Inf": failed(errNumber), "1,0": failed(errNumber),
		}},
		{"clamped real", clamp(dose), map[string]result{"7": code(3), "-7": code(0),
			"x": failed(errNumber)}},
		{"categorical", sex, map[string]result{
			"female": code(0), "male": code(1), "1": code(2),
			"Male": failed(errCategory), " male": failed(errCategory), "": failed(errCategory),
			"1.0": failed(errCategory),
		}},
		{"clamped categorical", clamp(optional(sex)), map[string]result{"x": code(3), "": code(3),
			"male": code(1)}},
		{"categorical with other", other(sex, "male"), map[string]result{"x": code(1), "": code(1),
			"female": code(0)}},
		{"optional categorical with other", other(optional(sex), "male"), map[string]result{"x": code(1),
			"": code(3)}},
		{"boolean", alive, map[string]result{
			"false": code(0), "true": code(1), "FALSE": code(0), "True": code(1), "t": code(1),
			"F": code(0), "yes": code(1), "No": code(0), "1": code(1), "0": code(0),
			"": failed(errBoolean), "2": failed(errBoolean), "on": failed(errBoolean),
			"1.0": failed(errBoolean), "true ": failed(errBoolean), "falsehood": failed(errBoolean),
		}},
		{"declared boolean", died, map[string]result{"No": code(0), "Yes": code(1),
			"no": failed(errBoolean), "true": failed(errBoolean), "1": failed(errBoolean)}},
		{"boolean with other", other(died, "No"), map[string]result{"no": code(0), "Yes": code(1)}},
		{"date", day, map[string]result{
			"1970-01-01": code(0), "1970-01-10": code(0), "1970-01-11": code(1), "1970-04-10": code(9),
			"1969-12-31": failed(errBounds), "1970-04-11": failed(errBounds), "1970-02-29": failed(errDate),
			"": failed(errDate), "01/01/1970": failed(errDate),
		}},
		{"clamped date", clamp(day), map[string]result{"1900-01-01": code(0), "2000-01-01": code(9),
			"soon": failed(errDate)}},
		{"date in a format", Column{Kind: Date, Format: "02/01/2006", Min: 0, Max: 99, Bins: 10,
			Missing: []string{"31/12/9999"}}, map[string]result{
			"11/01/1970": code(1), "31/12/9999": code(10), "1970-01-11": failed(errDate),
			"30/02/1970": failed(errDate), "31/12/9998": failed(errBounds),
			strings.Repeat("1", 1000): failed(errDate),
		}},
		{"date in a format with a time", Column{Kind: Date, Format: "2006-01-02T15:04:05Z07:00", Min: 0,
			Max: 99, Bins: 10}, map[string]result{
			"1970-01-11T23:59:59Z": code(1), "1970-01-11T23:59:59-12:00": code(1),
		}},
		{"timestamp", moment, map[string]result{
			"1970-01-01T00:00:00Z": code(0), "1970-01-01 00:00:09.999999": code(0),
			"1970-01-01T01:00:10+01:00": code(1), "1970-01-01T00:01:39": code(9),
			"1970-01-01T00:01:40Z": failed(errBounds), "1970-01-01": failed(errTimestamp),
			"": failed(errTimestamp),
		}},
		{"timestamp in a format", Column{Kind: Timestamp, Format: "2006-01-02 15:04", Min: 0, Max: 60e6},
			map[string]result{
				"1970-01-01 00:00": code(0), "1970-01-01 00:01": code(1),
				"1970-01-01 00:02": failed(errBounds), "1970-01-01T00:01:00Z": failed(errTimestamp),
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := mustCodec(t, test.c)
			for cell, want := range test.cells {
				got, err := c.EncodeText([]byte(cell))
				want.check(t, cell, got, err)
			}
		})
	}
}

// stored encodes a value that is not a text.
func stored(as Stored, v Value) func(*Codec) (uint16, error) {
	return func(c *Codec) (uint16, error) { return c.EncodeValue(as, v) }
}

func TestEncodeTyped(t *testing.T) {
	const far = math.MaxInt64
	tests := []struct {
		name   string
		c      Column
		encode func(*Codec) (uint16, error)
		want   result
	}{
		{"int as integer", age, stored(StoredInt, Value{Int: 18}), code(1)},
		{"far int as integer", age, stored(StoredInt, Value{Int: far}),
			failed(errBounds)},
		{"far int, clamped", clamp(age), stored(StoredInt, Value{Int: -far}),
			code(0)},
		{"int just beyond", Column{Kind: Integer, Min: 0, Max: maxWhole}, func(c *Codec) (uint16,
			error) {
			return c.EncodeValue(StoredInt, Value{Int: maxWhole + 1})
		}, failed(errBounds)},
		{"int as real", dose, stored(StoredInt, Value{Int: -1}), code(0)},
		{"int as category", sex, stored(StoredInt, Value{Int: 1}), code(2)},
		{"int as no category", sex, stored(StoredInt, Value{Int: 2}),
			failed(errCategory)},
		{"int as boolean", alive, stored(StoredInt, Value{Int: 1}), code(1)},
		{"int as no boolean", alive, stored(StoredInt, Value{Int: 2}),
			failed(errBoolean)},
		{"int as date", clamp(day), stored(StoredInt, Value{Int: 1}),
			failed(errType)},
		{"int as timestamp", moment, stored(StoredInt, Value{Int: 1}),
			failed(errType)},
		{"int that means missing", Column{Kind: Integer, Min: 0, Max: 9, Missing: []string{"-9"}},
			stored(StoredInt, Value{Int: -9}), code(10)},
		{"float as integer", age, stored(StoredFloat, Value{Float: 18}), code(1)},
		{"fraction as integer", age, stored(StoredFloat, Value{Float: 18.5}),
			failed(errInteger)},
		{"fraction, clamped", clamp(age), stored(StoredFloat, Value{Float: 18.4}),
			code(1)},
		{"float as real", dose, stored(StoredFloat, Value{Float: 0.75}), code(3)},
		{"NaN", dose, stored(StoredFloat, Value{Float: math.NaN()}),
			failed(errMissing)},
		{"NaN as missing", optional(dose), stored(StoredFloat, Value{Float: math.NaN()}), code(4)},
		{"NaN as category", optional(sex), stored(StoredFloat, Value{Float: math.NaN()}), code(3)},
		{"NaN as date", optional(day), stored(StoredFloat, Value{Float: math.NaN()}), failed(errType)},
		{"Inf", dose, stored(StoredFloat, Value{Float: math.Inf(1)}),
			failed(errNumber)},
		{"Inf, clamped", clamp(optional(dose)), stored(StoredFloat, Value{Float: math.Inf(1)}), code(4)},
		{"float as category", sex, stored(StoredFloat, Value{Float: 1}), code(2)},
		{"float as boolean", alive, stored(StoredFloat, Value{Float: 0}), code(0)},
		{"bool", died, stored(StoredBool, Value{Int: 1}), code(1)},
		{"bool, false", died, stored(StoredBool, Value{Int: 0}), code(0)},
		{"bool as category", Column{Kind: Categorical, Categories: named("false true")},
			stored(StoredBool, Value{Int: 1}), code(1)},
		{"bool as integer", clamp(age), stored(StoredBool, Value{Int: 1}),
			failed(errType)},
		{"days", day, stored(StoredDays, Value{Int: 10}), code(1)},
		{"days, far", day, stored(StoredDays, Value{Int: math.MaxInt32}),
			failed(errBounds)},
		{"days, clamped", clamp(day), stored(StoredDays, Value{Int: -1}),
			code(0)},
		{"days as timestamp", moment, stored(StoredDays, Value{Int: 0}), code(0)},
		{"days as integer", age, stored(StoredDays, Value{Int: 20}),
			failed(errType)},
		{"micros", moment, stored(StoredMicros, Value{Int: 10_000_000}), code(1)},
		{"micros, far", moment, stored(StoredMicros, Value{Int: far}),
			failed(errBounds)},
		{"micros as date", day, stored(StoredMicros, Value{Int: micros(11) - 1}),
			code(1)},
		{"micros before 1970 as date", day, stored(StoredMicros, Value{Int: -1}),
			failed(errBounds)},
		{"micros as integer", age, stored(StoredMicros, Value{Int: 20}),
			failed(errType)},
		{"null", optional(age), (*Codec).EncodeMissing, code(74)},
		{"null, refused", age, (*Codec).EncodeMissing, failed(errMissing)},
		{"null, clamped", clamp(age), (*Codec).EncodeMissing, failed(errMissing)},
		{"null to other", other(sex, "male"), (*Codec).EncodeMissing, code(1)},
		{"absent", optional(age), (*Codec).Absent, failed(errAbsent)},
		{"absent, clamped", clamp(optional(age)), (*Codec).Absent, code(74)},
		{"absent, clamped, never missing", clamp(age), (*Codec).Absent, failed(errAbsent)},
		{"absent to other", other(sex, "male"), (*Codec).Absent, code(1)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.encode(mustCodec(t, test.c))
			test.want.check(t, test.name, got, err)
		})
	}
}

func TestLabel(t *testing.T) {
	tests := []struct {
		name string
		c    Column
		want []string
	}{
		{"single values", optional(Column{Kind: Integer, Min: -1, Max: 1}), []string{"-1", "0", "1",
			"(missing)"}},
		{"integers", Column{Kind: Integer, Min: 17, Max: 90, Bins: 4}, []string{"[17, 35)", "[35, 54)",
			"[54, 72)", "[72, 90]"}},
		{"reals", dose, []string{"[-1, -0.5)", "[-0.5, 0)", "[0, 0.5)", "[0.5, 1]"}},
		{"tiny reals", Column{Kind: Real, Min: 0, Max: 1e-9, Bins: 1}, []string{"[0, 1e-09]"}},
		{"categories", sex, []string{"female", "male", "1"}},
		{"booleans", optional(alive), []string{"false", "true", "(missing)"}},
		{"dates", Column{Kind: Date, Format: "02.01.2006", Min: 0, Max: 30, Bins: 2},
			[]string{"[01.01.1970, 16.01.1970)", "[16.01.1970, 31.01.1970]"}},
		{"timestamps", Column{Kind: Timestamp, Min: 0, Max: 2e6, Bins: 2},
			[]string{"[1970-01-01T00:00:00Z, 1970-01-01T00:00:01Z)",
				"[1970-01-01T00:00:01Z, 1970-01-01T00:00:02Z]"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := mustCodec(t, test.c)
			var got []string
			for i := range c.Size() {
				got = append(got, c.Label(uint16(i)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBin(t *testing.T) {
	c := mustCodec(t, optional(Column{Kind: Integer, Min: 17, Max: 90, Bins: 4}))
	if lo, hi := c.Bin(1); lo != 35 || hi != 53 {
		t.Errorf("got %v to %v", lo, hi)
	}
	if lo, hi := c.Bin(3); lo != 72 || hi != 90 {
		t.Errorf("got %v to %v", lo, hi)
	}
	c = mustCodec(t, dose)
	if lo, hi := c.Bin(1); lo != -0.5 || hi != 0 {
		t.Errorf("got %v to %v", lo, hi)
	}
}

func TestPanics(t *testing.T) {
	tests := map[string]func(){
		"bin of missing":       func() { mustCodec(t, optional(dose)).Bin(4) },
		"bin of a category":    func() { mustCodec(t, sex).Bin(0) },
		"decode beyond Size":   func() { mustCodec(t, sex).Decode(3, nil) },
		"label beyond Size":    func() { mustCodec(t, dose).Label(4) },
		"boolean that is none": func() { mustCodec(t, alive).AppendText(nil, Value{Int: 2}) },
	}
	for name, f := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestMissingValue(t *testing.T) {
	c := mustCodec(t, optional(age))
	if got, ok := c.MissingCode(); got != 74 || !ok {
		t.Errorf("MissingCode: %d, %v", got, ok)
	}
	if v := c.Decode(74, nil); !v.Missing {
		t.Errorf("got %+v", v)
	}
	c = mustCodec(t, Column{Kind: Boolean, Missing: []string{"?", ""}})
	if got := string(c.AppendText([]byte("a,"), Value{Missing: true})); got != "a,?" {
		t.Errorf("missing is written %q", got)
	}
	if _, ok := mustCodec(t, age).MissingCode(); ok {
		t.Error("a column without tokens has a missing code")
	}
}

// The codec keeps its own copy of the column.
func TestCodecIsImmutable(t *testing.T) {
	categories := named("a b")
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
	switch {
	case v.Missing:
		return c.EncodeMissing()
	case c.Column().Kind == Categorical:
		return c.EncodeText([]byte(v.Text))
	case c.Column().Kind == Integer:
		return c.EncodeValue(StoredInt, Value{Int: v.Int})
	case c.Column().Kind == Real:
		return c.EncodeValue(StoredFloat, Value{Float: v.Float})
	case c.Column().Kind == Boolean:
		return c.EncodeValue(StoredBool, Value{Int: v.Int})
	case c.Column().Kind == Date:
		return c.EncodeValue(StoredDays, Value{Int: int64(int32(v.Int))})
	}
	return c.EncodeValue(StoredMicros, Value{Int: v.Int})
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
		codec, err := NewCodec(column(c))
		if err != nil {
			f.Fatal(err)
		}
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

// BenchmarkEncodeText reads one column of each kind, evenly over its codes. The
// bytes are those of the cells and a comma each.
func BenchmarkEncodeText(b *testing.B) {
	columns := map[string]Column{
		"integer": optional(age),
		"wide":    {Kind: Integer, Min: 0, Max: 1_500_000},
		"log":     {Kind: Integer, Min: 0, Max: 99_999, Spacing: Log},
		"real":    optional(Column{Kind: Real, Min: 30, Max: 45, Decimals: 1}),
		"categorical": optional(Column{Kind: Categorical, Categories: strings.Split(
			"Private,Self-emp-not-inc,Self-emp-inc,Federal-gov,Local-gov,State-gov,Without-pay,Never-worked",
			",")}),
		"boolean":   {Kind: Boolean},
		"date":      {Kind: Date, Min: 0, Max: 20_000},
		"timestamp": {Kind: Timestamp, Min: 0, Max: 1e15},
	}
	for name, column := range columns {
		b.Run(name, func(b *testing.B) {
			c := mustCodec(b, column)
			u := rand.New(rand.NewPCG(1, 2))
			cells := make([][]byte, 4096)
			bytes := 0
			for i := range cells {
				cells[i] = c.AppendText(nil, c.Decode(uint16(u.IntN(c.Size())), u))
				bytes += len(cells[i]) + 1 // and the comma
			}
			b.SetBytes(int64(bytes))
			b.ReportAllocs()
			for b.Loop() {
				for _, cell := range cells {
					if _, err := c.EncodeText(cell); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/cell")
		})
	}
}

// lenientCodec is the codec of a column of a lenient schema.
func lenientCodec(t testing.TB, c Column) *Codec {
	t.Helper()
	codecs, err := (&Schema{Lenient: true, Columns: []Column{column(c)}}).Codecs()
	check(t, err)
	return codecs[0]
}

// TestLenient: what a strict schema refuses has a code, all else the same one.
func TestLenient(t *testing.T) {
	for _, tt := range []struct {
		name               string
		column             Column
		cell               string
		code, rest, unread uint16 // of the cell, of a number that is none, of a row that cannot be read
	}{
		{"missing", optional(age), "91", 74, 74, 74},
		{"fraction", optional(age), "17.5", 74, 74, 74},
		{"bounds", age, "91", 73, 0, 0},
		{"rounded", age, "17.5", 1, 0, 0},
		{"clamped", clamp(optional(age)), "91", 73, 74, 74},
		{"real", dose, "-7", 0, 0, 0},
		{"category", sex, "x", 0, 0, 0},
		{"optional category", optional(sex), "x", 3, 3, 3},
		{"other", other(sex, "male"), "x", 1, 1, 1},
		{"optional other", other(optional(sex), "male"), "x", 1, 1, 3},
		{"boolean", alive, "x", 0, 0, 0},
		{"day", day, "3000-01-01", 9, 0, 0},
	} {
		c := lenientCodec(t, tt.column)
		got, err := c.EncodeText([]byte(tt.cell))
		code(tt.code).check(t, tt.name, got, err)
		got, err = c.EncodeText([]byte("\xff no number"))
		code(tt.rest).check(t, tt.name+": no value", got, err)
		if got := c.Unreadable(); got != tt.unread {
			t.Errorf("%s: unreadable is %d, not %d", tt.name, got, tt.unread)
		}
	}
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
