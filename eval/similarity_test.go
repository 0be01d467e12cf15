package eval

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// similaritySchema has a category, a number of ten bins and a number of four that may be missing.
func similaritySchema(t testing.TB) *schema.Schema {
	return schemaOf(t, category("colour", 3), number("age", 10), optional(number("weight", 4)))
}

func TestColumnMetrics(t *testing.T) {
	s := similaritySchema(t)
	real := tableOf(t, s, []int{0, 0, 0}, []int{0, 1, 1}, []int{1, 9, 4}, []int{2, 9, 4})
	synthetic := tableOf(t, s, []int{0, 1, 0}, []int{0, 1, 0}, []int{0, 1, 0}, []int{1, 9, 4})
	empty := tableOf(t, s, []int{0, 0, 4})
	shapes, mean, err := ColumnShapes(real, synthetic)
	if err != nil || len(shapes) != 3 || !near(mean, (.75+.75+.5)/3, 1e-15) {
		t.Errorf("shapes %+v of mean %v, %v", shapes, mean, err)
	}
	for i, want := range []ColumnShape{
		{"colour", "TVComplement", 1 - (.25+0+.25)/2, 1 - (.25+0+.25)/2, 1, 0},
		{"age", "KSComplement", 1 - .25, 1 - (.25+.5+.25)/2, 1, 0},
		{"weight", "KSComplement", 1 - .5, 1 - .5, .75, 0}, // missing left out
	} {
		got := shapes[i]
		if got.Column != want.Column || got.Metric != want.Metric || got.Missing != want.Missing ||
			!near(got.Score, want.Score, 1e-15) || !near(got.TV, want.TV, 1e-15) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	same, mean, err := ColumnShapes(real, real)
	if err != nil || mean != 1 || same[1].TV != 1 || same[2].Missing != 1 {
		t.Errorf("a table against itself: %+v of mean %v, %v", same, mean, err)
	}
	if shapes, _, err := ColumnShapes(real, empty); err != nil || shapes[2].Score != 0 ||
		!math.IsNaN(shapes[2].TV) {
		t.Errorf("shapes %+v, %v against a column of missing cells", shapes, err)
	}
	if shapes, _, err := ColumnShapes(empty, empty); err != nil || shapes[2].Score != 1 {
		t.Errorf("shapes %+v, %v of missing cells on both sides", shapes, err)
	}
}

func TestPairMetrics(t *testing.T) {
	s := similaritySchema(t)
	up := tableOf(t, s, []int{0, 0, 0}, []int{1, 1, 1}, []int{2, 2, 2}, []int{0, 9, 4})
	down := tableOf(t, s, []int{0, 0, 2}, []int{1, 1, 1}, []int{2, 2, 0}, []int{0, 9, 4})
	flat := tableOf(t, s, []int{0, 3, 2}, []int{1, 3, 1})
	trends, mean, err := ColumnPairTrends(up, down)
	if err != nil || len(trends) != 3 || !near(mean, (1+.5+0)/3, 1e-12) {
		t.Fatalf("trends %+v of mean %v, %v", trends, mean, err)
	}
	if trends[2].Metric != "CorrelationSimilarity" || trends[0].Metric != "ContingencySimilarity" ||
		trends[1].Second != "weight" {
		t.Errorf("trends %+v", trends)
	}
	for i, want := range []float64{1, .5, 0} { // the same contingency, another, opposite correlation
		if !near(trends[i].Score, want, 1e-12) {
			t.Errorf("%+v, want a score of %v", trends[i], want)
		}
	}
	if same, mean, err := ColumnPairTrends(up, up); err != nil || mean != 1 {
		t.Errorf("a table against itself: %+v of mean %v, %v", same, mean, err)
	}
	if trends, _, err := ColumnPairTrends(up, flat); err != nil ||
		trends[2].Metric != "ContingencySimilarity" {
		t.Errorf("trends %+v, %v where a column has no spread", trends, err)
	}
	if _, _, err := ColumnPairTrends(tableOf(t, schemaOf(t, category("a", 2)), []int{0}),
		tableOf(t, schemaOf(t, category("a", 2)), []int{1})); !errors.Is(err, ErrTables) {
		t.Errorf("error %v for one column, want %v", err, ErrTables)
	}
}

// TestMarginalsByDefinition compares with shares counted in a map of rows, by counting in arrays
// and by groups.
func TestMarginalsByDefinition(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 1))
	s := schemaOf(t, category("a", 3), number("b", 4), optional(category("c", 2)),
		category("d", 300))
	a, b := uniformTable(t, s, 150, u), uniformTable(t, s, 90, u)
	for k := 1; k <= 4; k++ {
		all := stattest.Must(marginalDistances(a, b, k))
		if want := []int{0, 4, 6, 4, 1}[k]; len(all) != want {
			t.Fatalf("%d sets of %d columns, want %d", len(all), k, want)
		}
		sum := 0.0
		for _, m := range all {
			share := map[string]float64{}
			for i := range a.Rows() {
				share[codesOf(a, i, m.Columns)] += 1. / 150
			}
			for i := range b.Rows() {
				share[codesOf(b, i, m.Columns)] -= 1. / 90
			}
			want := 0.0
			for _, d := range share {
				want += math.Abs(d) / 2
			}
			if !near(m.TV, want, 1e-12) {
				t.Errorf("columns %v: %v, want %v", m.Columns, m.TV, want)
			}
			sum += want
		}
		if got, err := MarginalError(a, b, k); err != nil ||
			!near(got, sum/float64(len(all)), 1e-12) {
			t.Errorf("%d-way error %v, %v, want %v", k, got, err, sum/float64(len(all)))
		}
	}
	wide := schemaOf(t, category("a", 3000), category("b", 3000), category("c", 2))
	if got, err := MarginalError(tableOf(t, wide, []int{0, 2999, 0}, []int{1, 0, 1}),
		tableOf(t, wide, []int{0, 2999, 1}), 3); err != nil || got != 1 {
		t.Errorf("error %v, %v of a marginal too wide to count in an array, want 1", got, err)
	}
	for _, k := range []int{0, -1, 5} {
		stattest.Wraps(t, stattest.Err(MarginalError(a, b, k)), ErrTables, "k = %d", k)
	}
}

func codesOf(t *table.Table, row int, cols []int) string {
	text := ""
	for _, c := range cols {
		text += fmt.Sprint(t.Column(c).At(row), ",")
	}
	return text
}

// TestSchemasMayDifferInPolicy: a synthetic file may be read with another unit, policy or missing
// token.
func TestSchemasMayDifferInPolicy(t *testing.T) {
	a := similaritySchema(t)
	b := similaritySchema(t)
	b.Columns[1].OnInvalid, b.Columns[2].Missing = schema.Clamp, []string{"NA"}
	row := []int{0, 3, 4}
	if got, err := MarginalError(tableOf(t, a, row), tableOf(t, b, row), 2); err != nil ||
		got != 0 {
		t.Errorf("error %v, %v, want 0", got, err)
	}
}
