package eval

import (
	"encoding/json"
	"math"
	"strconv"
)

// Value is a metric of something.
type Value struct {
	// a column, two columns, the tables compared, a learner and what it was trained on
	Of       string `json:"of"`
	Value    Number `json:"value"`
	Interval *Span  `json:"interval,omitempty"`
}

// Span is the ends of a confidence interval.
type Span struct {
	Low  Number `json:"low"`
	High Number `json:"high"`
}

// Span is the ends of the interval.
func (i Interval) Span() Span { return Span{Number(i.Low), Number(i.High)} }

// Number is a float64 that is null in JSON where it is not finite.
type Number float64

// MarshalJSON writes the shortest decimal that is the number, or null.
func (n Number) MarshalJSON() ([]byte, error) {
	x := float64(n)
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(x)
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(n))
}

// String is the number to four significant digits.
func (n Number) String() string {
	if math.IsNaN(float64(n)) {
		return "–"
	}
	return strconv.FormatFloat(float64(n), 'g', 4, 64)
}
