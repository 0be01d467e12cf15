package schema

import (
	"math"
	"strings"
	"time"
)

const (
	timestampFormat = "2006-01-02T15:04:05Z07:00" // time.RFC3339
	spaceFormat     = "2006-01-02 15:04:05"       // read as timestampFormat is, and written as said
	plainFormat     = "2006-01-02T15:04:05"       // likewise
)

// zoned reports whether a layout writes the zone of a time.
func zoned(format string) bool {
	return strings.Contains(format, "Z07") || strings.Contains(format, "-07") ||
		strings.Contains(format, "MST")
}

// timestampRules: an instant, in microseconds from 1970-01-01 UTC.
type timestampRules struct{}

func (timestampRules) traits() traits {
	return traits{
		name: "timestamp", stored: StoredMicros, keys: binKeys | 1<<keyFormat, notOne: errTimestamp,
		format: timestampFormat, singles: defaultBins,
	}
}

// encode takes the midnight of a day, UTC.
func (timestampRules) encode(c *Codec, as Stored, v Value) (uint16, error) {
	switch as {
	case StoredDays:
		return c.encodeNumber(float64(v.Int) * microsPerDay)
	case StoredMicros:
		return c.encodeNumber(float64(v.Int))
	}
	return c.mistyped()
}

func (timestampRules) parse(format string, cell []byte) (float64, bool) {
	if format == timestampFormat || format == spaceFormat || format == plainFormat {
		micros, ok := parseInstant(cell)
		return float64(micros), ok
	}
	t, ok := parseTime(format, cell)
	const limit = math.MaxInt64 / microsPerSecond
	if seconds := t.Unix(); !ok || seconds < -limit || seconds > limit {
		return 0, false
	}
	return float64(t.UnixMicro()), true
}

func (timestampRules) write(dst []byte, c *Codec, v Value) []byte {
	return time.UnixMicro(v.Int).UTC().AppendFormat(dst, c.column.Format)
}

func (timestampRules) show(format string, x float64) string {
	if math.Abs(x) > maxWhole {
		return formatNumber(x)
	}
	return time.UnixMicro(int64(x)).UTC().Format(format)
}

func (timestampRules) wrong(x float64) string {
	if math.Abs(x) > maxWhole {
		return "is not in the years 1685 to 2255"
	}
	return ""
}

func (r timestampRules) step(c *Column) (int64, bool) {
	steps := []int64{1, 10, 100, 1_000, 10_000, 100_000,
		microsPerSecond, microsPerMinute, microsPerHour, microsPerDay}
	// Besides the bounds 2001-02-03 04:05:06.123456 and 1999-12-31 23:59:58.987654.
	return finestStep(r, c.Format, steps,
		981_173_106_123_456, 946_684_798_987_654, int64(c.Min), int64(c.Max))
}

func (timestampRules) magnitudes(int) int { return yearCells }

func (r timestampRules) magnitude(x float64, _ int) (int, bool) {
	return yearCell(time.UnixMicro(int64(x))), r.wrong(x) == ""
}

func (timestampRules) magnitudeBounds(cell, _ int) (lo, hi float64) {
	from, to := yearDays(cell)
	return float64(from * microsPerDay), float64((to+1)*microsPerDay - microsPerSecond)
}
