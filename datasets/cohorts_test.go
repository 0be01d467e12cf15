package datasets

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/decoy-dp/decoy/schema"
)

// columns gives the cells of an embedded table, column by column, by name.
func columns(t *testing.T, d Dataset) map[string][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(d.CSV())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells := make(map[string][]string)
	for j, name := range rows[0] {
		for _, row := range rows[1:] {
			cells[name] = append(cells[name], row[j])
		}
	}
	return cells
}

// numbers reads cells; an empty one is NaN.
func numbers(t *testing.T, cells []string) []float64 {
	t.Helper()
	x := make([]float64, len(cells))
	for i, cell := range cells {
		v, err := strconv.ParseFloat(cell, 64)
		if cell == "" {
			v = math.NaN()
		} else if err != nil {
			t.Fatal(err)
		}
		x[i] = v
	}
	return x
}

// correlation is Pearson's, over the rows where neither is missing.
func correlation(x, y []float64) float64 {
	var a, b []float64
	for i := range x {
		if !math.IsNaN(x[i]) && !math.IsNaN(y[i]) {
			a, b = append(a, x[i]), append(b, y[i])
		}
	}
	return stat.Correlation(a, b, nil)
}

// indicator is 1 where the cell is the given text.
func indicator(cells []string, text string) []float64 {
	x := make([]float64, len(cells))
	for i, cell := range cells {
		if cell == text {
			x[i] = 1
		}
	}
	return x
}

// TestCorrelations: scores, demographics and outcome go together as they should. The tables are
// fixed, so the ranges are statements about the model and not tests of chance; the half-width is
// some 4 standard errors (1/√2000 = .022).
func TestCorrelations(t *testing.T) {
	for _, c := range []struct {
		table, x, y string
		low, high   float64
	}{
		{"icu-mortality", "sapsii", "sofa", .65, .85},
		{"icu-mortality", "sapsii", "oasis", .7, .9},
		{"icu-mortality", "gcs", "sofa", -.75, -.5},
		{"icu-mortality", "lactate", "sofa", .4, .65},
		{"icu-mortality", "creatinine", "sofa", .4, .65},
		{"icu-mortality", "sapsii", "mortality", .2, .4},
		{"icu-mortality", "gcs", "mortality", -.35, -.15},
		{"icu-mortality", "lactate", "mortality", .12, .35},
		{"icu-mortality", "age_band=75-84", "sapsii", .15, .4},
		{"icu-mortality", "age_band=18-44", "sapsii", -.5, -.2},
		{"icu-mortality", "age_band=75-84", "insurance=medicare", .25, .45},
		{"icu-mortality", "marital_status=widowed", "sex=female", .1, .35},
		{"icu-mortality", "marital_status=widowed", "age_band=85-89", .15, .4},
		{"icu-mortality", "insurance=medicare", "mortality", .02, .2},
		{"icu-mortality", "lactate=", "sofa", -.4, -.1},
		{"icu-severity", "sofa", "apache_ii", .7, .9},
		{"icu-severity", "sapsii", "lods", .8, .95},
		{"icu-severity", "gcs", "apache_ii", -.85, -.65},
		{"icu-severity", "sofa_cns", "gcs", -1, -.9},
		{"icu-severity", "sirs", "qsofa", .35, .65},
		{"icu-severity", "charlson", "sapsii", .25, .5},
		{"icu-severity", "apache_ii", "mortality", .3, .5},
		{"icu-severity", "admission_type=scheduled-surgical", "sapsii", -.4, -.15},
		{"icu-severity", "admission_type=scheduled-surgical", "mortality", -.15, 0},
		{"icu-readmission", "heart_rate", "systolic_bp", -.45, -.2},
		{"icu-readmission", "heart_rate", "resp_rate", .2, .45},
		{"icu-readmission", "haemoglobin", "urea_nitrogen", -.4, -.2},
		{"icu-readmission", "urea_nitrogen", "readmission", .05, .25},
		{"icu-readmission", "resp_rate", "readmission", .03, .25},
		{"icu-readmission", "systolic_bp", "readmission", -.2, 0},
	} {
		t.Run(c.table+" "+c.x+" "+c.y, func(t *testing.T) {
			d, _ := get(t, c.table)
			cells := columns(t, d)
			variable := func(name string) []float64 {
				for i, r := range name {
					if r == '=' {
						return indicator(cells[name[:i]], name[i+1:])
					}
				}
				return numbers(t, cells[name])
			}
			if got := correlation(variable(c.x), variable(c.y)); !(got >= c.low && got <= c.high) {
				t.Errorf("correlation %.3f, want %.2f to %.2f", got, c.low, c.high)
			}
		})
	}
}

// TestDiscrimination trains a logistic regression on 60 % of the rows and tests it on the other 40
// %, 20 times, and compares the mean area under the ROC curve with the one in the package comment.
// The standard error of the mean is at most .01.
func TestDiscrimination(t *testing.T) {
	for _, c := range []struct {
		name string
		want float64
	}{{"icu-mortality", .775}, {"icu-severity", .745}, {"icu-readmission", .746}} {
		t.Run(c.name, func(t *testing.T) {
			d, s := get(t, c.name)
			x, y := design(t, d, s)
			r := rand.New(rand.NewPCG(1, 1))
			var areas, shuffled []float64
			for range 20 {
				areas = append(areas, holdout(x, y, r))
				noise := slices.Clone(y)
				r.Shuffle(len(noise), func(i, j int) { noise[i], noise[j] = noise[j], noise[i] })
				shuffled = append(shuffled, holdout(x, noise, r))
			}
			mean, sd := stat.MeanStdDev(areas, nil)
			t.Logf("AUROC %.3f ± %.3f", mean, sd)
			if math.Abs(mean-c.want) > .025 {
				t.Errorf("AUROC %.3f, want %.3f", mean, c.want)
			}
			if chance := stat.Mean(shuffled, nil); math.Abs(chance-.5) > .06 {
				t.Errorf("AUROC %.3f of shuffled outcomes, want .5", chance)
			}
		})
	}
}

// design gives the standardised features, one row a patient with a leading 1, and the outcome. A
// category is a 0/1 column; a missing number is the mean, with a 0/1 column that says so.
func design(t *testing.T, d Dataset, s *schema.Schema) (*mat.Dense, []float64) {
	t.Helper()
	cells := columns(t, d)
	ones := make([]float64, d.Rows)
	for i := range ones {
		ones[i] = 1
	}
	features := [][]float64{ones}
	for _, c := range s.Columns {
		switch {
		case c.Name == d.Label:
			continue
		case c.Kind == schema.Categorical:
			for _, text := range c.Categories {
				features = append(features, indicator(cells[c.Name], text))
			}
		default:
			v := numbers(t, cells[c.Name])
			mean := stat.Mean(slices.DeleteFunc(slices.Clone(v), math.IsNaN), nil)
			for i := range v {
				if math.IsNaN(v[i]) {
					v[i] = mean
				}
			}
			features = append(features, v)
		}
		if len(c.Missing) > 0 {
			features = append(features, indicator(cells[c.Name], ""))
		}
	}
	x := mat.NewDense(d.Rows, len(features), nil)
	for j, f := range features {
		if j > 0 {
			mean, sd := stat.MeanStdDev(f, nil)
			for i := range f {
				f[i] = (f[i] - mean) / sd
			}
		}
		x.SetCol(j, f)
	}
	return x, indicator(cells[d.Label], d.Positive)
}

// holdout trains on a random 60 %, as many of each outcome as there are in the whole, and gives the
// area on the rest.
func holdout(x *mat.Dense, y []float64, r *rand.Rand) float64 {
	var train, test []int
	for _, outcome := range []float64{0, 1} {
		var rows []int
		for i := range y {
			if y[i] == outcome {
				rows = append(rows, i)
			}
		}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		cut := len(rows) * 3 / 5
		train, test = append(train, rows[:cut]...), append(test, rows[cut:]...)
	}
	beta := logistic(x, y, train)
	var positive, negative []float64
	for _, i := range test {
		score := mat.Dot(x.RowView(i), beta)
		if y[i] == 1 {
			positive = append(positive, score)
		} else {
			negative = append(negative, score)
		}
	}
	var wins float64
	for _, p := range positive {
		for _, n := range negative {
			if p > n {
				wins++
			} else if p == n {
				wins += .5
			}
		}
	}
	return wins / float64(len(positive)*len(negative))
}

// logistic fits β by ten Newton steps on the log-likelihood less |β|²/2.
func logistic(x *mat.Dense, y []float64, rows []int) *mat.VecDense {
	_, k := x.Dims()
	beta := mat.NewVecDense(k, nil)
	for range 10 {
		gradient := mat.NewVecDense(k, nil)
		gradient.ScaleVec(-1, beta)
		hessian := mat.NewSymDense(k, nil)
		for j := range k {
			hessian.SetSym(j, j, 1)
		}
		for _, i := range rows {
			p := 1 / (1 + math.Exp(-mat.Dot(x.RowView(i), beta)))
			gradient.AddScaledVec(gradient, y[i]-p, x.RowView(i))
			hessian.SymRankOne(hessian, p*(1-p), x.RowView(i))
		}
		var factor mat.Cholesky
		if !factor.Factorize(hessian) {
			panic("datasets: the Hessian is not positive definite")
		}
		var step mat.VecDense
		if err := factor.SolveVecTo(&step, gradient); err != nil {
			panic(err)
		}
		beta.AddVec(beta, &step)
	}
	return beta
}
