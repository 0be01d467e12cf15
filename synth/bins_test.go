package synth

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"

	"github.com/decoy-dp/decoy/data/table"
)

// payroll has n rows: pay is exponential with mean 1 % of its public range, so that all but the
// first of 16 even bins are empty.
func payroll(t testing.TB, n int, share float64) *table.Table {
	t.Helper()
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "pay", Kind: schema.Real, Max: 100, BuyBins: 16, BuyShare: share,
			Missing: []string{""}},
		{Name: "sex", Kind: schema.Categorical, Categories: []string{"f", "m"}},
		{Name: "age", Kind: schema.Integer, Max: 99, BuyBins: 8, BuyShare: share},
	}}
	codecs := stattest.Must(s.Codecs())
	cols := make([]table.Codes, 3)
	for i, size := range s.Sizes() {
		cols[i] = table.NewCodes(size, n)
	}
	for r := range n {
		code, err := codecs[0].EncodeValue(schema.StoredFloat, schema.Value{
			Float: math.Min(100, -math.Log((float64(r)+.5)/float64(n))),
		})
		if r%50 == 0 {
			code, err = codecs[0].EncodeMissing()
		}
		stattest.Check(t, err)
		cols[0].Set(r, code)
		cols[1].Set(r, uint16(r%2))
		cols[2].Set(r, uint16(20+r*7%40))
	}
	tab := stattest.Must(table.FromColumns(s, cols, nil))
	return tab
}

func fitter(t testing.TB) Fitter {
	f := stattest.Must(Checked(&MST{}))
	return f
}

// TestBinsPlan: the whole is within the budget and uses nearly all of it, and the trees alone cost
// their shares.
func TestBinsPlan(t *testing.T) {
	s := payroll(t, 1, .05).Schema()
	pure := stattest.Must(Checked(&Bayes{}))
	for _, nb := range []privacy.Neighbours{
		{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1}, {Adjacency: accountant.ReplaceOne,
			MaxRowsPerUnit: 3},
	} {
		b := accountant.Budget{Epsilon: 1, Delta: 1e-9}
		for _, f := range []Fitter{fitter(t), pure} {
			p := stattest.Must(NewPlan(f, schema.One(s), nb, b))
			cost, err := p.Reserve.Epsilon(b.Delta, nb.Adjacency)
			if err != nil || cost.Epsilon > 1 || cost.Epsilon < .98 {
				t.Errorf("%s, %v: the plan costs %v: %v", f.Name(), nb, cost.Epsilon, err)
			}
			named := 0
			for _, n := range p.Forecast(0).Noise {
				if !strings.Contains(n.What, "bins of") {
					continue
				}
				named++
				tree := accountant.Composition{{Event: nb.MeasureEvent(privacy.Marginal{}, n.Sigma),
					Count: n.Count}}
				if cost, err := tree.Epsilon(b.Delta, nb.Adjacency); err != nil ||
					math.Abs(cost.Epsilon-.05) > 1e-6 {
					t.Errorf("%v: the bins of one column cost %v, want .05: %v", nb, cost.Epsilon, err)
				}
			}
			if named != 2 {
				t.Errorf("the forecast names the noise of %d trees", named)
			}
		}
		stattest.Wraps(t, stattest.Err(NewPlan(fitter(t), schema.One(s), nb,
			accountant.Budget{Epsilon: 1})), accountant.ErrBudgetRange, "delta 0")
	}
}

// TestBinsOfPureMethods: Laplace noise is planned with what the trees leave, and the run verifies
// by closed formulas.
func TestBinsOfPureMethods(t *testing.T) {
	f := stattest.Must(Checked(&Bayes{}))
	m, s, err := Run(context.Background(), privacy.FromTable(payroll(t, 5000, .2)), f,
		RunOptions{Options: privacy.Options{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}})
	stattest.Check(t, err)
	if left := s.Left(); left.Mu2 > 1e-6 || left.Steps > 0 {
		t.Errorf("%+v is left", left)
	}
	if v, err := m.Verify(nil); err != nil || v.Reserved.Epsilon > 1 {
		t.Errorf("%+v: %v", v, err)
	}
}

// TestBinsAreQuantiles: on 20 000 rows at ε = 1, a fifth of it for these bins, no bin of pay holds
// more than 2.5 times its sixteenth. Even bins would hold .998 of the rows in the first. The first
// cell of the grid alone holds 1.5 times a share; a range of the tree has a standard deviation of
// √20.3/.037 = 122 rows (ExampleTree of package marginal; μ = .037 at ε = .2), so the bound is ten
// deviations away.
func TestBinsAreQuantiles(t *testing.T) {
	tab := payroll(t, 20000, .2)
	m, s, err := Run(context.Background(), privacy.FromTable(tab), fitter(t),
		RunOptions{Options: privacy.Options{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}})
	stattest.Check(t, err)
	groups := stattest.Must(tab.Schema().Groups(m.Schema()))
	counts := make([]float64, 17)
	for r := range tab.Rows() {
		counts[groups[0][tab.Column(0).At(r)]]++
	}
	for i, n := range counts[:16] {
		if n > 20000/16*2.5 {
			t.Errorf("bin %d of pay holds %v of 20000 rows", i, n)
		}
	}
	if got := len(s.Ledger().Runs()); got != 1 {
		t.Errorf("%d runs, want one: bins and fit are one reservation", got)
	}
	if m.DeclaredYAML == "" {
		t.Fatal("the model does not carry the declared schema")
	}
	var file bytes.Buffer
	stattest.Check(t, m.Write(&file))
	back := stattest.Must(release.Read(bytes.NewReader(file.Bytes()), int64(file.Len())))
	if v, err := back.Verify(pld.Epsilon); err != nil || v.Reserved.Epsilon > 1 {
		t.Errorf("%+v: %v", v, err)
	}
	for name, forge := range map[string]func(*release.Model){
		"no declared schema": func(m *release.Model) { m.DeclaredYAML = "" },
		"not a schema":       func(m *release.Model) { m.DeclaredYAML = "decoy: 1" },
		"another share": func(m *release.Model) {
			m.DeclaredYAML = strings.Replace(m.DeclaredYAML, "share: 0.2", "share: 0.1", 1)
		},
		"another grid": func(m *release.Model) {
			m.DeclaredYAML = strings.Replace(m.DeclaredYAML, "1024", "1000", 1)
		},
		"other declared column": func(m *release.Model) {
			m.DeclaredYAML = strings.Replace(m.DeclaredYAML, "sex", "six", 1)
		},
	} {
		forged := stattest.Must(release.Read(bytes.NewReader(file.Bytes()), int64(file.Len())))
		forge(forged)
		stattest.Wraps(t, stattest.Err(forged.Verify(pld.Epsilon)), release.ErrClaim, "%s", name)
	}
}

// planner is a method that cannot go on.
type planner struct{ Fitter }

// TestAdaptive: bins that nobody asked for are bought, in one run whose ledger is one filter, by a
// method that goes on; others keep bins of equal width.
func TestAdaptive(t *testing.T) {
	s := payroll(t, 1, .2).Schema().Clone()
	for i := range s.Columns {
		s.Columns[i].BuyBins, s.Columns[i].BuyShare = 0, 0
	}
	if got := Adaptive(planner{fitter(t)}, schema.One(s)).Tables[0].Schema.Buys(); len(got) != 0 {
		t.Errorf("columns %v are bought for a method that cannot go on", got)
	}
	bought := Adaptive(fitter(t), schema.One(s)).Tables[0].Schema
	if got := bought.Buys(); !slices.Equal(got, []int{0}) { // ages have a bin each
		t.Fatalf("columns %v are bought", got)
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, "pay,sex,age")
	for r := range 20000 {
		fmt.Fprintf(&text, "%v,%s,%d\n", math.Round(-1e6*math.Log((float64(r)+.5)/20000))/1e6,
			[]string{"f", "m"}[r%2], r%100)
	}
	rows, _, err := table.ReadCSV(context.Background(), bytes.NewReader(text.Bytes()),
		int64(text.Len()), bought, table.ReadOptions{})
	stattest.Check(t, err)
	m, session, err := Run(context.Background(), privacy.FromTable(rows), fitter(t),
		RunOptions{Options: privacy.Options{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}})
	stattest.Check(t, err)
	if left := session.Left().Mu2; left > 1e-6 {
		t.Errorf("μ² of %v is left", left)
	}
	if v, err := m.Verify(pld.Epsilon); err != nil || v.Reserved.Epsilon > 1 {
		t.Errorf("%+v: %v", v, err)
	}
	// Of 33 edges from 0 to 100 more than half are among the smallest tenth, which has all rows.
	edges := m.Schema().Columns[0].Edges
	if low := slices.IndexFunc(edges, func(x float64) bool { return x > 10 }); low < 12 {
		t.Errorf("edges %v", edges)
	}
}
