package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// roundOutward rounds x to two significant decimal digits: up if sign is
// positive, else down. x is finite.
func roundOutward(x float64, sign int) float64 {
	if x == 0 {
		return 0
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)
	digits = strings.Replace(digits, ".", "", 1) + "0"
	two, _ := strconv.Atoi(digits[:2])
	if away := (x > 0) == (sign > 0); away && strings.Trim(digits[2:], "0") != "" {
		two++
	}
	y, _ := strconv.ParseFloat(fmt.Sprintf("%de%d", two, e-1), 64)
	return math.Copysign(y, x)
}

// roundMoments rounds a range of microseconds outward to whole years, months,
// days or hours, the longest of these that the range holds two of and that is
// not shorter than least. The end is exclusive: the start of the next year and so on.
func roundMoments(lo, hi, least int64) (from, end int64) {
	const day = 24 * time.Hour
	var floor, next func(time.Time) time.Time
	first, last := time.UnixMicro(lo).UTC(), time.UnixMicro(hi).UTC()
	switch span := last.Sub(first); {
	case span >= 2*365*day:
		floor = func(t time.Time) time.Time { return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC) }
		next = func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }
	case span >= 2*30*day:
		floor = func(t time.Time) time.Time {
			return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
		}
		next = func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }
	case span >= 2*day || least == microsPerDay:
		floor = func(t time.Time) time.Time { return t.Truncate(day) }
		next = func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	default:
		floor = func(t time.Time) time.Time { return t.Truncate(time.Hour) }
		next = func(t time.Time) time.Time { return t.Add(time.Hour) }
	}
	return floor(first).UnixMicro(), next(floor(last)).UnixMicro()
}
