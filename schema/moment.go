package schema

import (
	"math"
	"strings"
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
	name: "date", stored: StoredDays, keys: momentKeys, notOne: errDate, parse: dateCell,
	least: firstDay, most: lastDay, outside: "is not in the years 1 to 9999", singles: defaultBins,
	unit: microsPerDay, format: dateFormat, steps: []int64{1},
	probes: []int64{11_356, 10_956}, // 2001-02-03 and 1999-12-31
}

// timestampFacts: an instant, in microseconds from 1970-01-01 UTC.
var timestampFacts = facts{
	name: "timestamp", stored: StoredMicros, keys: momentKeys, notOne: errTimestamp,
	parse: timestampCell, least: -maxWhole, most: maxWhole,
	outside: "is not in the years 1685 to 2255", singles: defaultBins, unit: 1,
	format: timestampFormat,
	steps: []int64{1, 10, 100, 1_000, 10_000, 100_000,
		microsPerSecond, microsPerMinute, microsPerHour, microsPerDay},
	// 2001-02-03 04:05:06.123456 and 1999-12-31 23:59:58.987654
	probes: []int64{981_173_106_123_456, 946_684_798_987_654},
}

// dateCell takes the day of a text whose format has a time of day, in the zone of that text.
func dateCell(format string, cell []byte) (float64, bool) {
	if format == dateFormat {
		days, ok := parseDay(cell)
		return float64(days), ok
	}
	t, ok := parseTime(format, cell)
	year, month, day := t.Date()
	days, _ := dayOf(year, int(month), day)
	return float64(days), ok
}

func timestampCell(format string, cell []byte) (float64, bool) {
	if format == timestampFormat || format == spaceFormat || format == plainFormat {
		micros, ok := parseInstant(cell)
		return float64(micros), ok
	}
	t, ok := parseTime(format, cell)
	const limit = math.MaxInt64 / microsPerSecond
	return float64(t.UnixMicro()), ok && t.Unix() >= -limit && t.Unix() <= limit
}

// zoned reports whether a layout writes the zone of a time.
func zoned(format string) bool {
	return strings.Contains(format, "Z07") || strings.Contains(format, "-07") ||
		strings.Contains(format, "MST")
}

// dayOf gives the days from 1970-01-01 to a day of the years 0 to 9999; false if there is none.
func dayOf(year, month, day int) (days int64, ok bool) {
	if year < 0 || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	days = daysTo(year, month) + int64(day-1)
	return days, day <= 28 || days < daysTo(year+month/12, month%12+1)
}

// daysTo gives the days from 1970-01-01 to the first of a month of the proleptic Gregorian
// calendar, after Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil
// (https://howardhinnant.github.io/date_algorithms.html). 0 ≤ year ≤ 10000.
func daysTo(year, month int) int64 {
	if month <= 2 {
		year--
	}
	year += 400 // keeps the divisions below on non-negative numbers
	era := year / 400
	yearOfEra := year - era*400
	dayOfYear := (153*((month+9)%12) + 2) / 5
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return int64(era*146_097 + dayOfEra - 719_468 - 146_097)
}

// digitsAt reads n digits; -1 if there is anything else.
func digitsAt(text []byte, n int) int {
	v := 0
	for _, b := range text[:n] {
		d := b - '0'
		if d > 9 {
			return -1
		}
		v = v*10 + int(d)
	}
	return v
}

// parseDay reads YYYY-MM-DD, which is all of text.
func parseDay(text []byte) (days int64, ok bool) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	return dayOf(digitsAt(text, 4), digitsAt(text[5:], 2), digitsAt(text[8:], 2))
}

// parseInstant reads YYYY-MM-DD, then T or a space, then hh:mm:ss, then an
// optional fraction of a second (what is finer than a microsecond is dropped),
// then Z or ±hh:mm or nothing, which means UTC: RFC 3339 and its common
// relatives. A timestamp column whose format is one of them accepts them all.
func parseInstant(text []byte) (micros int64, ok bool) {
	if len(text) < 19 || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':' {
		return 0, false
	}
	days, ok := parseDay(text[:10])
	hour, minute, second := digitsAt(text[11:], 2), digitsAt(text[14:], 2), digitsAt(text[17:], 2)
	if !ok || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 {
		return 0, false
	}
	micros = days*microsPerDay + int64(hour)*microsPerHour + int64(minute)*microsPerMinute +
		int64(second)*microsPerSecond
	rest := text[19:]
	if len(rest) > 0 && rest[0] == '.' {
		n := 1
		unit := int64(microsPerSecond)
		for ; n < len(rest) && rest[n]-'0' <= 9; n++ {
			unit /= 10
			micros += int64(rest[n]-'0') * unit
		}
		if n == 1 {
			return 0, false
		}
		rest = rest[n:]
	}
	switch {
	case len(rest) == 0, len(rest) == 1 && rest[0] == 'Z':
		return micros, true
	case len(rest) == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':':
		hour, minute := digitsAt(rest[1:], 2), digitsAt(rest[4:], 2)
		if hour < 0 || hour > 23 || minute < 0 || minute > 59 {
			return 0, false
		}
		offset := int64(hour)*microsPerHour + int64(minute)*microsPerMinute
		if rest[0] == '-' {
			offset = -offset
		}
		return micros - offset, true
	}
	return 0, false
}

// parseTime reads a text in a layout.
func parseTime(layout string, text []byte) (t time.Time, ok bool) {
	if len(text) > maxNumberText {
		return t, false
	}
	t, err := time.Parse(layout, string(text)) // whose error holds the cell and stays here
	return t, err == nil
}
