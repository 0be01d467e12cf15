package access

import "math"

// Up is x/y rounded away from zero, for positive x and y.
func Up(x, y float64) float64 {
	q := x / y
	if math.FMA(q, y, -x) < 0 {
		q = math.Nextafter(q, math.Inf(1))
	}
	return q
}
