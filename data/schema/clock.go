package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// timeFacts: a time of day, counted from midnight in the smallest unit that its format shows.
var timeFacts = facts{
	name: "time", stored: StoredInt, keys: momentKeys, notOne: cellError("not a time of day in the " +
		"declared format"), layout: clocks, most: 24*60*60 - 1, outside: "is not within a day",
	singles: defaultBins, format: "15:04",
}

// durationFacts: a number of hours, minutes and perhaps seconds, in the smallest unit.
var durationFacts = facts{
	name: "duration", stored: StoredInt, keys: momentKeys, notOne: cellError("not a duration in the " +
		"declared format"), layout: durations, most: maxWhole, outside: "is not between 0 and 2^53",
	singles: defaultBins, format: durationFormat,
}

// periodFacts: a week, a month or a quarter of a year, counted from that of 1970-01-01.
var periodFacts = facts{
	name: "period", stored: StoredInt, keys: momentKeys, notOne: cellError("not a period in the " +
		"declared format"), layout: periods, least: -1970 * 53, most: 8030 * 53,
	outside: "is not in the years 1 to 9999", singles: defaultBins, format: monthFormat,
}

// clocks is the notation of times of day in a layout of package time.
func clocks(layout string) *notation {
	unit := time.Minute
	if strings.Contains(layout, "05") {
		unit = time.Second
	}
	if strings.ContainsAny(layout, "2J6.,") || !strings.Contains(layout, "04") {
		return nil
	}
	l := newTimeLayout(layout)
	return &notation{
		parse: func(cell []byte) (float64, bool) {
			t, ok := l.parse(cell)
			of := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
				time.Duration(t.Second())*time.Second
			return float64(of / unit), ok
		},
		print: func(dst []byte, v Value, _ int) []byte {
			return l.print(dst, time.Unix(0, 0).Add(time.Duration(v.Int)*unit))
		},
		sql: func(SQL, string) string { return "" },
	}
}

// durationFormat is hours without a zero before them, of any number.
const durationFormat = "h:mm:ss"

// durations is the notation of h:mm:ss and h:mm; nil for others.
func durations(format string) *notation {
	parts := 3
	switch format {
	case durationFormat:
	case "h:mm":
		parts = 2
	default:
		return nil
	}
	return &notation{
		parse: func(cell []byte) (x float64, ok bool) {
			if len(cell) > 16 {
				return 0, false
			}
			fields := strings.Split(string(cell), ":")
			for i, field := range fields {
				n, err := strconv.ParseUint(field, 10, 32)
				if err != nil || i > 0 && (n > 59 || len(field) != 2) {
					return 0, false
				}
				x = 60*x + float64(n)
			}
			return x, len(fields) == parts
		},
		print: func(dst []byte, v Value, _ int) []byte {
			if parts == 2 {
				return fmt.Appendf(dst, "%d:%02d", v.Int/60, v.Int%60)
			}
			return fmt.Appendf(dst, "%d:%02d:%02d", v.Int/3600, v.Int/60%60, v.Int%60)
		},
		sql: func(SQL, string) string { return "" },
	}
}

// The formats of periods besides months, which are layouts of package time.
const (
	monthFormat  = "2006-01"
	compactMonth = "200601"
	weekFormat   = "YYYY-Www"
)

var quarterFormats = []string{"YYYY-Qq", "YYYYQq", "YYYY Qq", "Qq YYYY"}

// periods is the notation of ISO weeks, quarters, or months; nil for a format of none.
func periods(format string) *notation {
	n := &notation{sql: func(SQL, string) string { return "" }}
	switch {
	case format == weekFormat:
		n.parse, n.print = parseWeek, printWeek
	case slices.Contains(quarterFormats, format):
		n.parse = func(cell []byte) (float64, bool) { return parseQuarter(format, cell) }
		n.print = func(dst []byte, v Value, _ int) []byte {
			y, q := 1970+int64(floorDiv(v.Int, 4)), mod(v.Int, 4)+1
			return append(dst, strings.NewReplacer("YYYY", fmt.Sprintf("%04d", y), "Qq",
				fmt.Sprintf("Q%d", q)).Replace(format)...)
		}
	case strings.Contains(format, "06") && !strings.Contains(format, "02") &&
		(strings.Contains(format, "01") || strings.Contains(format, "Jan")):
		l := newTimeLayout(format)
		n.parse = func(cell []byte) (float64, bool) {
			t, ok := l.parse(cell)
			return float64(12*(t.Year()-1970) + int(t.Month()) - 1), ok && t.Year() > 0
		}
		n.print = func(dst []byte, v Value, _ int) []byte {
			return l.print(dst, time.Date(1970, time.Month(1+v.Int), 1, 0, 0, 0, 0, time.UTC))
		}
	default:
		return nil
	}
	return n
}

// firstMonday begins the first week of 1970.
var firstMonday = time.Date(1969, 12, 29, 0, 0, 0, 0, time.UTC)

func parseWeek(cell []byte) (float64, bool) {
	if len(cell) != len("2006-W01") || string(cell[4:6]) != "-W" {
		return 0, false
	}
	year, wrong := strconv.ParseUint(string(cell[:4]), 10, 14)
	week, bad := strconv.ParseUint(string(cell[6:]), 10, 6)
	if wrong != nil || bad != nil || year == 0 {
		return 0, false
	}
	// the fourth of January is in the first week
	t := time.Date(int(year), 1, 4+7*(int(week)-1), 0, 0, 0, 0, time.UTC)
	y, w := t.ISOWeek()
	days := int64(t.Sub(firstMonday).Hours() / 24)
	return floorDiv(days, 7), y == int(year) && w == int(week)
}

func printWeek(dst []byte, v Value, _ int) []byte {
	year, week := firstMonday.AddDate(0, 0, int(7*v.Int)).ISOWeek()
	return fmt.Appendf(dst, "%04d-W%02d", year, week)
}

// parseQuarter reads a year and a quarter in a format of quarterFormats.
func parseQuarter(format string, cell []byte) (float64, bool) {
	year, quarter := strings.Index(format, "YYYY"), strings.Index(format, "Qq")
	if len(cell) != len(format) {
		return 0, false
	}
	y, wrong := strconv.ParseUint(string(cell[year:year+4]), 10, 16)
	q, bad := strconv.ParseUint(string(cell[quarter+1:quarter+2]), 10, 8)
	x := 4*(float64(y)-1970) + float64(q) - 1
	again := periods(format).print(nil, Value{Int: int64(x)}, wholeDigits)
	return x, wrong == nil && bad == nil && y > 0 && q >= 1 && q <= 4 && string(again) == string(cell)
}

// floorDiv is a / b, rounded down.
func floorDiv(a, b int64) float64 { return float64((a - mod(a, b)) / b) }
