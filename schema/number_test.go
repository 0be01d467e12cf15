package schema

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseNumber(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		text string
		want float64
		ok   bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"17", 17, true}, {"-4.0", -4, true}, {"+5", 5, true},
		{".5", 0.5, true}, {"5.", 5, true}, {"007", 7, true}, {"0.1", 0.1, true}, {"-123.456", -123.456,
			true},
		{"1e3", 1000, true}, {"1E-2", 0.01, true}, {"2.5e+1", 25, true},
		{"9007199254740993", 9007199254740992, true},
		{"0.9007199254740993", 0.9007199254740993, true},
		{"123456789012345678901234567890", 123456789012345678901234567890, true},
		{"0.00000000000000000000000000001", 1e-29, true},
		{"1e400", inf, true}, {"-1e400", -inf, true}, {"1e-400", 0, true},
		{strings.Repeat("1", maxNumberText), 0, true},
		{strings.Repeat("1", maxNumberText+1), 0, false},
		{"", 0, false}, {"-", 0, false}, {"+", 0, false}, {".", 0, false}, {"-.", 0, false}, {"e", 0,
			false}, {"1e", 0, false},
		{"--1", 0, false}, {"1-", 0, false}, {"1.2.3", 0, false}, {"1,5", 0, false}, {"1 000", 0, false},
		{" 5", 0, false}, {"5 ", 0, false}, {"5\n", 0, false},
		{"0x10", 0, false}, {"0b1", 0, false}, {"1_000", 0, false}, {"0x1p4", 0, false},
		{"inf", 0, false}, {"Inf", 0, false}, {"+Inf", 0, false}, {"-inf", 0, false}, {"Infinity", 0,
			false},
		{"nan", 0, false}, {"NaN", 0, false}, {"٣", 0, false},
	}
	for _, test := range tests {
		got, ok := parseNumber([]byte(test.text))
		if ok != test.ok || ok && got != test.want && len(test.text) < 100 {
			t.Errorf("parseNumber(%q) = %v, %v, want %v, %v", test.text, got, ok, test.want, test.ok)
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
