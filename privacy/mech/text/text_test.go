package text

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

var long = flag.Bool("long", false, "run the long form of some tests")

// free pays for nothing.
func free() error { return nil }

// textTable is a table of one column; units may be nil. reads counts how often it is read.
func textTable(cells []string, units []uint32, k int, reads *int) *Table {
	t := &Table{names: []string{"c"}, k: k, load: func(_ context.Context, begin func() error) (
		*table.Texts, error) {
		if err := begin(); err != nil {
			return nil, err
		}
		if reads != nil {
			*reads++
		}
		c, index := table.TextColumn{}, map[string]uint32{}
		for _, cell := range cells {
			if _, ok := index[cell]; !ok {
				index[cell] = uint32(len(c.Texts))
				c.Texts = append(c.Texts, cell)
			}
			c.Cells = append(c.Cells, index[cell])
		}
		return &table.Texts{Columns: []table.TextColumn{c}, Units: units}, nil
	}}
	if units != nil {
		t.unit = "id"
	}
	return t
}

func openText(
	t testing.TB, tab *Table, adj accountant.Adjacency, plan accountant.Composition,
) *Session {
	t.Helper()
	s := stattest.Must(Open(
		context.Background(),
		tab,
		privacy.Options{
			Budget:    accountant.Budget{Epsilon: 1e12, Delta: 1e-3},
			Plan:      plan,
			Adjacency: adj,
			Method:    "test",
		},
	))
	return s
}

// neighbourTexts draws two neighbouring lists of cells; in a quarter of the pairs the unit's rows
// are all alike.
func neighbourTexts(u *rand.Rand, nb privacy.Neighbours, pool []string) (a, b []string) {
	for range u.IntN(20) {
		cell := pool[u.IntN(len(pool))]
		a, b = append(a, cell), append(b, cell)
	}
	unit := func(rows []string) []string {
		same, one := u.IntN(4) == 0, pool[u.IntN(len(pool))]
		for range nb.MaxRowsPerUnit {
			if !same {
				one = pool[u.IntN(len(pool))]
			}
			rows = append(rows, one)
		}
		return rows
	}
	if nb.Adjacency == accountant.ReplaceOne {
		a = unit(a)
	}
	return a, unit(b)
}

// exactValues is what Values counts of a column, magnitudes and then the texts of the pool, with
// noise that rounds to nothing and a threshold of one row.
func exactValues(
	t testing.TB, c table.TextColumn, m schema.Magnitudes, pool []string,
) []int64 {
	t.Helper()
	g := stattest.Must(noise.NewRoundedGaussian(tiny))
	out, frequent := values(c, m, g, 1, noise.NewSource())
	texts := make([]int64, len(pool))
	for _, f := range frequent {
		texts[slices.Index(pool, string(f.Text))] = f.Rows
	}
	return append(out, texts...)
}

// TestTextSensitivity: on neighbouring tables, under each relation, the true counts of Kinds and
// Values move by at most Δ₂, and by it: of 100 pairs, or 500 with -long.
func TestTextSensitivity(t *testing.T) {
	pairs := 100
	if *long {
		pairs = 500
	}
	u, real := rand.New(rand.NewPCG(21, 22)), schema.Magnitudes{Kind: schema.Real, PerPower: 8}
	pool := []string{"", "NA", "1", "17", "2.5", "-1e9", "true", "2001-01-01", "x", "y"}
	for _, nb := range relations {
		kinds, held := 0.0, 0.0
		for range pairs {
			a, b := neighbourTexts(u, nb, pool)
			move := func(exact func(table.TextColumn) []int64) float64 {
				var counts [2][]int64
				for i, cells := range [][]string{a, b} {
					tab, _ := textTable(cells, nil, 1, nil).load(context.Background(), free)
					counts[i] = exact(tab.Columns[0])
				}
				square := 0.0
				for i := range counts[0] {
					square += math.Pow(float64(counts[0][i]-counts[1][i]), 2)
				}
				return math.Sqrt(square)
			}
			kinds = max(kinds, move(classes))
			held = max(held, move(func(c table.TextColumn) []int64 {
				return exactValues(t, c, real, pool)
			}))
		}
		delta := 9 / nb.MeasureEvent(privacy.Marginal{}, 9).(accountant.Gaussian).NoiseMultiplier
		for name, got := range map[string]float64{"Kinds": kinds, "Values": held} {
			if got > delta*(1+1e-12) || got < delta*(1-1e-12) {
				t.Errorf("%v: %s moved by %v, the gate assumes %v", nb, name, got, delta)
			}
		}
	}
}

// TestSelectionThreshold compares the threshold with all ways in which a unit of k rows can have
// texts of its own: the probability that one is released is at most δ in each, by independence of
// the noise, and above δ in one of them at a threshold one lower (within the union bound).
func TestSelectionThreshold(t *testing.T) {
	normal := func(m, sigma float64) float64 { return math.Erfc((m-.5)/sigma/math.Sqrt2) / 2 }
	for _, k := range []int{1, 2, 3, 7} {
		for _, sigma := range []float64{.5, 3, 40, 1000} {
			for _, delta := range []float64{.1, 1e-3, 1e-9, 1e-15} {
				d := Selection{Sigma: sigma, Delta: delta}
				threshold := float64(
					SelectionThreshold(privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: k}, d),
				)
				worst := func(threshold float64) float64 {
					most := 0.0
					var split func(left, largest int, logKept float64)
					split = func(left, largest int, logKept float64) {
						most = max(most, -math.Expm1(logKept))
						for c := 1; c <= min(left, largest); c++ {
							split(left-c, c, logKept+math.Log1p(-normal(threshold-float64(c), sigma)))
						}
					}
					split(k, k, 0)
					return most
				}
				if got := worst(threshold); got > delta*(1+1e-6) {
					t.Errorf(
						"k = %d, %+v: threshold %v releases a unit's text with probability %v", k, d, threshold, got,
					)
				}
				if got := worst(threshold - 1); got < delta*.8 {
					t.Errorf(
						"k = %d, %+v: threshold %v is wasteful: one lower releases with probability %v", k, d,
						threshold, got,
					)
				}
			}
		}
	}
}

// TestSelectionReleasesLittleOfOneUnit. Null: on a table whose texts all belong to one unit of k
// rows, some text is released with probability at most δ = .05, whether the rows are all alike or
// all different; 8 000 calls each, false-alarm rate 1e-6. The calls must also show a rate above
// δ/2, so that a threshold that is too high is noticed; one that is lower by σ/2 multiplies the
// rate by 2.5.
func TestSelectionReleasesLittleOfOneUnit(t *testing.T) {
	const n = 8000
	d := Selection{Sigma: 6, Delta: .05}
	for _, nb := range relations {
		largest := int64(0)
		for _, alike := range []bool{true, false} {
			cells := make([]string, nb.MaxRowsPerUnit)
			for i := range cells {
				if !alike {
					cells[i] = fmt.Sprint(i)
				}
			}
			s := newFinder(
				t, textTable(cells, make([]uint32, len(cells)), nb.MaxRowsPerUnit, nil), nb.Adjacency,
			)
			released := int64(0)
			for range n {
				found := stattest.Must(s.frequent(0, d))
				released += int64(min(1, len(found)))
			}
			largest = max(largest, released)
			if float64(released) > n*d.Delta {
				if _, _, ok := stattest.Binomial(released, n, d.Delta); !ok {
					t.Errorf(
						"%v, alike %v: %d of %d calls released a text of the one unit, δ is %v", nb, alike, released,
						n, d.Delta,
					)
				}
			}
		}
		if _, _, ok := stattest.Binomial(largest, n, d.Delta/2); ok {
			t.Errorf("%v: at most %d of %d calls released a text: the test shows little", nb, largest, n)
		}
	}
}

// finder selects as a session does, but without one: n·δ of a test is far above what a budget may
// be.
type finder struct {
	data *table.Texts
	nb   privacy.Neighbours
	src  *noise.Source
}

func newFinder(t testing.TB, tab *Table, adj accountant.Adjacency) finder {
	t.Helper()
	data := stattest.Must(tab.load(context.Background(), free))
	return finder{data, tab.Neighbours(adj), noise.NewSource()}
}

func (f finder) frequent(column int, d Selection) (out []Found, err error) {
	g, err := noise.NewRoundedGaussian(d.Sigma)
	if err != nil {
		return nil, err
	}
	_, frequent := values(
		f.data.Columns[column], schema.Magnitudes{}, g, SelectionThreshold(f.nb, d), f.src,
	)
	for _, x := range frequent {
		out = append(out, Found{string(x.Text), x.Rows})
	}
	return out, nil
}

// TestTextNoise. Null: released − true count is round(N(0, σ²)) for Kinds, and for the magnitudes
// and the texts of Values; 20 000 draws each, false-alarm rate 1e-6; the draws must reject a σ that
// is 30 % off.
func TestTextNoise(t *testing.T) {
	const n, sigma = 20000, 4.0
	cells := slices.Repeat([]string{"17"}, 300)
	d := Selection{Sigma: sigma, Delta: 1e-6}
	tab := textTable(cells, nil, 1, nil)
	f := newFinder(t, tab, accountant.AddRemove)
	s := openText(t, tab, accountant.AddRemove, gaussian(sigma, 3*n))
	whole := schema.Magnitudes{Kind: schema.Integer, PerPower: 8}
	at, _ := whole.Of([]byte("17"))
	for name, draw := range map[string]func(i int) (int64, error){
		"Kinds": func(i int) (int64, error) {
			m, err := s.Kinds(0, sigma)
			if i%2 == 0 {
				return m[schema.ClassNamed("text")], err
			}
			return m[schema.ClassNamed("whole")] - 300, err
		},
		"Magnitudes": func(i int) (int64, error) {
			if i > n/20 { // 1300 cells each: all of them are draws, too
				return 0, nil
			}
			m, _, err := ask(s, 0, whole, Selection{Sigma: sigma})
			return m[at] - 300, err
		},
		"Texts": func(int) (int64, error) {
			got, err := f.frequent(0, d)
			if err == nil && (len(got) != 1 || got[0].Text != "17") {
				err = fmt.Errorf("found %v", got)
			}
			if err != nil {
				return 0, err
			}
			return got[0].Rows - 300, nil
		},
	} {
		draws := make([]int64, 0, n)
		for i := range n {
			if name == "Magnitudes" && len(draws) >= n {
				break
			}
			x := stattest.Must(draw(i))
			if name == "Magnitudes" && i <= n/20 {
				draws = append(draws, x)
			} else if name != "Magnitudes" {
				draws = append(draws, x)
			}
		}
		law := func(scale float64) func(int64) float64 {
			return func(x int64) float64 { return roundedNormal(x, scale) }
		}
		if !follows(draws, 14, law(sigma)) {
			t.Errorf("%s: the noise does not follow its law", name)
		}
		for _, wrong := range []float64{.7, 1.3} {
			if follows(draws, 14, law(wrong*sigma)) {
				t.Errorf("%s: %v times the right scale is accepted", name, wrong)
			}
		}
	}
}

// TestSelectionOrder: what is found is in the order of the texts, whatever the order of the rows.
func TestSelectionOrder(t *testing.T) {
	d := Selection{Sigma: 1, Delta: 1e-9}
	for _, order := range [][]string{{"b", "a", "c", "rare"}, {"rare", "c", "b", "a"},
		{"a", "c", "rare", "b"}} {
		var cells []string
		for _, text := range order {
			n := 100
			if text == "rare" {
				n = 1
			}
			cells = append(cells, slices.Repeat([]string{text}, n)...)
		}
		cells = append(cells, slices.Repeat([]string{strings.Repeat("x", maxSelected+1)}, 100)...)
		found := stattest.Must(newFinder(
			t, textTable(cells, nil, 1, nil), accountant.AddRemove,
		).frequent(0, d))
		var got []string
		for _, f := range found {
			got = append(got, f.Text)
		}
		if !slices.Equal(got, []string{"a", "b", "c"}) {
			t.Errorf("rows %v: found %v", order, got)
		}
	}
}

// TestSelectionNeedsARow: a text all of whose rows were left out when units were bounded is as
// unknown as one that never was there.
func TestSelectionNeedsARow(t *testing.T) {
	d := Selection{Sigma: 6, Delta: .4}
	tab := textTable(nil, nil, 1, nil)
	tab.load = func(_ context.Context, begin func() error) (*table.Texts, error) {
		ghost := table.TextColumn{Texts: []string{"ghost", "a"}, Cells: []uint32{1}}
		return &table.Texts{Columns: []table.TextColumn{ghost}}, begin()
	}
	s := newFinder(t, tab, accountant.AddRemove)
	for range 200 {
		found := stattest.Must(s.frequent(0, d))
		if slices.ContainsFunc(found, func(f Found) bool { return f.Text == "ghost" }) {
			t.Fatal("a text without rows was released")
		}
	}
}

// TestTextChargeBeforeReading: what is not in the plan, or not valid, reads nothing and charges
// nothing; what is, is in the ledger.
func TestTextChargeBeforeReading(t *testing.T) {
	reads := 0
	tab := textTable([]string{"1", "2"}, nil, 1, &reads)
	path := filepath.Join(t.TempDir(), "l")
	file := ledger.NewFile(path)
	d := Selection{Sigma: 5, Delta: 1e-9}
	nb := privacy.Neighbours{Adjacency: accountant.AddRemove}
	plan := append(
		accountant.Composition{{Event: nb.MeasureEvent(privacy.Marginal{}, 9), Count: 2}},
		selectionEvents(nb, d)...)
	cost := stattest.Must(pld.Epsilon(plan, 1e-8, accountant.AddRemove))
	o := privacy.Options{
		Plan:   plan,
		Ledger: file,
		Method: "schema infer",
		Budget: accountant.Budget{Epsilon: math.Nextafter(cost.Epsilon, 0), Delta: 1e-8},
	}
	if _, err := Open(context.Background(), tab, o); !errors.Is(err, accountant.ErrBudget) ||
		reads != 0 {
		t.Fatalf("one ulp too little: %v, %d reads", err, reads)
	}
	o.Budget.Epsilon = cost.Epsilon
	full := ledger.NewFile(filepath.Join(t.TempDir(), "full"))
	stattest.Check(t, ledger.SetLimit(context.Background(), full, nb.Units(""),
		ledger.Limit{Budget: accountant.Budget{Epsilon: 1e-3, Delta: 1e-3}}))
	o.Ledger = full
	if _, err := Open(context.Background(), tab, o); !errors.Is(err, accountant.ErrBudget) ||
		reads != 0 {
		t.Fatalf("beyond the ledger's limit: %v, %d reads", err, reads)
	}
	o.Ledger = file
	s, err := Open(context.Background(), tab, o)
	if err != nil || reads != 1 {
		t.Fatal(err, reads)
	}
	for name, call := range map[string]func() error{
		"other sigma": func() error { _, err := s.Kinds(0, 5.1); return err },
		"other delta": func() error {
			_, _, err := ask(s, 0, schema.Magnitudes{}, Selection{5.1, 1e-9})
			return err
		},
		"no column": func() error { _, err := s.Kinds(1, 9); return err },
		"column −1": func() error {
			_, _, err := ask(s, -1, schema.Magnitudes{}, d)
			return err
		},
		"no magnitude": func() error {
			_, _, err := ask(s, 0, schema.Magnitudes{Kind: schema.Categorical}, Selection{9, 1e-9})
			return err
		},
		"sigma NaN": func() error { _, err := s.Kinds(0, math.NaN()); return err },
		"sigma 0": func() error {
			_, _, err := ask(s, 0, schema.Magnitudes{}, Selection{0, 1e-9})
			return err
		},
		"delta 1/2": func() error {
			_, _, err := ask(s, 0, schema.Magnitudes{}, Selection{5, .5})
			return err
		},
		"nothing asked": func() error {
			_, _, err := ask(s, 0, schema.Magnitudes{}, Selection{Sigma: 5})
			return err
		},
	} {
		if call() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := len(s.Ledger().Entries); got != 2 {
		t.Errorf("refused calls left %d ledger entries, want 2", got)
	}
	stattest.Must(s.Kinds(0, 9))
	if _, _, err := ask(s, 0, schema.Magnitudes{Kind: schema.Integer, PerPower: 1},
		Selection{Sigma: 9}); err != nil {
		t.Fatal(err)
	}
	stattest.Wraps(t, stattest.Err(s.Kinds(0, 9)), privacy.ErrPlan, "a third call of two")
	stattest.Check(t, s.Finish(nil, nil))
	l := stattest.Must(file.Read())
	stattest.Passes(t, l.Verify(nil), "")
	stattest.Wraps(t, stattest.Err(s.Kinds(0, 9)), privacy.ErrClosed, "closed")
}

// TestSelectionIsChargedInFull: each half of its cost must be in the plan.
func TestSelectionIsChargedInFull(t *testing.T) {
	d := Selection{Sigma: 5, Delta: 1e-9}
	events := selectionEvents(privacy.Neighbours{Adjacency: accountant.AddRemove}, d)
	for i := range events {
		s := openText(t, textTable([]string{"a"}, nil, 1, nil), 0, events[i:i+1])
		if _, _, err := ask(s, 0, schema.Magnitudes{}, d); !errors.Is(err, privacy.ErrPlan) {
			t.Errorf("with %v alone: %v", events[i], err)
		}
	}
	s := openText(t, textTable([]string{"a"}, nil, 1, nil), 0, events)
	if _, _, err := ask(s, 0, schema.Magnitudes{}, d); err != nil {
		t.Error(err)
	}
	if runs := s.Ledger().Runs(); len(runs[0].Charged) != 2 {
		t.Errorf("charged %v", runs[0].Charged)
	}
}

// TestTextUnitsAreBounded: of a unit with many rows only k are counted.
func TestTextUnitsAreBounded(t *testing.T) {
	cells, units := slices.Repeat([]string{"a"}, 50), make([]uint32, 50)
	s := openText(
		t, textTable(append(cells, "b"), append(units, 1), 3, nil), 0,
		accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: 9}, Count: 1}},
	)
	if got := s.texts().Columns[0].Counts(); !slices.Equal(got, []int64{3, 1}) {
		t.Errorf("rows of each text %v, want 3 of the first unit and 1 of the second", got)
	}
}

func TestTextFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		stattest.Check(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	good := write("good.csv", "id,a,b\n1,x,2\n1,x,3\n2,y,4\n")
	tab, err := File(good, Options{Names: []string{"id", "a", "b"}, Unit: "id", MaxRowsPerUnit: 1})
	stattest.Check(t, err)
	s := openText(
		t, tab, 0, accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: 9}, Count: 1}},
	)
	if !slices.Equal(s.Names(), []string{"a", "b"}) || len(s.texts().Columns[0].Cells) != 2 {
		t.Errorf("names %v, %d rows", s.Names(), len(s.texts().Columns[0].Cells))
	}
	for name, o := range map[string]Options{
		"no names":       {},
		"unit alone":     {Names: []string{"id"}, Unit: "id", MaxRowsPerUnit: 1},
		"no such unit":   {Names: []string{"a"}, Unit: "id", MaxRowsPerUnit: 1},
		"unit without k": {Names: []string{"id", "a"}, Unit: "id"},
		"k without unit": {Names: []string{"id", "a"}, MaxRowsPerUnit: 2},
		"twice":          {Names: []string{"a", "a"}},
		"empty name":     {Names: []string{"a", ""}},
	} {
		_, err := File(good, o)
		if !errors.Is(err, schema.ErrInvalid) && !(name == "twice" && errors.Is(err, schema.ErrSchema)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, path := range map[string]string{
		"three":          write("three.csv", "a,b,c\n1,2,secret\n"),
		"three, no rows": write("three0.csv", "a,b,c\n"),
		"none":           filepath.Join(dir, "none.csv"),
	} {
		tab, err := File(path, Options{Names: []string{"a", "b"}})
		stattest.Check(t, err)
		file := ledger.NewFile(filepath.Join(dir, name+".ledger"))
		_, err = Open(
			context.Background(), tab, privacy.Options{Budget: wide, Plan: gaussian(9, 1), Ledger: file},
		)
		if err == nil || strings.Contains(err.Error(), "sec") {
			t.Errorf("%s: %v", name, err)
		}
		if l, err := file.Read(); err != nil || len(l.Entries) > 0 {
			t.Errorf("%s: something is reserved: %v", name, err)
		}
	}
}

// TestTextRowsAreNoErrors: a table of texts is read as one of a lenient schema is, so that no row
// ends the run, and a row that names no unit is nobody's: rows with a blank id were one unit once,
// which made one person of many.
func TestTextRowsAreNoErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		rows int
	}{
		"no rows":  {"id,a\n", 0},
		"blank id": {"id,a\n,x\n1,x\n\"\",y\n,z\n2,z\n", 2},
		"bad rows": {"id,a\n1\n1,x,x\n\xff,x\n\x00,x\n\n2,\"x\n3,\x00\n4,y\n", 3},
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		stattest.Check(t, os.WriteFile(path, []byte(tt.in), 0o600))
		o := Options{Names: []string{"id", "a"}, Unit: "id", MaxRowsPerUnit: 1}
		tab := stattest.Must(File(path, o))
		s := openText(t, tab, 0, gaussian(9, 1))
		if got := len(s.texts().Columns[0].Cells); got != tt.rows {
			t.Errorf("%s: %d rows are read, not %d", name, got, tt.rows)
		}
		as := &schema.Schema{
			Lenient:        true,
			Unit:           "id",
			MaxRowsPerUnit: 1,
			Columns:        []schema.Column{{Name: "a", Kind: schema.Boolean}},
		}
		fitted, _, err := table.Read(context.Background(), path, as, table.ReadOptions{})
		if err != nil || fitted.Rows() != tt.rows {
			t.Errorf("%s: a fit reads other rows: %v", name, err)
		}
	}
}

// TestTextPrintsNothing is TestNothingPrintsARow for texts.
func TestTextPrintsNothing(t *testing.T) {
	tab := textTable(slices.Repeat([]string{"secret"}, 9), nil, 1, nil)
	s := openText(
		t, tab, 0, accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: 9}, Count: 1}},
	)
	for _, v := range []any{tab, *tab, s, []any{s, tab}, struct{ s *Session }{s},
		struct{ t Table }{*tab}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, "secret") ||
				strings.Contains(got, "736563726574") {
				t.Errorf("%s of %T shows a cell", verb, v)
			}
		}
	}
	stattest.Fails(t, stattest.Err(tab.MarshalText()), "a table of texts can be encoded")
	stattest.Fails(t, stattest.Err(s.MarshalText()), "a session can be encoded")
}

// TestNobodyCountsTheReading: neither a caller's context nor its callbacks are called while a file
// is read: how often would tell its length.
func TestNobodyCountsTheReading(t *testing.T) {
	dir := t.TempDir()
	polls := map[int]int{}
	for _, n := range []int{10, 200000} {
		path := filepath.Join(dir, fmt.Sprint(n, ".parquet"))
		rows, err := gatetest.Parquet(n)
		stattest.Check(t, errors.Join(err, os.WriteFile(path, rows, 0o600)))
		c := &gatetest.PollCounter{Context: context.Background()}
		tab := stattest.Must(File(path, Options{Names: []string{"a", "b", "c"}}))
		s := stattest.Must(Open(c, tab, privacy.Options{Budget: wide, Plan: gaussian(5, 1)}))
		s.Finish(nil, nil)
		polls[n] = c.Asked
	}
	if polls[10] != polls[200000] {
		t.Errorf(
			"the context was asked %d times for ten rows, %d times for 200,000", polls[10], polls[200000],
		)
	}
}

// TestTextsNeedDelta: what no delta pays for is not released, however frequent it is.
func TestTextsNeedDelta(t *testing.T) {
	s := openText(t, textTable(slices.Repeat([]string{"secret"}, 99), nil, 1, nil), 0, gaussian(5, 1))
	m := schema.Magnitudes{Kind: schema.Real, PerPower: 1}
	counts, found, err := ask(s, 0, m, Selection{Sigma: 5})
	if err != nil || len(counts) != m.Len() || len(found) > 0 {
		t.Errorf("%d counts, found %v: %v", len(counts), found, err)
	}
	// beside a column whose texts are wanted, too
	c := table.TextColumn{Texts: []string{"secret"}, Cells: make([]uint32, 99)}
	if e := valuesOf(c, Question{Magnitudes: m}); len(e.others) > 0 {
		t.Errorf("%v goes on to be released", e.others)
	}
}
