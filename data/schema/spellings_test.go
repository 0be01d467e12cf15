package schema

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// spellings are cells of one column each, the format that their classes give, and the value of the
// first of them.
var spellings = []struct {
	cells  []string
	kind   Kind
	format string
	first  float64
}{
	{[]string{"238,10", "7,5", "1204,11"}, Real, "1234,5", 238.1},
	{[]string{"1.238,10", "238,10", "1.000"}, Real, "1.234,5", 1238.1},
	{[]string{"1,238.10", "238.10", "1,000"}, Real, "1,234.5", 1238.1},
	{[]string{"1,238", "238", "12,001"}, Integer, "1,234.5", 1238},
	{[]string{"1.238.000", "238", "12.001"}, Integer, "1.234,5", 1238000},
	{[]string{"4.0", "-17.0"}, Integer, "1234.0", 4},
	{[]string{"238.00", "0.00"}, Integer, "1234.00", 238},
	{[]string{"4.5", "17.0"}, Real, "", 4.5},
	{[]string{"1 238", "7"}, Integer, "1 234.5", 1238},
	{[]string{"1\u00a0238,5", "7,5"}, Real, "1\u00a0234,5", 1238.5},
	{[]string{"1'238", "7"}, Integer, "1'234.5", 1238},
	{[]string{"$1,238.10", "$7.50", "-$3.00"}, Real, "$1,234.5", 1238.1},
	{[]string{"238,10 €", "1.238,10 €"}, Real, "1.234,5 €", 238.1},
	{[]string{"EUR 238", "EUR 7"}, Integer, "EUR 1234.5", 238},
	{[]string{"4.8%", "12.0%"}, Real, "1234.5%", 4.8},
	{[]string{"4,8 %", "12 %"}, Real, "1234,5 %", 4.8},
	{[]string{"70.5 kg", "81 kg"}, Real, "1234.5 kg", 70.5},
	{[]string{"+238.1", "-5.5"}, Real, "+1234.5", 238.1},
	{[]string{"(238.10)", "17.50"}, Real, "(1234.5)", -238.1},
	{[]string{"20 ", "7 "}, Integer, "1234.5 ", 20},
	{[]string{"1.234", "0.5"}, Real, "", 1.234},
	{[]string{"1,234", "0,5", "0,25"}, Real, "1234,5", 1.234},
	{[]string{"25.10.2022 17:03"}, Timestamp, "02.01.2006 15:04", 1666717380e6},
	{[]string{"10/25/2022 05:03 PM"}, Timestamp, "01/02/2006 03:04 PM", 1666717380e6},
	{[]string{"2022-10-25T17:03"}, Timestamp, "2006-01-02T15:04", 1666717380e6},
	{[]string{"2022-10-25 17:03:00.250"}, Timestamp, "2006-01-02 15:04:05.000", 1666717380.25e6},
	{[]string{"20221025170300"}, Timestamp, "20060102150405", 1666717380e6},
	{[]string{"25-OCT-22"}, Date, "02-JAN-06", 19290},
	{[]string{"25OCT2022"}, Date, "02JAN2006", 19290},
	{[]string{"October 25, 2022", "May 3, 2022"}, Date, "January 2, 2006", 19290},
	{[]string{"25 Oct 2022"}, Date, "02 Jan 2006", 19290},
	{[]string{"25/10/22"}, Date, "02/01/06", 19290},
	{[]string{"10/25/22"}, Date, "01/02/06", 19290},
	{[]string{"2022/10/25"}, Date, "2006/01/02", 19290},
	{[]string{"20221025"}, Date, "20060102", 19290},
	{[]string{"17:03"}, Time, "", 17*60 + 3},
	{[]string{"05:03 PM"}, Time, "03:04 PM", 17*60 + 3},
	{[]string{"17:03:20"}, Time, "15:04:05", (17*60+3)*60 + 20},
	{[]string{"2:20:00"}, Duration, "", 8400},
	{[]string{"172:20:00"}, Duration, "", 620400},
	{[]string{"2022-W43"}, Period, "YYYY-Www", 2756},
	{[]string{"2021-W53", "2020-W53"}, 0, "", 0}, // the first is no week
	{[]string{"2022-Q3"}, Period, "YYYY-Qq", 210},
	{[]string{"2022-10"}, Period, "", 633},
	{[]string{"1,5,0"}, 0, "", 0},
	{[]string{"12,34.5"}, 0, "", 0},
	{[]string{"5 stones"}, 0, "", 0},
	{[]string{"2022-13-25 17:03"}, 0, "", 0},
	{[]string{"25:03", "2:20", "17:03"}, Duration, "h:mm", 25*60 + 3},
	{[]string{"7:05", "17:03"}, Time, "H:04", 7*60 + 5},
	{[]string{"5:03 pm", "11:20 am"}, Time, "3:04 pm", 17*60 + 3},
	{[]string{"17h03"}, Time, "15h04", 17*60 + 3},
	{[]string{"12,50€", "1.238€"}, Real, "1.234,5€", 12.5},
	{[]string{"CHF 1'238.50", "CHF 7.25"}, Real, "CHF 1'234.5", 1238.5},
	{[]string{"5\u00a0%", "4,8\u00a0%"}, Real, "1234,5 %", 5},
	{[]string{"+5", "-7"}, Integer, "+1234.5", 5},
	{[]string{"+491701234567"}, 0, "", 0},
	{[]string{"3/1/2022 7:05", "12/25/2022 17:03"}, Timestamp, "1/2/2006 H:04", 1646118300e6},
	{[]string{"10/25/2022 5:03 PM", "3/25/2022 5:03 PM"}, Timestamp, "1/2/2006 3:04 PM", 1666717380e6},
	{[]string{"25.10.2022, 17:03"}, Timestamp, "02.01.2006, 15:04", 1666717380e6},
	{[]string{"25.10.2022", "3.4.2022"}, Date, "2.1.2006", 19290},
	{[]string{"10-25-2022"}, Date, "01-02-2006", 19290},
	{[]string{"13/1/2006", "1/2/2006"}, Date, "2/1/2006", 13161},
	{[]string{"2022-10-25T17:03:00+02:00", "2022-11-25T17:03:00+02:00"}, Timestamp,
		"2006-01-02T15:04:05-07:00 [+02:00]", 1666710180e6},
	{[]string{"2022-10-25 17:03:00+02"}, Timestamp, "2006-01-02 15:04:05-07 [+02:00]", 1666710180e6},
	{[]string{"2022-10-25T17:03:00+0200"}, Timestamp, "2006-01-02T15:04:05-0700 [+02:00]",
		1666710180e6},
	{[]string{"2022-10-25T17:03:00Z", "2022-10-25T17:03:00+02:00"}, Timestamp, "", 1666717380e6},
	{[]string{"25. Oktober 2022", "3. August 2022"}, Date, "2. January 2006 [de]", 19290},
	{[]string{"25-OKT-22", "03-AUG-22"}, Date, "02-JAN-06 [de]", 19290},
	{[]string{"25 octobre 2022 17:03", "3 mai 2022 07:00"}, Timestamp,
		"2 January 2006 15:04 [fr]", 1666717380e6},
	{[]string{"25 de octubre de 2022"}, Date, "2 de January de 2006 [es]", 19290},
	{[]string{"25 października 2022", "3 maja 2022"}, Date, "2 January 2006 [pl]", 19290},
	{[]string{"25 октября 2022", "3 мая 2022"}, Date, "2 January 2006 [ru]", 19290},
	{[]string{"25-oct-2022", "03-may-2022"}, Date, "02-Jan-2006 [lower]", 19290},
	{[]string{"11 мар 2022", "04 ноя 2022"}, Date, "02 Jan 2006 [ru]", 19062},
	{[]string{"März 2022", "Mai 2022"}, Period, "January 2006 [de]", 626},
	{[]string{"2022-10-25T17:03:00.250Z"}, Timestamp, "2006-01-02T15:04:05.000Z07:00",
		1666717380.25e6},
	{[]string{"2022-10-25 17:03:00 UTC"}, Timestamp, "2006-01-02 15:04:05 UTC", 1666717380e6},
	{[]string{"20221025T170300Z"}, Timestamp, "20060102T150405Z", 1666717380e6},
	{[]string{"20221025 17:03"}, Timestamp, "20060102 15:04", 1666717380e6},
	{[]string{"202210251703"}, Timestamp, "200601021504", 1666717380e6},
	{[]string{"Tue 25 Oct 2022"}, Date, "Mon 02 Jan 2006", 19290},
	{[]string{"5.00-", "7.25"}, Real, "1234.5-", -5},
	{[]string{"22 years", "31 years"}, Integer, "1234.5 years", 22},
	{[]string{"#17"}, Integer, "#1234.5", 17},
	{[]string{"202210", "199912"}, Period, "200601", 633},
	{[]string{"221025", "220103"}, Date, "060102", 19290},
}

// TestSpellings: cells have the kind and the format of people who write so, and what is drawn is
// written in that format and read back.
func TestSpellings(t *testing.T) {
	for _, s := range spellings {
		rows := map[Class]float64{}
		for _, cell := range s.cells {
			rows[Classify([]byte(cell))]++
		}
		d := draft{seen: make([]bool, Classes())}
		for c := range rows {
			d.seen[c] = true
		}
		kind, format := Kind(0), ""
		if f, written := d.family(); f != nil && f.Kind.Ordered() {
			kind, format = f.Kind, written
		}
		if kind.Numeric() {
			kind = Integer
			for c := range rows {
				if Numbers(rows).Digits(c) > 0 {
					kind = Real
				}
			}
		}
		if kind != s.kind || format != s.format {
			t.Errorf("%q: %v in %q, want %v in %q", s.cells, kind, format, s.kind, s.format)
			continue
		}
		if kind == 0 {
			continue
		}
		f := kind.facts()
		if format == "" {
			format = f.format
		}
		n := f.notation(format)
		for i, cell := range s.cells {
			x, ok := n.parse([]byte(cell))
			if !ok || i == 0 && x != s.first {
				t.Errorf("%q is read as %v, %v, want %v", cell, x, ok, s.first)
			}
		}
		least := min(0, s.first)
		codec := stattest.Must(NewCodec(Column{Name: "x", Kind: kind, Format: s.format, Min: least,
			Max: max(s.first, 1), Bins: 1}))
		r := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			v := codec.Decode(0, r)
			cell := codec.AppendText(nil, v)
			if x, ok := n.parse(cell); !ok || x != v.Float+float64(v.Int) && kind != Real {
				t.Errorf("%q of %v is read as %v, %v", cell, v, x, ok)
			}
			if Classify(cell).Looks().Kind == Categorical && cell[0] != '+' {
				t.Errorf("%q is a text", cell)
			}
		}
	}
}

// TestFormatsComeBack: a schema that was bought or drafted names every format in its file, and the
// file is read as it was written.
func TestFormatsComeBack(t *testing.T) {
	formats := map[Written]bool{{Kind: Date, Format: "02.01.2006 or 2006-01-02"}: true,
		{Timestamp, "2006-01-02 15:04:05 [15m]"}: true, {Time, "15:04 [5m]"}: true,
		{Timestamp, "2006-01-02T15:04:05-07:00 [+02:00 1m]"}: true}
	for _, f := range forms() {
		if f.kind.Ordered() && f.format != "" {
			formats[Written{f.kind, f.format}] = true
		}
	}
	for w := range formats {
		c := Column{Name: "x", Kind: w.Kind, Format: w.Format, Min: 0, Max: 100, Bins: 4}
		if step := c.Step(); step > 0 {
			c.Max *= step
		}
		s := &Schema{Columns: []Column{c}}
		text := stattest.Must(s.YAML())
		again, err := Parse(text)
		if err != nil || again.Columns[0].Format != w.Format || again.Columns[0].Max != c.Max {
			t.Errorf("%v in %q: %v in\n%s", w.Kind, w.Format, err, text)
		}
	}
	for pattern, want := range map[string]string{"DD MMM YYYY [de]": "02 Jan 2006 [de]",
		"D. MMMM YYYY": "2. January 2006", "h:mm": "h:mm", "D/M/YYYY h:mm": "2/1/2006 H:04",
		"DD.MM.YYYY or YYYY-MM-DD": "02.01.2006 or 2006-01-02", "00000": "00000",
		"YYYY-MM-DD hh:mm [15m]": "2006-01-02 15:04 [15m]", "1234.5%": "1234.5%",
		"DD MMM YYYY [xx]": "", "DD.MM.YYYY or QQ": "", "D de MMMM de YYYY": "2 de January de 2006"} {
		if got, ok := goLayout(pattern); got != want && ok || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", pattern, got, ok, want)
		}
	}
}

// TestGrids: the steps of a question are a partition of the values, and the format of a step has
// values on its grid alone, whose bounds it writes.
func TestGrids(t *testing.T) {
	for _, tt := range []struct {
		kind         Kind
		format, cell string
		want         string // the format of the step
	}{
		{Timestamp, "", "2022-10-25T17:00:00Z", "2006-01-02T15:04:05Z07:00 [1h]"},
		{Timestamp, "", "2022-10-25T17:03:00Z", "2006-01-02T15:04:05Z07:00 [1m]"},
		{Timestamp, "02.01.2006 15:04", "25.10.2022 17:45", "02.01.2006 15:04 [15m]"},
		{Timestamp, "02.01.2006 15:04", "25.10.2022 17:46", ""},
		{Timestamp, "2006-01-02 15:04:05.000", "2022-10-25 17:03:20.500", ""},
		{Timestamp, "2006-01-02 15:04:05.000", "2022-10-25 17:03:20.000",
			"2006-01-02 15:04:05.000 [1s]"},
		{Time, "", "07:30", "15:04 [30m]"}, {Time, "15:04:05", "07:35:00", "15:04:05 [5m]"},
		{Time, "H:04", "7:31", ""}, {Date, "", "2022-10-25", ""}, {Integer, "", "15", ""},
	} {
		m := Magnitudes{Kind: tt.kind, Format: tt.format, Steps: tt.kind.Grids(tt.format)}
		if m.Steps == nil {
			if tt.want != "" {
				t.Errorf("%v has no grids", tt.kind)
			}
			continue
		}
		at, ok := m.Of([]byte(tt.cell))
		got := ""
		if at < len(m.Steps) {
			got = tt.kind.OnGrid(tt.format, m.Steps[at])
		}
		if !ok || got != tt.want || m.Len() != len(m.Steps)+1 {
			t.Errorf("%s: cell %d, %v, %q, want %q", tt.cell, at, ok, got, tt.want)
		}
		if got == "" {
			continue
		}
		c := Column{Name: "x", Kind: tt.kind, Format: got, Max: 40 * m.Steps[at], Bins: 4}
		if c.Step() != m.Steps[at] {
			t.Errorf("%q has the step %v", got, c.Step())
		}
		codec, r := stattest.Must(NewCodec(c)), rand.New(rand.NewPCG(1, 2))
		for range 50 {
			text := codec.AppendText(nil, codec.Decode(uint16(r.IntN(4)), r))
			if same, ok := m.Of(text); !ok || same > at {
				t.Errorf("%q writes %s", got, text)
			}
		}
	}
}

// TestMixedForms: cells of another currency are not read as those of most, and a draft has a column
// of days and of instants, and of days in two orders that cannot be told apart, as texts.
func TestMixedForms(t *testing.T) {
	rows := map[Class]float64{}
	for _, cell := range []string{"$5.00", "$7.25", "5.00", "€5.00"} {
		rows[Classify([]byte(cell))]++
	}
	n := Numbers(rows)
	for cell, want := range map[string]int{"$7.25": 2, "7.25": 2, "€7.25": -1, "7 kg": -1} {
		if got := n.Digits(Classify([]byte(cell))); n.Format != "$1234.5" || got != want {
			t.Errorf("%q in %q: %d digits, want %d", cell, n.Format, got, want)
		}
	}
	for cells, want := range map[string]Written{
		"05/04/2006|06/07/2006": {Kind: Categorical}, "2022-10-25|25.10.2022": {Kind: Categorical},
		"25/10/2022|05/04/2006": {Date, "02/01/2006"}, "17:03|25:10": {Duration, "h:mm"},
		"20221025|17": {Kind: Integer}, "7:05|12:30": {Time, "H:04"}, "2022-W43": {Period, "YYYY-Www"},
		"$5.00|€5.00": {Kind: Categorical},
	} {
		d := NewDrafter([]string{"x"})
		for _, cell := range strings.Split(cells, "|") {
			d.Add([]string{cell})
		}
		s, err := d.Schema()
		if err != nil || s.Columns[0].Kind != want.Kind || s.Columns[0].Format != want.Format {
			t.Errorf("%s: %+v, %v", cells, s, err)
		}
	}
}
