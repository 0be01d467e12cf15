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
	first, last := time.UnixMicro(lo).UTC(), time.UnixMicro(hi).UTC()
	date := func(t time.Time, month time.Month) time.Time {
		return time.Date(t.Year(), month, 1, 0, 0, 0, 0, time.UTC)
	}
	switch span := last.Sub(first); {
	case span >= 2*365*day:
		first, last = date(first, 1), date(last, 13)
	case span >= 2*30*day:
		first, last = date(first, first.Month()), date(last, last.Month()+1)
	case span >= 2*day || least == microsPerDay:
		first, last = first.Truncate(day), last.Truncate(day).Add(day)
	default:
		first, last = first.Truncate(time.Hour), last.Truncate(time.Hour).Add(time.Hour)
	}
	return first.UnixMicro(), last.UnixMicro()
}
