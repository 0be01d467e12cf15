package schema

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestClassify(t *testing.T) {
	for class, cells := range map[string]string{
		"": "", "?": "?", "NA": "NA", ".": ".",
		"whole": "0|-17|4.000|9007199254740991|1.", "whole.0": "4.0|-17.0|0.0",
		"whole.00": "4.00|-0.00", "0.1": "0.5|1.50|1.5", "0.12": "1.25",
		"0.123456": "-.123456", "real": "9007199254740993|1.1234567|1e3",
		"number 1234,5 1": "1,5|-1,50", "number 1234,5 3": "0,125|-0,125", "000": "007",
		"007":  "008.45|+491701234",
		"V45":  "V45|E885.9|I21.4|1e400|0x10|12-B|7/a",
		"text": "-1,|90+|A10BA02A10BA0|Inf|t|1.1.|1/1/|\xff|-|Ann Lee",
		"digits with marks between them, such as 129/87": "1,5,0|01,5|2023-02-29|29/02/2023|" +
			"12.31.2006|31/12-2006|31.4.2006|1.13.06|1.1.20061|1.111.2006|1/1.2006|00/01/2006|" +
			"01/01/0000|129/87|10.0.20.212|47.02,8.02",
		"free text of many words": "she came in with a cough", "e-mail addresses": "a.b@c.org",
		"long identifiers": "c1f6a1f0-7b1e-4d0c-9a2e-0f6f6b7d8e9a",
		"boolean":          "true|FALSE", "2006-01-02": "2024-02-29",
		"zoned":               "2024-02-29T01:02:03Z|2024-02-29 01:02:03.5",
		"2006-01-02 15:04:05": "2024-02-29 01:02:03", "2006-01-02T15:04:05": "2024-02-29T01:02:03",
		"date 02/01/2006": "31/12/2006", "date 01/02/2006": "12/31/2006",
		"date 02/01/2006 or 01/02/2006": "05/04/2006", "date 02.01.2006": "31.12.2006",
		"date 02-01-2006": "31-12-2006", "date 2/1/2006": "13/1/2006", "date 1/2/2006": "1/13/2006",
		"date 2/1/2006 or 1/2/2006": "1/12/2006", "date 2.1.2006": "1.11.2006",
		"date 2-1-2006 or 1-2-2006": "11-1-2006", "00000": "00260", "00": "07",
	} {
		for _, cell := range strings.Split(cells, "|") {
			if got := Classify([]byte(cell)); got != ClassNamed(class) {
				t.Errorf("%q has class %s, want %s", cell, forms()[got].name, class)
			}
		}
	}
	if x := Class(2).Looks(); x.Token != "NA" || x.Kind != 0 {
		t.Error("class 2 is not NA")
	}
	if x := ClassNamed("whole").Looks(); x.Kind != Integer || x.Token != "" {
		t.Error("a number is missing")
	}
}

// FuzzClassify: every cell has one class and, where it is a value of a kind, one magnitude whose
// bounds hold it.
func FuzzClassify(f *testing.F) {
	for _, cell := range []string{"", "17", "-0", "1e-300", "-4.5", "1e18", "1e300", "0001-01-01",
		"9999-12-31", "1999-12-31 23:59:59", "2000-01-01T00:00:00+14:00"} {
		f.Add([]byte(cell))
	}
	f.Fuzz(func(t *testing.T, cell []byte) {
		if int(Classify(cell)) >= Classes() {
			t.Fatal("no class")
		}
		for _, k := range []Kind{Categorical, Integer, Real, Boolean, Date, Timestamp} {
			for _, perPower := range []int{1, 2, 4, 8} {
				m := Magnitudes{Kind: k, PerPower: perPower}
				at, ok := m.Of(cell)
				if !ok {
					continue
				}
				if at < 0 || at >= m.Len() {
					t.Fatalf("%v: cell %d of %d", m, at, m.Len())
				}
				if k != Real || at == 0 || at == m.Len()-1 {
					continue
				}
				x, _ := parseNumber(cell)
				if lo, hi := m.Bounds(at); x < lo || x > hi {
					t.Fatalf("%v is not in [%v, %v]", x, lo, hi)
				}
			}
		}
	})
}

// TestMagnitudes: cells are in the order of their values, without gaps, and hold what falls into
// them.
func TestMagnitudes(t *testing.T) {
	for _, perPower := range []int{1, 2, 4, 8} {
		m := Magnitudes{Kind: Real, PerPower: perPower}
		last := math.Inf(-1)
		for cell := range m.Len() {
			lo, hi := m.Bounds(cell)
			if cell > 0 && lo != last {
				t.Fatalf("cell %d starts at %v, the one before ends at %v", cell, lo, last)
			}
			last = hi
			for _, x := range []float64{lo, (lo + hi) / 2} {
				if x == lo && x < 0 || x == 0 && lo != hi {
					continue // the closed end of a negative cell is its upper one
				}
				if got, ok := m.Of([]byte(strconv.FormatFloat(x, 'g', -1, 64))); !ok || got != cell {
					t.Fatalf("%v is in cell %d, want %d", x, got, cell)
				}
			}
		}
	}
	whole := Magnitudes{Kind: Integer, PerPower: 8}
	for x := -15; x <= 15; x++ {
		cell, _ := whole.Of([]byte(strconv.Itoa(x)))
		if lo, hi := whole.Bounds(cell); lo != float64(x) || hi != float64(x) {
			t.Errorf("%d has the cell [%v, %v]", x, lo, hi)
		}
	}
	days, c := Magnitudes{Kind: Date}, Column{Kind: Date}
	cell, ok := days.Of([]byte("1999-12-31"))
	if lo, hi := days.Bounds(cell); !ok || c.show(lo) != "1999-01-01" || c.show(hi) != "1999-12-31" {
		t.Errorf("1999-12-31 is in %s to %s", c.show(lo), c.show(hi))
	}
	for _, text := range []string{"0001-01-01", "1799-12-31", "2200-01-01", "9999-12-31"} {
		if _, ok := days.Of([]byte(text)); ok || Classify([]byte(text)) != ClassNamed("2006-01-02") {
			t.Errorf("%s is a date of no cell: %v", text, Classify([]byte(text)))
		}
	}
	moments := Magnitudes{Kind: Timestamp}
	a, _ := moments.Of([]byte("1999-12-31T23:59:59.999Z"))
	b, _ := moments.Of([]byte("2000-01-01T00:00:00Z"))
	if b != a+1 {
		t.Errorf("the year 2000 begins in cell %d after %d", b, a)
	}
	for _, m := range []Magnitudes{{Kind: Categorical, PerPower: 8}, {Kind: Real},
		{Kind: Real, PerPower: 3}, {Kind: Integer, PerPower: -8}} {
		if _, ok := m.Of([]byte("1")); m.Len() != 0 || ok {
			t.Errorf("%v has cells", m)
		}
	}
	stattest.Panics(t, func() { whole.Bounds(whole.Len()) }, "beyond the cells")
}
