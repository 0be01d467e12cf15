package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

func loadScores(t testing.TB) ([]float64, []bool) {
	t.Helper()
	x, _ := loadNumbers(t, "scores.csv", 1)
	var scores []float64
	var labels []bool
	for i := 0; i < len(x); i += 2 {
		labels = append(labels, x[i] == 1)
		scores = append(scores, x[i+1])
	}
	return scores, labels
}

func TestScoresAgreeWithScikitLearn(t *testing.T) {
	scores, labels := loadScores(t)
	want := loadExpected(t).Scores
	if got, err := AUROC(scores, labels); err != nil || !near(got, want.AUROC, 1e-9) {
		t.Errorf("AUROC %v, %v, want %v", got, err, want.AUROC)
	}
	if got, err := AveragePrecision(scores, labels); err != nil ||
		!near(got, want.AveragePrecision, 1e-9) {
		t.Errorf("average precision %v, %v, want %v", got, err, want.AveragePrecision)
	}
}

func TestAUROC(t *testing.T) {
	inf := math.Inf(1)
	negativeZero := math.Copysign(0, -1)
	for _, test := range []struct {
		name     string
		scores   []float64
		labels   []bool
		auroc    float64
		averageP float64
	}{
		{"perfect", []float64{1, 2, 3, 4}, []bool{false, false, true, true}, 1, 1},
		{"reversed", []float64{4, 3, 2, 1}, []bool{false, false, true, true}, 0, (1./3 + 2./4) / 2},
		{"all tied", []float64{7, 7, 7, 7}, []bool{false, true, true, false}, .5, .5},
		{"a tie counts half", []float64{1, 2, 2}, []bool{false, false, true}, .75, .5},
		{"infinite scores", []float64{-inf, 0, inf}, []bool{false, true, true}, 1, 1},
		{"the two zeros tie", []float64{negativeZero, 0}, []bool{false, true}, .5, .5},
		{"negative scores", []float64{-3, -2, -1}, []bool{true, false, true}, .5, (1 + 2./3) / 2},
		{"denormals", []float64{5e-324, 0, -5e-324}, []bool{true, false, false}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, err := AUROC(test.scores, test.labels); err != nil ||
				!near(got, test.auroc, 1e-15) {
				t.Errorf("AUROC %v, %v, want %v", got, err, test.auroc)
			}
			if got, err := AveragePrecision(test.scores, test.labels); err != nil ||
				!near(got, test.averageP, 1e-15) {
				t.Errorf("average precision %v, %v, want %v", got, err, test.averageP)
			}
		})
	}
}

// TestScoresByDefinition compares with the definitions, counted over all pairs and all thresholds,
// with few and many ties.
func TestScoresByDefinition(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 3, 50, 999, 12_288} {
		for _, levels := range []float64{3, 1e15} {
			scores, labels := make([]float64, n), make([]bool, n)
			for i := range scores {
				scores[i] = math.Floor(u.NormFloat64()*levels) / levels
				labels[i] = i == 0 || i > 1 && u.IntN(4) == 0
			}
			t.Run(fmt.Sprint(n, levels), func(t *testing.T) {
				if n < 1000 {
					if got, _ := AUROC(scores, labels); !near(got, aurocByPairs(scores, labels),
						1e-14) {
						t.Errorf("AUROC %v, over all pairs %v", got, aurocByPairs(scores, labels))
					}
					if got, _ := AveragePrecision(scores, labels); !near(got,
						precisionByThresholds(scores, labels), 1e-12) {
						t.Errorf("average precision %v, over all thresholds %v", got,
							precisionByThresholds(scores, labels))
					}
				}
				curve := stattest.Must(rank(scores, labels)).corners()
				area := 0.0
				for i := range curve[1:] {
					a, b := curve[i], curve[i+1]
					if b[0] < a[0] || b[1] < a[1] || b == a {
						t.Fatalf("the curve turns back from %v to %v", a, b)
					}
					area += (b[0] - a[0]) * (a[1] + b[1]) / 2
				}
				if got, _ := AUROC(scores, labels); !near(area, got, 1e-12) {
					t.Errorf("area of the curve %v, AUROC %v", area, got)
				}
				first, last := curve[0], curve[len(curve)-1]
				if first != [2]float64{} || last != [2]float64{1, 1} {
					t.Errorf("the curve goes from %v to %v", first, last)
				}
			})
		}
	}
}

func aurocByPairs(scores []float64, labels []bool) float64 {
	won, pairs := 0.0, 0.0
	for i := range scores {
		for j := range scores {
			if labels[i] && !labels[j] {
				pairs++
				switch {
				case scores[i] > scores[j]:
					won++
				case scores[i] == scores[j]:
					won += .5
				}
			}
		}
	}
	return won / pairs
}

func precisionByThresholds(scores []float64, labels []bool) float64 {
	distinct := slices.Clone(scores)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	slices.Reverse(distinct)
	positives, sum, recall := 0.0, 0.0, 0.0
	for _, l := range labels {
		if l {
			positives++
		}
	}
	for _, threshold := range distinct {
		tp, predicted := 0.0, 0.0
		for i, s := range scores {
			if s >= threshold {
				predicted++
				if labels[i] {
					tp++
				}
			}
		}
		sum += (tp/positives - recall) * tp / predicted
		recall = tp / positives
	}
	return sum
}
