package eval_test

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/eval"
)

func ExampleAveragePrecision() {
	precision, _ := eval.AveragePrecision([]float64{.1, .4, .35, .8}, []bool{false, false, true, true})
	fmt.Printf("%.2f\n", precision)
	// Output: 0.83
}

// Does the synthetic table have as many deaths as the real one?
func ExampleRareClassRate() {
	s := patients()
	real, _ := eval.RareClassRate(draw(s, 1000, 1), "died", 1, .95)
	synthetic, _ := eval.RareClassRate(draw(s, 100, 3), "died", 1, .95)
	fmt.Printf("real %.2f (%.2f to %.2f)\n", real.Estimate, real.Low, real.High)
	fmt.Printf("synthetic %.2f (%.2f to %.2f)\n", synthetic.Estimate, synthetic.Low, synthetic.High)
	// Output:
	// real 0.29 (0.26 to 0.32)
	// synthetic 0.31 (0.23 to 0.41)
}

// Columns of numbers have KSComplement, columns of categories TVComplement.
func ExampleColumnShapes() {
	s := patients()
	shapes, mean, _ := eval.ColumnShapes(draw(s, 1000, 1), draw(s, 1000, 3))
	for _, c := range shapes {
		fmt.Printf("%s: %s %.2f, missing cells %.2f\n", c.Column, c.Metric, c.Score, c.Missing)
	}
	fmt.Printf("mean %.2f\n", mean)
	// Output:
	// age: KSComplement 0.98, missing cells 1.00
	// weight: KSComplement 0.95, missing cells 1.00
	// ward: TVComplement 0.99, missing cells 1.00
	// died: TVComplement 0.99, missing cells 1.00
	// mean 0.98
}

// Pairs of numbers have CorrelationSimilarity, all others ContingencySimilarity.
func ExampleColumnPairTrends() {
	s := patients()
	trends, mean, _ := eval.ColumnPairTrends(draw(s, 1000, 1), draw(s, 1000, 3))
	for _, p := range trends[:2] {
		fmt.Printf("%s and %s: %s %.2f\n", p.First, p.Second, p.Metric, p.Score)
	}
	fmt.Printf("mean %.2f\n", mean)
	// Output:
	// age and weight: CorrelationSimilarity 0.96
	// age and ward: ContingencySimilarity 0.93
	// mean 0.89
}

// The number is AssociationKept.
func ExampleLostAssociations() {
	s := patients()
	losses, _ := eval.LostAssociations(draw(s, 1000, 1), draw(s, 1000, 3), nil)
	fmt.Printf("kept %.2f; between halves of the real table %.2f\n", losses.Kept, losses.Halves)
	// Output: kept 1.00; between halves of the real table 1.00
}

func ExampleMarginalError() {
	s := patients()
	real, synthetic := draw(s, 1000, 1), draw(s, 1000, 3)
	one, _ := eval.MarginalError(real, synthetic, 1)
	two, _ := eval.MarginalError(real, synthetic, 2)
	fmt.Printf("columns %.3f, pairs of columns %.3f\n", one, two)
	// Output: columns 0.053, pairs of columns 0.182
}

// Trained on synthetic rows, and on real ones: both are tested on the same other real rows.
func ExampleTSTR() {
	s := patients()
	task := eval.Task{Label: "died", Positive: 1}
	onSynthetic, _ := eval.TSTR(draw(s, 1000, 3), draw(s, 1000, 2), task)
	onReal, _ := eval.TRTR(draw(s, 1000, 1), draw(s, 1000, 2), task)
	fmt.Printf("AUROC %.2f, trained on real rows %.2f\n", onSynthetic.AUROC, onReal.AUROC)
	// Output: AUROC 0.75, trained on real rows 0.74
}

func ExamplePrivacyLoss() {
	s := patients()
	train, _ := eval.TablePoints(draw(s, 500, 1), eval.Gower)
	holdout, _ := eval.TablePoints(draw(s, 500, 2), eval.Gower)
	synthetic, _ := eval.TablePoints(draw(s, 500, 3), eval.Gower)
	fresh, _ := eval.PrivacyLoss(train, holdout, synthetic, 0)
	copied, _ := eval.PrivacyLoss(train, holdout, train, 0)
	fmt.Printf("other rows %.2f, a copy %.2f\n", fresh.Loss, copied.Loss)
	// Output: other rows -0.01, a copy 0.40
}

// The distances to the nearest real row (DCR), and their ratios to those to the second (NNDR).
func ExampleNearest() {
	s := patients()
	real, _ := eval.TablePoints(draw(s, 500, 1), eval.Gower)
	synthetic, _ := eval.TablePoints(draw(s, 101, 3), eval.Gower)
	first, second, _ := eval.Nearest(synthetic, real)
	ratios := make([]float64, len(first))
	for i := range first {
		ratios[i] = first[i] / second[i]
	}
	slices.Sort(first)
	slices.Sort(ratios)
	fmt.Printf("median distance %.3f, median ratio %.2f\n", first[50], ratios[50])
	// Output: median distance 0.005, median ratio 0.60
}

func ExampleIdenticalMatchShare() {
	s := patients()
	train, holdout, synthetic := draw(s, 1000, 1), draw(s, 1000, 2), draw(s, 1000, 3)
	inTrain, _ := eval.IdenticalMatchShare(train, synthetic)
	inHoldout, _ := eval.IdenticalMatchShare(holdout, synthetic)
	fmt.Printf("equal to training rows %.2f, to others %.2f\n", inTrain, inHoldout)
	// Output: equal to training rows 0.33, to others 0.32
}

func ExampleUniqueExactMatches() {
	s := patients()
	train := draw(s, 1000, 1)
	fresh, _ := eval.UniqueExactMatches(train, draw(s, 1000, 3))
	copied, _ := eval.UniqueExactMatches(train, train)
	fmt.Printf("other rows %.2f, a copy %.2f\n", fresh, copied)
	// Output: other rows 0.22, a copy 0.68
}

// Only what exceeds the holdout's share comes from the rows that the synthesizer saw.
func ExampleAttributeInference() {
	s := patients()
	train, holdout := draw(s, 500, 1), draw(s, 500, 2)
	known, _ := eval.AttributeInference(train, train, "died")
	others, _ := eval.AttributeInference(holdout, train, "died")
	fmt.Printf("from a copy: training rows %.2f, others %.2f\n", known, others)
	// Output: from a copy: training rows 0.95, others 0.64
}

// Cells are compared as the files have them, before the schema moves any.
func ExampleCompare() {
	s := patients()
	header := []string{"age", "weight", "ward", "died"}
	real, _ := eval.NewValues(s, header, slices.Values([][]string{
		{"30", "61.5", "north", "no"}, {"41", "80", "south", "no"}, {"109", "72", "west", "yes"}}))
	synthetic, _ := eval.NewValues(s, header, slices.Values([][]string{
		{"35", "70", "north", "no"}, {"44", "75", "north", "no"}}))
	fmt.Printf("rows that the schema allows: %.2f\n", eval.Validity(real))
	age, _ := eval.Compare(real, synthetic, "age")
	fmt.Printf("age: moved %.2f, mean shift %.2f, spread ratio %.2f, Wasserstein %.2f\n",
		age.Share, age.Mean, age.Spread, age.Wasserstein)
	ward, _ := eval.Compare(real, synthetic, "ward")
	fmt.Printf("ward: moved %.2f, not covered %.2f, invented %.2f\n",
		ward.Share, ward.Uncovered, ward.Invented)
	// Output:
	// rows that the schema allows: 0.67
	// age: moved 0.33, mean shift -0.48, spread ratio 0.15, Wasserstein 0.58
	// ward: moved 0.33, not covered 0.33, invented 0.00
}
