package stats

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// patients draws n rows in which the old die more often.
func patients(t testing.TB, n int, seed uint64, unit string) *table.Table {
	t.Helper()
	yaml, of := `decoy: 1
columns:
  - {name: age, kind: integer, min: 0, max: 99, bins: 10}
  - {name: ward, kind: categorical, categories: [north, south, west]}
  - {name: score, kind: integer, min: 0, max: 19}
  - {name: died, kind: categorical, categories: ["no", "yes"]}
`, 0
	if unit != "" {
		yaml = strings.Replace(yaml, "columns:", "unit: "+unit+"\nmax_rows_per_unit: 3\ncolumns:", 1)
		of = 2
	}
	return tableOf(yaml, n, seed, of, func(u *rand.Rand) []int {
		age := u.IntN(10)
		return []int{age, u.IntN(3), min(19, age+u.IntN(11)), when(u.IntN(30) < age)}
	})
}

var ten = accountant.Budget{Epsilon: 10, Delta: 1e-9}

func published(
	t testing.TB, private, synthetic *table.Table, o Evaluation, options privacy.Options,
) *Published {
	t.Helper()
	out, _, err := Publish(context.Background(), privacy.FromTable(private), synthetic, o,
		Run[*Published]{Options: options})
	check(t, err)
	return out
}

func (r *Published) named(t testing.TB, name, of string) estimate {
	t.Helper()
	for _, e := range r.Estimates {
		if e.Name == name && strings.Contains(e.Of, of) {
			return e
		}
	}
	t.Fatalf("no %s of %s", name, of)
	return estimate{}
}

// TestEstimatesAreRight: what is bought is what package eval computes without noise, within six
// stated standard errors (and, for the AUROC, what binning may take away).
func TestEstimatesAreRight(t *testing.T) {
	private, synthetic := patients(t, 20000, 1, ""), patients(t, 5000, 2, "")
	r := published(t, private, synthetic, Evaluation{Target: "died"}, privacy.Options{Budget: ten})
	one, _ := eval.MarginalError(private, synthetic, 1)
	two, _ := eval.MarginalError(private, synthetic, 2)
	tstr, _ := eval.TSTR(synthetic, private,
		eval.Task{Label: "died", Positive: 1})
	for _, tt := range []struct {
		name, of   string
		want, more float64
	}{
		{"Rows", "", 20000, 0}, {"MarginalError", "one", one, 0},
		{"MarginalError", "two", two, 0}, {"RareClassRate", "", tstr.Rate, 0},
		{"AUROC", "", tstr.AUROC, .01},
	} {
		got := r.named(t, tt.name, tt.of)
		if got.LeftOut != "" || !(got.StdErr > 0) ||
			math.Abs(got.Value-tt.want) > 6*got.StdErr+tt.more {
			t.Errorf("%s of %s is %v ± %v, want %v (%s)", tt.name, tt.of,
				got.Value, got.StdErr, tt.want, got.LeftOut)
		}
	}
	if e := r.named(t, "MarginalError", "two"); e.StdErr > .005 {
		t.Errorf("the marginal error is known to ± %v only", e.StdErr)
	}
}

// TestStandardErrors. Null: (noisy AUROC − AUROC without noise)/(standard error of the noise) has
// variance 1; 400 draws: the sample variance is within .65 and 1.45 but for a chance below 1e-6.
func TestStandardErrors(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	const sigma = 60.
	counts := []int64{4000, 60, 3000, 150, 2000, 300, 1000, 700, 400, 900, 100, 800}
	truth := binnedAUROC(counts, 0)
	var sum float64
	const n = 400
	for range n {
		noisy := slices.Clone(counts)
		for i := range noisy {
			noisy[i] += int64(math.Round(sigma * u.NormFloat64()))
		}
		got := binnedAUROC(noisy, sigma)
		d := (got.Value - truth.Value)
		sum += d * d / (got.StdErr*got.StdErr - truth.StdErr*truth.StdErr)
	}
	if v := sum / n; v < .65 || v > 1.45 {
		t.Errorf("the noise has %v times the stated variance", v)
	}
}

// TestAUROCOfAHistogram compares with the definition on scores with ties.
func TestAUROCOfAHistogram(t *testing.T) {
	counts := []int64{5, 1, 4, 0, 3, 3, 0, 2, 1, 6}
	var scores []float64
	var labels []bool
	for cell, n := range counts {
		for range n {
			scores, labels = append(scores, float64(cell/2)), append(labels, cell%2 == 1)
		}
	}
	want := stattest.Must(eval.AUROC(scores, labels))
	if got := binnedAUROC(counts, 0); math.Abs(got.Value-want) > 1e-12 || got.LeftOut != "" {
		t.Errorf("got %v (%s), want %v", got.Value, got.LeftOut, want)
	}
	if got := binnedAUROC(counts, 10); got.LeftOut == "" {
		t.Errorf("drowned in noise, and still %v", got.Value)
	}
}

// TestScoresAreTheModels: the numbers of the codes add up to the score of the model, but for one
// constant.
func TestScoresAreTheModels(t *testing.T) {
	synthetic, private := patients(t, 500, 5, ""), patients(t, 200, 6, "")
	label := stattest.Must(newLabel(synthetic, Evaluation{Target: "died"}))
	scores := stattest.Must(newScores(synthetic, Evaluation{Target: "died"}, label))
	model := stattest.Must(eval.Task{Label: "died", Positive: label.positive}.Train(synthetic))
	want := stattest.Must(model.Scores(private))
	of := func(r int) float64 {
		return scores.Of(func(c int) uint16 { return private.Column(c).At(r) })
	}
	for r := range want {
		if d := of(r) - want[r] - (of(0) - want[0]); math.Abs(d) > 1e-9 {
			t.Fatalf("the score of row %d is off by %v", r, d)
		}
	}
	if len(scores.Edges) < 5 || !slices.IsSorted(scores.Edges) {
		t.Errorf("edges %v", scores.Edges)
	}
}

func TestWithoutTargetAndWithUnits(t *testing.T) {
	private, synthetic := patients(t, 3000, 1, "patient"), patients(t, 1000, 2, "")
	r := published(t, private, synthetic, Evaluation{},
		privacy.Options{Budget: ten, Adjacency: accountant.ReplaceOne, Tool: "test"})
	if len(r.Estimates) != 3 || r.Unit != "patient" || r.MaxRowsPerUnit != 3 ||
		r.Adjacency != accountant.ReplaceOne {
		t.Errorf("%d estimates, unit %q of %d, %v", len(r.Estimates), r.Unit, r.MaxRowsPerUnit,
			r.Adjacency)
	}
	one := synthetic.Select(nil)
	for i := range synthetic.Rows() {
		if synthetic.Column(3).At(i) == 0 {
			one = synthetic.Select([]int{i, i, i})
			break
		}
	}
	r = published(t, private, one, Evaluation{Target: "died", Positive: "yes"},
		privacy.Options{Budget: ten})
	if e := r.named(t, "AUROC", ""); e.LeftOut == "" {
		t.Errorf("rows of one class give an AUROC of %v", e.Value)
	}
}

func TestBadOptions(t *testing.T) {
	private, synthetic := patients(t, 50, 1, ""), patients(t, 50, 2, "")
	other, _ := table.FromColumns(&schema.Schema{Columns: []schema.Column{{Name: "x",
		Kind: schema.Boolean}}}, []table.Codes{table.NewCodes(2, 9)}, nil)
	for _, tt := range []struct {
		name      string
		synthetic *table.Table
		o         Evaluation
		b         accountant.Budget
		want      error
	}{
		{"target", synthetic, Evaluation{Target: "height"}, ten, eval.ErrColumn},
		{"positive", synthetic, Evaluation{Target: "died", Positive: "perhaps"}, ten, eval.ErrColumn},
		{"positive without target", synthetic, Evaluation{Positive: "yes"}, ten, eval.ErrColumn},
		{"drop", synthetic, Evaluation{Target: "died", Drop: []string{"height"}}, ten, eval.ErrColumn},
		{"no rows", synthetic.Select(nil), Evaluation{}, ten, eval.ErrTables},
		{"other columns", other, Evaluation{}, ten, eval.ErrTables},
		{"budget", synthetic, Evaluation{}, accountant.Budget{Epsilon: -1}, accountant.ErrBudgetRange},
	} {
		ledger := ledger.NewFile(t.TempDir() + "/l")
		_, s, err := Publish(context.Background(), privacy.FromTable(private), tt.synthetic, tt.o,
			Run[*Published]{Options: privacy.Options{Budget: tt.b, Ledger: ledger}})
		if !errors.Is(err, tt.want) || s != nil {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if l, err := ledger.Read(); err != nil || len(l.Entries) != 0 {
			t.Errorf("%s: the ledger has %d entries, %v", tt.name, len(l.Entries), err)
		}
	}
}

// TestVerify: what was written is read and verified; without one of its parts it is refused.
func TestVerify(t *testing.T) {
	for _, f := range []release.File{
		published(t, patients(t, 2000, 1, ""), patients(t, 500, 2, ""), Evaluation{Target: "died"},
			privacy.Options{Budget: ten, Tool: "test"}),
		trainedOn(t, simulated(t, 500, false), Training{Target: "kind"}, privacy.Options{Budget: ten}),
		sealed(t),
	} {
		if v, err := release.Verify(f, nil); err != nil || !(v.Reserved.Epsilon <= 10 &&
			v.Reserved.Epsilon > 9) {
			t.Errorf("an honest result: %v, %+v", err, v)
		}
		var text bytes.Buffer
		check(t, release.FileWriter(f)(&text))
		stattest.Must(release.Verify(stattest.Must(Read(&text)), nil))
		honest := reflect.ValueOf(f).Elem()
		for _, field := range reflect.VisibleFields(honest.Type()) {
			forged := reflect.New(honest.Type())
			forged.Elem().Set(honest)
			part := forged.Elem().FieldByIndex(field.Index)
			if field.Anonymous || !field.IsExported() || part.IsZero() {
				continue
			}
			part.SetZero()
			_, err := release.Verify(forged.Interface().(release.File), nil)
			stattest.Wraps(t, err, release.ErrClaim, "%T without %s", f, field.Name)
		}
	}
}

// TestReadRefuses: what is no result is refused, and so are lists of empty things, which take more
// memory than their bytes.
func TestReadRefuses(t *testing.T) {
	for _, bad := range []string{"", "{}", "[]", `{"decoy_published": 2}`, `{"decoy_classifier": 2}`,
		`{"decoy_published": 1, "publishable": true, "more": 1}`, `{"decoy_validated": 1, "x": 1}`,
		`{"decoy_classifier":1,"features":[` + strings.Repeat("{},", 200_000) + "{}]}",
		`{"decoy_classifier":1,"coefficients":[` + strings.Repeat("[],", 200_000) + "[]]}",
		`{"decoy_classifier":1} {}`,
	} {
		stattest.Wraps(t, stattest.Err(Read(strings.NewReader(bad))), release.ErrFormat, "%.80s", bad)
	}
}
