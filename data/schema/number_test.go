package schema

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseNumber(t *testing.T) {
	long := strings.Repeat("1", maxNumberText)
	for _, text := range strings.Fields("0 -0 17 -4.0 +5 .5 5. 007 0.1 -123.456 1e3 1E-2 2.5e+1 " +
		"9007199254740993 0.9007199254740993 123456789012345678901234567890 " +
		"0.00000000000000000000000000001 1e400 -1e400 1e-400 " + long) {
		want, _ := strconv.ParseFloat(text, 64)
		if got, ok := parseNumber([]byte(text)); !ok || got != want {
			t.Errorf("parseNumber(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range append(strings.Fields("- + . -. e 1e --1 1- 1.2.3 1,5 0x10 0b1 1_000 0x1p4 "+
		"inf Inf +Inf -inf Infinity nan NaN ٣ "+long+"1"), "", " 5", "5 ", "5\n", "1 000") {
		if got, ok := parseNumber([]byte(text)); ok {
			t.Errorf("parseNumber(%q) = %v", text, got)
		}
	}
}

// parseNumber agrees, bit for bit, with strconv on every decimal number.
func TestParseNumberAgainstStrconv(t *testing.T) {
	numbers := rapid.OneOf(
		rapid.StringMatching(`[+-]?[0-9]{0,20}(\.[0-9]{0,20})?`),
		rapid.StringMatching(`[+-]?[0-9]{1,3}(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,3})?`),
		rapid.Map(rapid.Float64(), func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := numbers.Draw(t, "text")
		want, err := strconv.ParseFloat(text, 64)
		got, ok := parseNumber([]byte(text))
		valid := err == nil || math.IsInf(want, 0)
		if strings.ContainsAny(text, "iIN") { // Inf, NaN
			valid = false
		}
		if ok != valid || ok && got != want {
			t.Fatalf("parseNumber(%q) = %v, %v; strconv %v, %v", text, got, ok, want, err)
		}
	})
}
