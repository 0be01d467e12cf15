package schema

import (
	"math"
	"time"
)

// The days of the years 1 to 9999, which are those a date column may declare.
const (
	firstDay = -719_162  // 0001-01-01
	lastDay  = 2_932_896 // 9999-12-31
)

const dateFormat = "2006-01-02"

// dateRules: a day, counted from 1970-01-01.
type dateRules struct{}

func (dateRules) traits() traits {
	return traits{
		name: "date", stored: StoredDays, keys: binKeys | 1<<keyFormat, notOne: errDate,
		format: dateFormat, singles: defaultBins,
	}
}

// encode takes the day of an instant, UTC.
func (dateRules) encode(c *Codec, as Stored, v Value) (uint16, error) {
	switch as {
	case StoredDays:
		return c.encodeNumber(float64(v.Int))
	case StoredMicros:
		return c.encodeNumber(float64((v.Int - mod(v.Int, microsPerDay)) / microsPerDay))
	}
	return c.mistyped()
}

// parse takes the day of a text whose format has a time of day, in the zone of that text.
func (dateRules) parse(format string, cell []byte) (float64, bool) {
	if format == dateFormat {
		days, ok := parseDay(cell)
		return float64(days), ok
	}
	t, ok := parseTime(format, cell)
	if !ok {
		return 0, false
	}
	year, month, day := t.Date()
	return float64(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay), true
}

func (dateRules) write(dst []byte, c *Codec, v Value) []byte {
	return time.Unix(v.Int*secondsPerDay, 0).UTC().AppendFormat(dst, c.column.Format)
}

func (dateRules) show(format string, x float64) string {
	if math.Abs(x) > maxWhole {
		return formatNumber(x)
	}
	return time.Unix(int64(x)*secondsPerDay, 0).UTC().Format(format)
}

func (dateRules) wrong(x float64) string {
	if x < firstDay || x > lastDay {
		return "is not in the years 1 to 9999"
	}
	return ""
}

func (r dateRules) step(c *Column) (int64, bool) {
	// Besides the bounds 2001-02-03 and 1999-12-31.
	return finestStep(r, c.Format, []int64{1}, 11_356, 10_956, int64(c.Min), int64(c.Max))
}

func (dateRules) magnitudes(int) int { return yearCells }

func (r dateRules) magnitude(x float64, _ int) (int, bool) {
	return yearCell(time.Unix(int64(x)*secondsPerDay, 0)), r.wrong(x) == ""
}

func (dateRules) magnitudeBounds(cell, _ int) (lo, hi float64) {
	from, to := yearDays(cell)
	return float64(from), float64(to)
}
