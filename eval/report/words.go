package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// percent is a share in per cent, precise enough to tell small ones.
func percent[F ~float64](share F) string {
	x := float64(share)
	switch p := 100 * x; {
	case math.IsNaN(x):
		return "–"
	case p == 0 || p == 100 || p >= 10 && p == math.Trunc(p):
		return fmt.Sprintf("%.0f %%", p)
	case 0 < p && p < .005:
		return "<0.01 %"
	case math.Abs(p) < 1:
		return fmt.Sprintf("%.2f %%", p)
	default:
		return fmt.Sprintf("%.1f %%", p)
	}
}

func fixed[F ~float64](x F) string { return strings.Replace(fmt.Sprintf("%.3f", x), "-", "−", 1) }

// twoDigits is a correlation as papers write it: .74.
func twoDigits(x number) string {
	s := fmt.Sprintf("%.2f", math.Abs(float64(x)))
	switch {
	case x != x: // a column of one value goes together with none
		return "–"
	case s == "0.00":
		return "0"
	case s == "1.00":
		s = "1"
	}
	s = strings.TrimPrefix(s, "0")
	if x < 0 {
		return "−" + s
	}
	return s
}

// short is a number to three digits, or whole.
func short[F ~float64](number F) string {
	x := float64(number)
	switch a := math.Abs(x); {
	case a >= 1e6 || a > 0 && a < 1e-3:
		return strings.Replace(strconv.FormatFloat(x, 'g', 3, 64), "e+0", "e", 1)
	case a >= 100:
		return strconv.FormatFloat(math.Round(x), 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// listed joins names in words.
func listed(names []string) string { return few(names, ", ", " and ", "%d more") }

// few joins the first three texts, and says how many more there are.
func few(texts []string, between, last, more string) string {
	const most = 3
	if n := len(texts); n > most {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf(more, n-most))
	}
	end := len(texts) - 1
	if end == 0 {
		return texts[0]
	}
	return strings.Join(texts[:end], between) + last + texts[end]
}
