package schema

import (
	"strings"
	"testing"
	"time"
)

func TestDateCell(t *testing.T) {
	for _, text := range []string{
		"", "2001-02-29", "1900-02-29", "2001-13-01", "2001-00-10", "2001-01-00", "2001-01-32",
		"2001-04-31", "2001-1-01",
		"2001/01/01", "20010101", "2001-01-01 ", "02001-01-01", "2001-01-0x", "-001-01-01",
		"2001-01-01T00:00:00Z",
	} {
		if v, ok := days(dateFormat).parse([]byte(text)); ok {
			t.Errorf("%q is day %v", text, v)
		}
	}
	// Every day of a cycle of leap years, and some of all years, from the calendar of package time.
	day := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	var text []byte
	for day.Year() < 10_000 {
		text = day.AppendFormat(text[:0], dateFormat)
		if v, ok := days(dateFormat).parse(text); !ok || int64(v)*86_400 != day.Unix() {
			t.Fatalf("%q is day %v, %v", text, v, ok)
		}
		step := 17
		if day.Year() >= 1900 && day.Year() < 2301 {
			step = 1
		}
		day = day.AddDate(0, 0, step)
	}
}

func TestTimestampCell(t *testing.T) {
	base := time.Date(2012, 2, 29, 13, 45, 7, 0, time.UTC).UnixMicro()
	for text, want := range map[string]int64{
		"2012-02-29T13:45:07Z": base, "2012-02-29 13:45:07": base, "2012-02-29T13:45:07": base,
		"2012-02-29T13:45:07.5Z":           base + 500_000,
		"2012-02-29 13:45:07.123456":       base + 123_456,
		"2012-02-29 13:45:07.123456789":    base + 123_456,
		"2012-02-29T13:45:07+02:00":        base - 2*microsPerHour,
		"2012-02-29T13:45:07.000001-23:59": base + 1 + 23*microsPerHour + 59*microsPerMinute,
	} {
		if got, ok := moments(plainFormat).parse([]byte(text)); !ok || got != float64(want) {
			t.Errorf("%q is %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range strings.Split("|2012-02-29|2012-02-29T13:45|2012-02-30T13:45:07Z|"+
		"2012-02-29T24:00:00Z|2012-02-29T13:60:07Z|2012-02-29T13:45:60Z|2012-02-29t13:45:07Z|"+
		"2012-02-29T13:45:07z|2012-02-29T13:45:07.Z|2012-02-29T13:45:07ZZ|2012-02-29T13:45:07+2:00|"+
		"2012-02-29T13:45:07+24:00|2012-02-29T13:45:07+02:60|2012-02-29T13:45:07+0200|"+
		"2012-02-29T13-45-07Z|2012-02-29T3:45:07.0|2012-02-29T13:45:07,5|2012-02-29T1x:45:07Z", "|") {
		if got, ok := moments(spaceFormat).parse([]byte(text)); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestMomentStep(t *testing.T) {
	tests := []struct {
		kind   Kind
		layout string
		want   int64
		ok     bool
	}{
		{Date, dateFormat, 1, true},
		{Date, "2.1.2006", 1, true},
		{Date, "Mon, 02 Jan 2006", 1, true},
		{Date, time.RFC3339, 1, true},
		{Date, "2006-01", 0, false},
		{Date, "01-02", 0, false},
		{Date, "words", 0, false},
		{Timestamp, timestampFormat, microsPerSecond, true},
		{Timestamp, time.RFC3339Nano, 1, true},
		{Timestamp, "2006-01-02T15:04:05.000", 1000, true},
		{Timestamp, "2006-01-02 15:04", microsPerMinute, true},
		{Timestamp, "2006-01-02 3:04 PM", microsPerMinute, true},
		{Timestamp, "2006-01-02 15h", microsPerHour, true},
		{Timestamp, dateFormat, microsPerDay, true},
		{Timestamp, "2006-01-02 03:04", 0, false}, // morning or afternoon?
		{Timestamp, "15:04:05", 0, false},
	}
	for _, test := range tests {
		got, ok := test.kind.facts().step(test.layout, 0, 0)
		if got != test.want || ok != test.ok {
			t.Errorf("step(%s, %q) = %d, %v, want %d, %v", test.kind, test.layout, got, ok, test.want,
				test.ok)
		}
	}
}
