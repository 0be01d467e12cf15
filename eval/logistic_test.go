package eval

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

func TestLogisticAgreesWithScikitLearn(t *testing.T) {
	f := load[fits[struct {
		C         float64
		Weights   []float64
		Intercept float64
	}]](t, "logistic.json")
	x, _, err := newMatrix(nil, f.table(t, category))
	stattest.Check(t, err)
	for _, want := range f.Fits {
		steps := 0
		got := stattest.Must(fitLogistic(counted{x, &steps}, f.Labels, want.C))
		if steps == 0 || steps > 15 {
			t.Errorf("C %v: %d steps", want.C, steps)
		}
		for i, w := range append(want.Weights, want.Intercept) {
			if !near(got[i], w, 1e-8) {
				t.Errorf("C %v: weight %d is %v, want %v", want.C, i, got[i], w)
			}
		}
	}
}

// counted counts the Newton steps of a fit, each of which asks once for the diagonal.
type counted struct {
	design
	steps *int
}

func (c counted) diagonalTo(dst, d []float64) { *c.steps++; c.design.diagonalTo(dst, d) }

func TestLogisticSeparableClasses(t *testing.T) {
	s := schemaOf(t, category("a", 2), category("b", 2))
	tab := tableFrom(t, s, 40, func(i, c int) int { return i >> c & 1 })
	y := slices.Repeat([]bool{false, true}, 20)
	x, _, err := newMatrix(nil, tab)
	stattest.Check(t, err)
	fit := stattest.Must(fitLogistic(x, y, math.Inf(1)))
	for i, s := range fit.scores(x) {
		if math.IsNaN(s) || s > 0 != y[i] || math.Abs(s) < 10 {
			t.Fatalf("row %d, label %v, scores %v", i, y[i], s)
		}
	}
}

// numbers is a design matrix of numbers, which the reference values of scikit-learn are of; the
// last one of a row is 1.
type numbers [][]float64

func (m numbers) dims() (rows, features int) { return len(m), len(m[0]) }

func (m numbers) mulTo(dst, w []float64) {
	for i, row := range m {
		dst[i] = floats.Dot(row, w)
	}
}

func (m numbers) tmulTo(dst, r []float64) {
	clear(dst)
	for i, row := range m {
		floats.AddScaled(dst, r[i], row)
	}
}

func (m numbers) diagonalTo(dst, d []float64) {
	clear(dst)
	for i, row := range m {
		for f, x := range row {
			dst[f] += d[i] * x * x
		}
	}
}

// TestPMSEAgreesWithScikitLearn compares with two values. The one in expected.json is scikit-learn
// 1.2.1's default solver, lbfgs, which stops early on these rows whatever tolerance it is given:
// its weights leave a gradient of 1e-4, and the pMSE is off in the fifth digit. The solvers
// newton-cholesky, sag and saga of the same version, at tolerance 1e-12, all give .00320365993488,
// and that is met to 1e-12.
func TestPMSEAgreesWithScikitLearn(t *testing.T) {
	const newtonCholesky = 0.0032036599348717982
	want := loadExpected(t).PMSE
	var both numbers
	n := 0
	for _, file := range []string{"continuous_real.csv", "continuous_synthetic.csv"} {
		x, width := loadNumbers(t, file, 0)
		n = len(both)
		for row := range slices.Chunk(x, width) {
			both = append(both, append(slices.Clone(row), 1))
		}
	}
	got, fit, err := pmse(both, n)
	stattest.Check(t, err)
	if !near(got.PMSE, newtonCholesky, 1e-12) {
		t.Errorf("pMSE %v, want %v", got.PMSE, newtonCholesky)
	}
	if !near(got.PMSE, want.PMSE, 5e-8) {
		t.Errorf("pMSE %v, want %v", got.PMSE, want.PMSE)
	}
	weights := append(want.Coef, want.Intercept)
	for i, w := range weights {
		if !near(fit[i], w, 5e-6) {
			t.Errorf("weight %d is %v, want %v", i, fit[i], w)
		}
	}
	ours, reference := gradientOf(both, n, fit), gradientOf(both, n, weights)
	if ours > 1e-8 || reference < 1e5*ours {
		t.Errorf("largest derivative %v at our weights, %v at the reference's: the reference is "+
			"no longer the less exact one", ours, reference)
	}
}

// gradientOf is the largest derivative of the unpenalised loss.
func gradientOf(x numbers, n int, w []float64) float64 {
	y := make([]bool, len(x))
	for i := n; i < len(x); i++ {
		y[i] = true
	}
	f, gradient := newLogLoss(x, y, 0), make([]float64, len(w))
	f.value(w)
	f.gradientTo(gradient, w)
	return floats.Norm(gradient, math.Inf(1))
}

func TestPMSEOfTables(t *testing.T) {
	u := rand.New(rand.NewPCG(8, 8))
	s := schemaOf(t, category("a", 4), number("b", 6))
	real, same := uniformTable(t, s, 3000, u), uniformTable(t, s, 3000, u)
	got := stattest.Must(PMSE(real, same))
	// k−1 = 8 free weights: N·PMSE/c(1−c) is near a chi-square of 8 degrees, and the ratio a
	// quarter of it; the chi-square exceeds 45 with probability 4e-7.
	if got.Ratio > 45./4 || got.Ratio < .05 || !near(got.Expected, 8*.125/6000, 1e-15) {
		t.Errorf("ratio %v, expected %v for two samples of one distribution", got.Ratio,
			got.Expected)
	}
	copied, err := PMSE(real, real)
	if err != nil || copied.PMSE > 1e-20 {
		t.Errorf("pMSE %v, %v for the real rows themselves", copied.PMSE, err)
	}
	apart := tableFrom(t, s, 3000, func(i, c int) int { return i % 2 })
	if got, err := PMSE(real, apart); err != nil || got.PMSE < .1 || got.Ratio < 100 {
		t.Errorf("pMSE %v, ratio %v, %v for rows from two categories of four", got.PMSE, got.Ratio,
			err)
	}
	narrow := tableOf(t, schemaOf(t, category("a", 4)), []int{0})
	if _, err := PMSE(real, narrow); !errors.Is(err, ErrTables) {
		t.Errorf("error %v for other features, want %v", err, ErrTables)
	}
}

// TestPMSEOfManyCategories takes the solver of wide matrices, on a column of more categories than
// the direct one has room for.
func TestPMSEOfManyCategories(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 9))
	s := schemaOf(t, category("a", 600), category("b", 3))
	draw := func(most int) *table.Table {
		return tableFrom(t, s, 4000, func(_, c int) int { return u.IntN([]int{most, 3}[c]) })
	}
	real, same, half := draw(600), draw(600), draw(300)
	// A chi-square of 601 degrees is between 440 and 790 except with probability 1e-6, so the
	// ratio, twice the chi-square over its degrees, is between 1.46 and 2.63.
	got, err := PMSE(real, same)
	if free := 599. + 2; err != nil || !near(got.Expected, free*.125/8000, 1e-12) ||
		got.Ratio < 1.46 || got.Ratio > 2.63 {
		t.Errorf("ratio %v, %v for two samples of one distribution", got.Ratio, err)
	}
	// Categories of the real table only: their 2000 rows have propensity 0. Of the 20 rows in each
	// other category about 13.3 are synthetic: 2/3 with variance (2/9)/20.
	got, err = PMSE(real, half)
	if want := (2000*.25 + 6000*(1./36+2./9/20)) / 8000; err != nil || !near(got.PMSE, want, .005) {
		t.Errorf("pMSE %v, %v, want about %v", got.PMSE, err, want)
	}
}
