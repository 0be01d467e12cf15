package report_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/eval/report"
)

// TestAttackedPage: a tenth of false positives lies a quarter below all of them on both axes, and
// the band of a claim is drawn only where one is made, e^ε times as high.
func TestAttackedPage(t *testing.T) {
	type budget struct{ Epsilon, Delta float64 }
	type found struct {
		Warning, Conclusion string
		Method, Neighbours  string
		Budget              budget
		Rows, Runs, Seed    int
		Refuted             bool
		Epsilon, Confidence float64
		Audits              []struct{}
	}
	x := func(v float64) float64 { return 52 + 398*v }
	y := func(v float64) float64 { return 360 - 352*v }
	for _, epsilon := range []float64{math.Log(10), math.Inf(1)} {
		var page bytes.Buffer
		f := found{Warning: "w", Method: "<mst>", Rows: 300}
		if claimed := !math.IsInf(epsilon, 1); claimed {
			f.Budget.Epsilon = epsilon
		}
		curves := []report.Curve{{Name: "loss", AUROC: .5, Points: [][2]float64{{.1, 1}, {1, 1}}}}
		if err := report.Attacked(&page, epsilon, 0, curves, f); err != nil {
			t.Fatal(err)
		}
		text := page.String()
		curve := fmt.Sprintf(`class="curve synthetic" d="M%g %gL%g %g"`, x(.75), y(1), x(1), y(1))
		band := fmt.Sprintf("L%g %gL", x(.75), y(1))
		if strings.Contains(text, "claim allows") != (f.Budget.Epsilon > 0) {
			t.Errorf("ε = %v: what the claim allows", epsilon)
		}
		if !strings.Contains(text, curve) || !strings.Contains(text, "Not private.") ||
			!strings.Contains(text, "&lt;mst&gt;") || strings.Contains(text, `"band"`) !=
			(f.Budget.Epsilon > 0) || f.Budget.Epsilon > 0 && !strings.Contains(text, band) {
			t.Errorf("ε = %v: %s, %s are not in %s", epsilon, curve, band,
				text[strings.Index(text, "<svg"):])
		}
	}
}
