package eval_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
)

// patients is the public schema of the examples.
func patients() *schema.Schema {
	s, err := schema.Parse([]byte(`
decoy: 1
columns:
  - {name: age, kind: integer, min: 20, max: 99, bins: 8}
  - {name: weight, kind: real, min: 40, max: 140, bins: 100}
  - {name: ward, kind: categorical, categories: [north, south]}
  - {name: died, kind: categorical, categories: ["no", "yes"]}
`))
	if err != nil {
		panic(err)
	}
	return s
}

// draw makes n patients of whom the old die more often, as codes.
func draw(s *schema.Schema, n int, seed uint64) *table.Table {
	u := rand.New(rand.NewPCG(seed, 0))
	age, weight, ward, died := table.NewCodes(8, n), table.NewCodes(100, n), table.NewCodes(2, n),
		table.NewCodes(2, n)
	for i := range n {
		decade := u.IntN(8)
		age.Set(i, uint16(decade))
		weight.Set(i, uint16(u.IntN(100)))
		ward.Set(i, uint16(u.IntN(2)))
		if u.IntN(12) < decade {
			died.Set(i, 1)
		}
	}
	t, err := table.FromColumns(s, []table.Codes{age, weight, ward, died}, nil)
	if err != nil {
		panic(err)
	}
	return t
}

// A synthetic table is compared with the table it was made from and with a
// holdout. Here all three are drawn alike.
func Example() {
	s := patients()
	train, holdout, synthetic := draw(s, 1000, 1), draw(s, 1000, 2), draw(s, 1000, 3)

	marginals, _ := eval.MarginalError(train, synthetic, 1)
	_, shapes, _ := eval.ColumnShapes(train, synthetic)
	task := eval.Task{Label: "died", Positive: 1}
	onSynthetic, _ := eval.TSTR(synthetic, holdout, task)
	onReal, _ := eval.TRTR(train, holdout, task)
	rate, _ := eval.RareClassRate(synthetic, "died", 1, .95)
	fmt.Printf("one-way error %.3f, column shapes %.3f\n", marginals, shapes)
	fmt.Printf("AUROC %.2f, trained on real rows %.2f\n", onSynthetic.AUROC, onReal.AUROC)
	fmt.Printf("deaths %.3f (%.3f to %.3f)\n", rate.Estimate, rate.Low, rate.High)

	var points [3]*eval.Points
	for i, t := range []*table.Table{train, holdout, synthetic} {
		points[i], _ = eval.TablePoints(t, eval.Gower)
	}
	loss, _ := eval.PrivacyLoss(points[0], points[1], points[2], 0)
	copied, _ := eval.PrivacyLoss(points[0], points[1], points[0], 0)
	fmt.Printf("privacy loss %.3f, of a copy %.3f\n", loss.Loss, copied.Loss)
	// Output:
	// one-way error 0.053, column shapes 0.977
	// AUROC 0.75, trained on real rows 0.74
	// deaths 0.277 (0.250 to 0.306)
	// privacy loss -0.002, of a copy 0.322
}

func ExampleAUROC() {
	scores := []float64{.1, .4, .35, .8}
	labels := []bool{false, false, true, true}
	auroc, _ := eval.AUROC(scores, labels)
	precision, _ := eval.AveragePrecision(scores, labels)
	fmt.Printf("AUROC %.2f, average precision %.2f\n", auroc, precision)
	// Output: AUROC 0.75, average precision 0.83
}

func ExampleNNAA() {
	s := patients()
	real, _ := eval.TablePoints(draw(s, 100, 4), eval.Euclidean)
	other, _ := eval.TablePoints(draw(s, 100, 5), eval.Euclidean)
	copied, _ := eval.NNAA(real, real, 0)
	fresh, _ := eval.NNAA(real, other, 0)
	fmt.Printf("a copy: %.2f, other rows: %.2f\n", copied.Mean, fresh.Mean)
	// Output: a copy: 0.02, other rows: 0.40
}

func ExampleClosest() {
	s := patients()
	train, _ := eval.TablePoints(draw(s, 100, 4), eval.Gower)
	holdout, _ := eval.TablePoints(draw(s, 100, 5), eval.Gower)
	synthetic, _ := eval.TablePoints(draw(s, 100, 6), eval.Gower)
	copies, _ := eval.Closest(train, holdout, train, 0)
	fresh, _ := eval.Closest(train, holdout, synthetic, 0)
	fmt.Printf("copies closer to the training table: %.2f\n", copies.CloserToTrain)
	fmt.Printf("new rows closer to the training table: %.2f\n", fresh.CloserToTrain)
	// Output:
	// copies closer to the training table: 0.97
	// new rows closer to the training table: 0.56
}

func ExamplePMSE() {
	s := patients()
	r, _ := eval.PMSE(draw(s, 1000, 1), draw(s, 1000, 2))
	fmt.Printf("pMSE %.5f, by chance %.5f\n", r.PMSE, r.Expected)
	// Output: pMSE 0.01003, by chance 0.00675
}

func ExampleBootstrap() {
	x := []float64{2, 3, 5, 7, 11, 13, 17, 19}
	mean, _ := eval.Bootstrap(len(x), eval.BootstrapOptions{Seed: 1}, func(times []uint32) float64 {
		sum := 0.0
		for i, k := range times {
			sum += float64(k) * x[i]
		}
		return sum / float64(len(x))
	})
	fmt.Printf("%.2f, from %.2f to %.2f\n", mean.Estimate, mean.Low, mean.High)
	// Output: 9.62, from 5.75 to 13.75
}

func ExampleTask_Train() {
	s := patients()
	train, test := draw(s, 2000, 1), draw(s, 1000, 2)
	model, _ := eval.Task{Label: "died", Positive: 1, Learner: eval.GradientBoosting}.Train(train)
	scores, _ := model.Scores(test)
	labels := make([]bool, test.Rows())
	for i := range labels {
		labels[i] = test.Column(3).At(i) == 1
	}
	auroc, _ := eval.AUROC(scores, labels)
	fmt.Printf("AUROC %.2f\n", auroc)
	// Output: AUROC 0.73
}

func ExampleMetrics() {
	for _, m := range eval.Metrics()[:2] {
		fmt.Printf("%s, %s, goal %s\n", m.Name, m.Range, m.Goal)
	}
	// Output:
	// Validity, 0 to 1, goal 1
	// MovedShare, 0 to 1, goal 0
}
