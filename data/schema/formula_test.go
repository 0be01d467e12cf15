package schema

import (
	"math/rand/v2"
	"strings"
	"testing"
)

const formulas = `decoy: 1
columns:
  - {name: total, kind: sum, of: [amount, shipping], round: nearest, decimals: 2}
  - {name: amount, kind: product, of: [quantity, price]}
  - {name: quantity, kind: integer, min: 3, max: 3, bins: 1}
  - {name: price, kind: real, min: 2.35, max: 2.354, bins: 1, decimals: 2}
  - {name: shipping, kind: real, min: 4.9, max: 4.904, bins: 1, decimals: 2, missing: [""]}
  - {name: net, kind: difference, of: [total, shipping]}
  - {name: rate, kind: ratio, of: [price, quantity], decimals: 3}
  - {name: whole, kind: copy, of: price, round: nearest}
  - {name: floor, kind: copy, of: price, round: down, decimals: 1}
  - {name: same, kind: copy, of: code}
  - {name: code, kind: categorical, categories: [b, a]}
  - {name: birth, kind: date, min: 1980-02-29, max: 1980-02-29, bins: 1}
  - {name: in, kind: timestamp, format: "2006-01-02 15:04", min: 2024-02-28 10:00,
     max: 2024-02-28 10:00, bins: 1}
  - {name: out, kind: integer, after: in, min: 2190, max: 2190, bins: 1}
  - {name: age, kind: difference, of: [in, birth], in: years, round: down}
  - {name: stay, kind: difference, of: [out, in], in: days, decimals: 1}
  - {name: hours, kind: difference, of: [out, in], in: hours, round: down}
  - {name: days, kind: difference, of: [out, in], in: days}
  - {name: back, kind: difference, of: [in, out], in: minutes}
  - {name: years, kind: difference, of: [in, birth], in: years, decimals: 2}
`

// drawnRow is a row of codes of the schema, by column of its files.
func drawnRow(t *testing.T, s *Schema, codes ...uint16) string {
	t.Helper()
	r, err := s.RowCodec()
	check(t, err)
	values := make([]Value, len(s.Columns)+len(s.Made))
	r.Decode(values, func(c int) uint16 { return codes[c] }, Place{Known: -1},
		rand.New(rand.NewPCG(1, 2)))
	var cells []string
	for _, f := range r.Columns() {
		cells = append(cells, string(r.AppendText(nil, f, values[f.At])))
	}
	return strings.Join(cells, ",")
}

// TestFormulas: what follows from other cells of a row, also from what follows itself. The stay
// is of 1 day, 12 hours and 30 minutes.
func TestFormulas(t *testing.T) {
	s, err := Parse([]byte(formulas))
	check(t, err)
	// quantity, price, shipping, code, birth, in, out
	const rest = "a,a,1980-02-29,2024-02-28 10:00,2024-02-29 22:30,43,1.5,36,2,-2190,44.00"
	for want, codes := range map[string][]uint16{
		"11.95,7.05,3,2.35,4.90,7.05,0.783,2,2.3," + rest: {0, 0, 0, 1, 0, 0, 0},
		",7.05,3,2.35,,,0.783,2,2.3," + rest:              {0, 0, 1, 1, 0, 0, 0},
	} {
		if got := drawnRow(t, s, codes...); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	text, err := s.YAML()
	check(t, err)
	again, err := Parse(text)
	check(t, err)
	if again.Fingerprint() != s.Fingerprint() {
		t.Error("the schema is another when it is read again")
	}
}

// TestCompletedYears: an age changes on the birthday; who is born on 29 February has it on 1 March
// of other years.
func TestCompletedYears(t *testing.T) {
	f := formula{operation: Difference, span: inYears, decimals: wholeDigits,
		units: []float64{microsPerDay, microsPerDay}}
	for _, c := range []struct {
		from, to string
		want     float64
	}{
		{"1980-06-15", "2020-06-14", 39}, {"1980-06-15", "2020-06-15", 40},
		{"1980-02-29", "2021-02-28", 40}, {"1980-02-29", "2021-03-01", 41},
		{"2020-06-15", "2020-06-14", -1},
	} {
		day := func(text string) float64 {
			x, ok := days(dateFormat).parse([]byte(text))
			if !ok {
				t.Fatal(text)
			}
			return x
		}
		if got := f.between(day(c.to), day(c.from)); got != c.want {
			t.Errorf("%s to %s: %v years, want %v", c.from, c.to, got, c.want)
		}
	}
}

// TestMarkedFormulas: a made column has its own marks and digits, or those of the columns that it
// follows from; a sum takes off what is less; categories that are numbers are factors, a missing
// one and one that stands for others have none.
func TestMarkedFormulas(t *testing.T) {
	s, err := Parse([]byte(`decoy: 1
columns:
  - {name: n, kind: integer, min: 3, max: 3}
  - {name: price, kind: categorical, categories: ["$999.99", "$9.5"], missing: [""]}
  - {name: amount, kind: product, of: [n, price]}
  - {name: euros, kind: copy, of: amount, format: "1.234,5 €", decimals: 2}
  - {name: plain, kind: copy, of: amount, format: "1234.5", decimals: 2}
  - {name: off, kind: real, min: -100.5, max: -100.25, bins: 1, decimals: 1, format: "($1,234.5)"}
  - {name: total, kind: sum, of: [amount, n], less: off}
  - {name: net, kind: sum, of: off, less: [amount, n], format: "($1,234.5)"}
  - {name: most, kind: max, of: [n, off], format: 1234.5 kg}
  - {name: days, kind: difference, of: [b, a], in: hours, format: 1234.5 h}
  - {name: a, kind: date, min: 2020-01-01, max: 2020-01-01}
  - {name: b, kind: date, min: 2020-03-01, max: 2020-03-01}
  - {name: digits, kind: copy, of: n, format: "000"}
`))
	check(t, err)
	for want, codes := range map[string][]uint16{
		"3,$999.99,$2999.97,\"2.999,97 €\",2999.97,($100.4),$3103.37,($3,103.37),*": {0, 0, 0, 0, 0},
		"3,$9.5,$28.50,\"28,50 €\",28.50,($100.4),$131.90,($131.90),*":              {0, 1, 0, 0, 0},
		"3,,,,,($100.4),,,*": {0, 2, 0, 0, 0},
	} {
		want = strings.ReplaceAll(strings.ReplaceAll(want, `"`, ""), "*",
			"3.0 kg,1440 h,2020-01-01,2020-03-01,003")
		if got := drawnRow(t, s, codes...); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	text, err := s.YAML()
	check(t, err)
	again, err := Parse(text)
	check(t, err)
	if again.Fingerprint() != s.Fingerprint() || again.Made[3].String() != "total is the sum of "+
		"amount, n, less off" {
		t.Errorf("the schema is another when it is read again: %s", again.Made[3])
	}
	c := s.Clone()
	c.Made[3].Less[0] = "n"
	if s.Made[3].Less[0] != "off" {
		t.Error("a clone shares what it takes off")
	}
}

// TestFactor: categories are numbers if all of them are, none stands for others, and none has zeros
// before it.
func TestFactor(t *testing.T) {
	for text, want := range map[string]string{
		"5 12.50 9.99": "", "1 2 4": "", "$5 $12.50": "$1234.5", "5,50€ 9€": "1234,5€",
		"007 12": "no", "a 5": "no", "2020-01-01 2020-01-02": "no", "true false": "no", "NA 5": "no",
	} {
		c := TextColumn("x", strings.Fields(text)...)
		k, ok := c.Factor()
		if ok != (want != "no") || ok && k.Format != want {
			t.Errorf("%s: %q, %v; want %q", text, k.Format, ok, want)
		}
	}
	c := TextColumn("x", "5", "6")
	c.OnInvalid, c.Other = Other, "6"
	if _, ok := c.Factor(); ok {
		t.Error("a category that stands for others is a number")
	}
}
