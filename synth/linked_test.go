package synth

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/linked"
)

const linkedSchema = `decoy: 1
unit: id
tables:
  - name: patients
    columns:
      - {name: sex, kind: categorical, categories: [f, m]}
      - {name: age, kind: integer, min: 0, max: 99, bins: 5}
  - name: visits
    parent: patients
    key: id
    order: {by: day, rows: 6}
    remember: [ward]
    columns:
      - {name: ward, kind: categorical, categories: [a, b, c]}
      - {name: day, kind: date, min: 2020-01-01, max: 2020-12-31}
`

// linkedFiles are 2,000 patients with 0 to 5 visits each, whose ward is a copy of the one before
// but in one visit of ten.
func linkedFiles(t testing.TB) *privacy.Rows {
	t.Helper()
	l := stattest.Must(schema.ParseLinked([]byte(linkedSchema)))
	patients, visits := "id,sex,age\n", "id,ward,day\n"
	for i := range 2000 {
		patients += fmt.Sprintf("%d,%s,%d\n", i, "fm"[i%2:i%2+1], i*7%100)
		for k := range i % 6 {
			ward := (i/2 + i%2*(k/5) + (i*k/10)%10/9) % 3
			visits += fmt.Sprintf("%d,%s,2020-%02d-%02d\n", i, "abc"[ward:ward+1], 1+2*k, 1+i%28)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"patients": patients, "visits": visits} {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return stattest.Must(linked.Files(l,
		[]string{filepath.Join(dir, "patients.csv"), filepath.Join(dir, "visits.csv")}))
}

// TestLinkedSpendsItsBudget: the views share one filter, which is nearly used up and never
// overdrawn, and the model's claim is that of the budget, with aim and mst, under both relations.
func TestLinkedSpendsItsBudget(t *testing.T) {
	rows := linkedFiles(t)
	budget := accountant.Budget{Epsilon: 2, Delta: 1e-6}
	for _, method := range []string{"aim", "mst"} {
		for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
			t.Run(fmt.Sprint(method, adj), func(t *testing.T) {
				f := stattest.Must(New(method, nil))
				m, s, err := Run(t.Context(), rows, f, RunOptions{Options: privacy.Options{
					Budget: budget, Adjacency: adj, Tool: "test"}})
				if err != nil {
					t.Fatal(err)
				}
				spent, whole := 0., stattest.Must(accountant.MuFor(budget))
				views := map[string]float64{}
				for _, e := range s.Ledger().Entries {
					if e.Event == nil {
						continue
					}
					r := accountant.NewReservation(accountant.Composition{
						{Event: accountant.GDPFilter{Mu: 10}, Count: 1}})
					if err := r.Take(*e.Event); err != nil {
						t.Fatal(err)
					}
					name, _, _ := strings.Cut(e.Label, ":")
					views[name] += 100 - r.Left().Mu2
					spent += 100 - r.Left().Mu2
				}
				if spent > whole*whole*(1+1e-6) || spent < .95*whole*whole {
					t.Errorf("%v of μ² = %v is spent", spent, whole*whole)
				}
				for name, want := range map[string]float64{"patients": rowShare, "visits": 1 - rowShare} {
					if share := views[name] / spent; math.Abs(share-want) > .03 {
						t.Errorf("%s has %v of it", name, share)
					}
				}
				if m.Claim.Epsilon != budget.Epsilon || m.Claim.Unit != "id" {
					t.Errorf("the claim is %+v", m.Claim)
				}
				ts := stattest.Must(m.Params().(*release.Linked).Draw(t.Context(), 2000, 1))
				if math.Abs(m.Rows-2000) > 300 || ts[1].Rows() < 4000 || ts[1].Rows() > 6000 {
					t.Errorf("%v patients, %d visits of 2000", m.Rows, ts[1].Rows())
				}
			})
		}
	}
}

// TestLinkedTransitions: a ward follows itself as in the table: nine times in ten.
func TestLinkedTransitions(t *testing.T) {
	rows := linkedFiles(t)
	m, _, err := Run(t.Context(), rows, stattest.Must(New("aim", nil)), RunOptions{
		Options: privacy.Options{Budget: accountant.Budget{Epsilon: 20, Delta: 1e-6}, Tool: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	visits := stattest.Must(m.Params().(*release.Linked).Draw(t.Context(), 2000, 1))[1]
	same, steps := 0., 0.
	ward := visits.Column(visits.Schema().Index("ward"))
	for row := 1; row < visits.Rows(); row++ {
		if units := visits.Units(); units[row] == units[row-1] {
			steps++
			if ward.At(row) == ward.At(row-1) {
				same++
			}
		}
	}
	if share := same / steps; share < .75 {
		t.Errorf("a ward follows itself in %v of %v steps", share, steps)
	}
}

// TestLinkedRefuses what it does not fit.
func TestLinkedRefuses(t *testing.T) {
	l := stattest.Must(schema.ParseLinked([]byte(linkedSchema)))
	budget := accountant.Budget{Epsilon: 1, Delta: 1e-6}
	nb := privacy.NeighboursOf(l.Tables[0].Schema, 0)
	for _, method := range []string{"wgan", "mwem", "bayes", "smalldb", "pategan"} {
		f := stattest.Must(New(method, nil))
		if _, err := NewPlan(f, l, nb, budget); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", method, err)
		}
	}
	aim := stattest.Must(Checked(&AIM{Target: "sex"}))
	if _, err := NewPlan(aim, l, nb, budget); !errors.Is(err, ErrConfig) {
		t.Errorf("a target: %v", err)
	}
	plain := stattest.Must(Checked(&AIM{}))
	if _, err := NewPlan(plain, l, nb, accountant.Budget{Epsilon: 1}); err == nil {
		t.Error("no delta is taken")
	}
	var _ release.Params = &release.Linked{}
	plan := stattest.Must(NewPlan(stattest.Must(Checked(&MST{})), l, nb, budget))
	noise := plan.Forecast(0).Noise
	if len(noise) != 6 || noise[3].What != "visits: one-way marginal" || noise[3].Sigma > 1000 {
		t.Errorf("the forecast is %+v", noise)
	}
	// 5 columns of a unit, and 12 of each of six rows
	if few, many := plan.Forecast(1000).MemoryBytes, plan.Forecast(2000).MemoryBytes; many-few <
		1000*(5+6*12) {
		t.Errorf("%d bytes for 1,000 units, and %d for 2,000", few, many)
	}
}

// TestHistoriesHaveRoom: of people with eight visits in ten days, none has two a day and few lose a
// visit, though a chain of gaps would often pass the last day before the last visit.
func TestHistoriesHaveRoom(t *testing.T) {
	l := stattest.Must(schema.ParseLinked([]byte(`decoy: 1
unit: id
tables:
  - name: patients
    columns: [{name: sex, kind: categorical, categories: [f, m]}]
  - name: visits
    parent: patients
    key: id
    order: {by: day, rows: 8}
    columns: [{name: day, kind: integer, min: 0, max: 9}]
`)))
	patients, visits := "id,sex\n", "id,day\n"
	for i := range 2000 {
		patients += fmt.Sprintf("%d,%s\n", i, "fm"[i%2:i%2+1])
		first, second := i%10, i/10%9 // the days without a visit
		if second >= first {
			second++
		}
		for day := range 10 {
			if day != first && day != second {
				visits += fmt.Sprintf("%d,%d\n", i, day)
			}
		}
	}
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "patients.csv"), filepath.Join(dir, "visits.csv")}
	for i, text := range []string{patients, visits} {
		if err := os.WriteFile(paths[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows := stattest.Must(linked.Files(l, paths))
	m, _, err := Run(t.Context(), rows, stattest.Must(New("aim", nil)), RunOptions{
		Options: privacy.Options{Budget: accountant.Budget{Epsilon: 20, Delta: 1e-6}, Tool: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	made := stattest.Must(m.Params().(*release.Linked).Draw(t.Context(), 1000, 1))[1]
	twice := 0
	for row := 1; row < made.Rows(); row++ {
		if units := made.Units(); units[row] == units[row-1] &&
			made.Column(0).At(row) == made.Column(0).At(row-1) {
			twice++
		}
	}
	if made.Rows() < 7500 || twice > made.Rows()/50 {
		t.Errorf("%d visits of 1000 people, %d on the day of the one before", made.Rows(), twice)
	}
}
