package schema

import (
	"bytes"
	"math"
	"time"
)

// Microseconds of a day, an hour, a minute and a second.
const (
	microsPerSecond = 1_000_000
	microsPerMinute = 60 * microsPerSecond
	microsPerHour   = 60 * microsPerMinute
	microsPerDay    = 24 * microsPerHour
)

// Layouts. A timestamp column of any of the last three reads all of them.
const (
	dateFormat      = "2006-01-02"
	timestampFormat = "2006-01-02T15:04:05Z07:00" // time.RFC3339
	spaceFormat     = "2006-01-02 15:04:05"
	plainFormat     = "2006-01-02T15:04:05"
)

// The days of the years 1 to 9999, which are those a date column may declare.
const (
	firstDay = -719_162  // 0001-01-01
	lastDay  = 2_932_896 // 9999-12-31
)

// dateFacts: a day, counted from 1970-01-01.
var dateFacts = facts{
	name: "date", stored: StoredDays, keys: momentKeys, notOne: errDate, layout: days,
	least: firstDay, most: lastDay, outside: "is not in the years 1 to 9999", singles: defaultBins,
	unit: microsPerDay, format: dateFormat, steps: []int64{1},
	probes: []int64{11_356, 10_956}, // 2001-02-03 and 1999-12-31
}

// timestampFacts: an instant, in microseconds from 1970-01-01 UTC.
var timestampFacts = facts{
	name: "timestamp", stored: StoredMicros, keys: momentKeys, notOne: errTimestamp,
	layout: moments, least: -maxWhole, most: maxWhole,
	outside: "is not in the years 1685 to 2255", singles: defaultBins, unit: 1,
	format: timestampFormat,
	steps: []int64{1, 10, 100, 1_000, 10_000, 100_000,
		microsPerSecond, microsPerMinute, microsPerHour, microsPerDay},
	// 2001-02-03 04:05:06.123456 and 1999-12-31 23:59:58.987654
	probes: []int64{981_173_106_123_456, 946_684_798_987_654},
}

// days is the notation of days in a layout. Of a text that has a time too it is the day, in the
// zone of that text.
func days(layout string) *notation {
	l := newTimeLayout(layout)
	return &notation{
		parse: func(cell []byte) (float64, bool) {
			t, ok := l.parse(cell)
			year, month, day := t.Date()
			midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
			return float64(midnight.UnixMicro() / microsPerDay), ok
		},
		print: func(dst []byte, v Value, _ int) []byte {
			return l.print(dst, time.UnixMicro(v.Int*microsPerDay))
		},
		sql: func(e SQL, text string) string { return daySQL(layout, e, text) },
	}
}

// moments is the notation of instants in a layout.
func moments(layout string) *notation {
	l := newTimeLayout(layout)
	n := &notation{
		parse: func(cell []byte) (float64, bool) { return microsOf(l.parse(cell)) },
		print: func(dst []byte, v Value, _ int) []byte { return l.print(dst, time.UnixMicro(v.Int)) },
		sql:   func(SQL, string) string { return "" },
	}
	switch layout {
	case timestampFormat, spaceFormat, plainFormat:
		n.parse = parseInstant
	}
	return n
}

// parseInstant reads a text of any layout of instantFormat.
func parseInstant(cell []byte) (float64, bool) {
	layout, ok := instantFormat(cell)
	if !ok {
		return 0, false
	}
	return microsOf(parseTime(layout, cell))
}

// microsOf is an instant in microseconds; false for one that is too far away.
func microsOf(t time.Time, ok bool) (float64, bool) {
	const limit = math.MaxInt64 / microsPerSecond
	return float64(t.UnixMicro()), ok && t.Unix() >= -limit && t.Unix() <= limit
}

// instantFormat is the layout of a text that may be YYYY-MM-DD, then T or a space, then hh:mm:ss,
// then an optional fraction of a second (what is finer than a microsecond is dropped), then Z or
// ±hh:mm or nothing, which means UTC: RFC 3339 and its common relatives. A timestamp column whose
// format is one of them accepts them all. What package time would take besides is refused here.
func instantFormat(text []byte) (layout string, ok bool) {
	n := len(text)
	if n < len(plainFormat) || text[13] != ':' || bytes.IndexByte(text, ',') >= 0 {
		return "", false
	}
	layout, inZone := plainFormat, timestampFormat
	if text[10] == ' ' {
		layout, inZone = spaceFormat, spaceFormat+"Z07:00"
	}
	signed := text[n-6] == '+' || text[n-6] == '-'
	if signed || text[n-1] == 'Z' {
		layout = inZone
	}
	return layout, !signed || string(text[n-5:n-3]) < "24" && string(text[n-2:]) < "60"
}

// parseTime reads a text in a layout of package time.
func parseTime(layout string, text []byte) (t time.Time, ok bool) {
	return parseIn(layout, text, time.UTC)
}

// parseIn is parseTime for texts that are in a zone unless they say another.
func parseIn(layout string, text []byte, zone *time.Location) (t time.Time, ok bool) {
	short := layout == dateFormat && len(text) != len(layout)
	if len(text) == 0 || len(text) > maxNumberText || short {
		return t, false
	}
	// the error holds the cell and stays here
	t, err := time.ParseInLocation(layout, string(text), zone)
	return t, err == nil
}
