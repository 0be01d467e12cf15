package publish

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/eval"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/query"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// people draws n rows in which the old die more often.
func people(t testing.TB, n int, seed uint64, unit string) *table.Table {
	t.Helper()
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "age", Kind: schema.Integer, Min: 0, Max: 99, Bins: 10},
		{Name: "ward", Kind: schema.Categorical, Categories: []string{"north", "south", "west"}},
		{Name: "score", Kind: schema.Integer, Min: 0, Max: 19},
		{Name: "died", Kind: schema.Categorical, Categories: []string{"no", "yes"}},
	}}
	var units []uint32
	if unit != "" {
		s.Unit, s.MaxRowsPerUnit = unit, 3
		for i := range n {
			units = append(units, uint32(i/2))
		}
	}
	u := rand.New(rand.NewPCG(seed, 0))
	cols := []table.Codes{table.NewCodes(10, n), table.NewCodes(3, n), table.NewCodes(20, n),
		table.NewCodes(2, n)}
	for i := range n {
		age := u.IntN(10)
		cols[0].Set(i, uint16(age))
		cols[1].Set(i, uint16(u.IntN(3)))
		cols[2].Set(i, uint16(min(19, age+u.IntN(11))))
		if u.IntN(30) < age {
			cols[3].Set(i, 1)
		}
	}
	out, err := table.FromColumns(s, cols, units)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var ten = accountant.Budget{Epsilon: 10, Delta: 1e-9}

func run(t testing.TB, private, synthetic *table.Table, o Options, r RunOptions) *Result {
	t.Helper()
	out, _, err := Run(context.Background(), privacy.FromTable(private), synthetic, o, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (r *Result) named(t testing.TB, name, of string) Estimate {
	t.Helper()
	for _, e := range r.Estimates {
		if e.Name == name && strings.Contains(e.Of, of) {
			return e
		}
	}
	t.Fatalf("no %s of %s", name, of)
	return Estimate{}
}

// TestEstimatesAreRight: what is bought is what package eval computes without noise, within six
// stated standard errors (and, for the AUROC, what binning may take away).
func TestEstimatesAreRight(t *testing.T) {
	private, synthetic := people(t, 20000, 1, ""), people(t, 5000, 2, "")
	for _, learner := range []eval.Learner{eval.LogisticRegression, eval.GradientBoosting} {
		r := run(t, private, synthetic, Options{Target: "died", Learner: learner},
			RunOptions{Options: privacy.Options{Budget: ten}})
		one, _ := eval.MarginalError(private, synthetic, 1)
		two, _ := eval.MarginalError(private, synthetic, 2)
		tstr, _ := eval.TSTR(synthetic, private,
			eval.Task{Label: "died", Positive: 1, Learner: learner})
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
				t.Errorf("learner %d: %s of %s is %v ± %v, want %v (%s)", learner, tt.name, tt.of,
					got.Value, got.StdErr, tt.want, got.LeftOut)
			}
		}
		if e := r.named(t, "MarginalError", "two"); e.StdErr > .005 {
			t.Errorf("the marginal error is known to ± %v only", e.StdErr)
		}
	}
}

// TestStandardErrors. Null: (noisy AUROC − AUROC without noise)/(standard error of the noise) has
// variance 1; 400 draws: the sample variance is within .65 and 1.45 but for a chance below 1e-6.
func TestStandardErrors(t *testing.T) {
	u := rand.New(rand.NewPCG(3, 4))
	const sigma = 60.
	counts := []int64{4000, 60, 3000, 150, 2000, 300, 1000, 700, 400, 900, 100, 800}
	truth := auroc(counts, 0)
	var sum float64
	const n = 400
	for range n {
		noisy := slices.Clone(counts)
		for i := range noisy {
			noisy[i] += int64(math.Round(sigma * u.NormFloat64()))
		}
		got := auroc(noisy, sigma)
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
	want, err := eval.AUROC(scores, labels)
	if err != nil {
		t.Fatal(err)
	}
	if got := auroc(counts, 0); math.Abs(got.Value-want) > 1e-12 || got.LeftOut != "" {
		t.Errorf("got %v (%s), want %v", got.Value, got.LeftOut, want)
	}
	if got := auroc(counts, 10); got.LeftOut == "" {
		t.Errorf("drowned in noise, and still %v", got.Value)
	}
}

// TestCellsDependOnTheirRowOnly: the cell of a row is the same alone, in any order and beside other
// rows.
func TestCellsDependOnTheirRowOnly(t *testing.T) {
	synthetic, private := people(t, 500, 5, ""), people(t, 200, 6, "")
	for _, learner := range []eval.Learner{eval.LogisticRegression, eval.GradientBoosting} {
		label, err := newLabel(synthetic, Options{Target: "died"})
		if err != nil {
			t.Fatal(err)
		}
		scores, err := newScores(synthetic, Options{Target: "died", Learner: learner}, label)
		if err != nil {
			t.Fatal(err)
		}
		for _, cells := range []query.Rule{scores} {
			of := func(tab *table.Table) []uint32 {
				columns := make([]table.Codes, 4)
				for c := range columns {
					columns[c] = tab.Column(c)
				}
				dst := make([]uint32, tab.Rows())
				for i := range dst {
					dst[i] = 77 // whatever was there before must not matter
				}
				cells.CellsTo(dst, columns)
				return dst
			}
			all := of(private)
			backwards := make([]int, private.Rows())
			for i := range backwards {
				backwards[i] = private.Rows() - 1 - i
			}
			reversed := of(private.Select(backwards))
			for i, cell := range all {
				if int(cell) >= cells.Size() {
					t.Fatalf("%T: cell %d of %d", cells, cell, cells.Size())
				}
				if reversed[len(all)-1-i] != cell || i%20 == 0 &&
					of(private.Select([]int{i}))[0] != cell {
					t.Fatalf("%T, learner %d: the cell of row %d depends on other rows", cells,
						learner, i)
				}
			}
		}
	}
}

func TestWithoutTargetAndWithUnits(t *testing.T) {
	private, synthetic := people(t, 3000, 1, "patient"), people(t, 1000, 2, "")
	r := run(t, private, synthetic, Options{},
		RunOptions{Options: privacy.Options{Budget: ten, Adjacency: accountant.ReplaceOne, Tool: "test"}})
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
	r = run(t, private, one, Options{Target: "died", Positive: "yes"},
		RunOptions{Options: privacy.Options{Budget: ten}})
	if e := r.named(t, "AUROC", ""); e.LeftOut == "" {
		t.Errorf("rows of one class give an AUROC of %v", e.Value)
	}
}

func TestBadOptions(t *testing.T) {
	private, synthetic := people(t, 50, 1, ""), people(t, 50, 2, "")
	other, _ := table.FromColumns(&schema.Schema{Columns: []schema.Column{{Name: "x",
		Kind: schema.Boolean}}}, []table.Codes{table.NewCodes(2, 9)}, nil)
	for _, tt := range []struct {
		name      string
		synthetic *table.Table
		o         Options
		b         accountant.Budget
		want      error
	}{
		{"target", synthetic, Options{Target: "height"}, ten, eval.ErrColumn},
		{"positive", synthetic, Options{Target: "died", Positive: "perhaps"}, ten, eval.ErrColumn},
		{"positive without target", synthetic, Options{Positive: "yes"}, ten, eval.ErrColumn},
		{"drop", synthetic, Options{Target: "died", Drop: []string{"height"}}, ten, eval.ErrColumn},
		{"bins", synthetic, Options{Target: "died", Bins: 1}, ten, eval.ErrColumn},
		{"no rows", synthetic.Select(nil), Options{}, ten, eval.ErrTables},
		{"other columns", other, Options{}, ten, eval.ErrTables},
		{"budget", synthetic, Options{}, accountant.Budget{Epsilon: -1}, accountant.ErrBudgetRange},
	} {
		ledger := ledger.NewFile(t.TempDir() + "/l")
		_, s, err := Run(context.Background(), privacy.FromTable(private), tt.synthetic, tt.o,
			RunOptions{Options: privacy.Options{Budget: tt.b, Ledger: ledger}})
		if !errors.Is(err, tt.want) || s != nil {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if l, err := ledger.Read(); err != nil || len(l.Entries) != 0 {
			t.Errorf("%s: the ledger has %d entries, %v", tt.name, len(l.Entries), err)
		}
	}
}

// TestVerify: what was written is read and verified, and every forgery is refused.
func TestVerify(t *testing.T) {
	r := run(t, people(t, 2000, 1, ""), people(t, 500, 2, ""), Options{Target: "died"},
		RunOptions{Options: privacy.Options{Budget: ten, Tool: "test"}})
	var b bytes.Buffer
	if err := release.FileWriter(r)(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for name, forge := range map[string]func(*Result){
		"":                      func(*Result) {},
		"smaller epsilon":       func(r *Result) { r.Budget.Epsilon = 1 },
		"smaller delta":         func(r *Result) { r.Budget.Delta = 1e-12 },
		"adjacency":             func(r *Result) { r.Adjacency = accountant.ReplaceOne },
		"unit":                  func(r *Result) { r.Unit = "patient" },
		"schema":                func(r *Result) { r.SchemaSHA256 = "0" },
		"a charge is gone":      func(r *Result) { r.Ledger = slices.Delete(r.Ledger, 2, 3) },
		"no ledger":             func(r *Result) { r.Ledger = nil },
		"the run is not closed": func(r *Result) { r.Ledger = r.Ledger[:len(r.Ledger)-1] },
	} {
		back, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		forge(back)
		v, err := back.Verify(nil)
		if cost := v.Reserved.Epsilon; name == "" && (err != nil || !(cost <= 10 && cost > 9)) {
			t.Errorf("an honest result: %v, %+v", err, v)
		}
		if name != "" && !errors.Is(err, release.ErrClaim) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"", "{}", "[]", `{"decoy_published": 2}`,
		`{"decoy_published": 1, "publishable": true, "more": 1}`} {
		if _, err := Read(strings.NewReader(bad)); !errors.Is(err, errFormat) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzRead: no text makes Read or Verify panic.
func FuzzRead(f *testing.F) {
	r := run(f, people(f, 100, 1, ""), people(f, 100, 2, ""), Options{},
		RunOptions{Options: privacy.Options{Budget: ten}})
	var b bytes.Buffer
	release.FileWriter(r)(&b)
	f.Add(b.String())
	f.Add(`{"decoy_published": 1, "publishable": true, "ledger": [{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := Read(strings.NewReader(text)); err == nil {
			r.Verify(nil)
		}
	})
}
