package infer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/text"
)

// bills writes n rows of bills, of which all or none of the relations hold.
func bills(t *testing.T, n int, related bool) (path string, names []string) {
	u := rand.New(rand.NewPCG(4, 7))
	var b strings.Builder
	b.WriteString("id,sent,paid,wait,quantity,price,amount,fee,total,charged\n")
	start := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)
	day := func() time.Time { return start.AddDate(0, 0, u.IntN(700)) }
	for i := range n {
		sent, wait := day(), int(u.ExpFloat64()*12)
		q, price, fee := 1+u.IntN(9), 1+math.Floor(u.ExpFloat64()*4000)/100, float64(u.IntN(2000))/100
		paid, amount := sent.AddDate(0, 0, wait), float64(q)*price
		total, charged := amount+fee, amount
		if !related {
			paid, wait = day(), u.IntN(40)
			amount, total, charged = u.ExpFloat64()*200, u.ExpFloat64()*210, u.ExpFloat64()*200
		}
		fmt.Fprintf(&b, "%d,%s,%s,%d,%d,%.2f,%.2f,%.2f,%.2f,%.2f\n", i, sent.Format("2006-01-02"),
			paid.Format("2006-01-02"), wait, q, price, amount, fee, total, charged)
	}
	path = filepath.Join(t.TempDir(), "bills.csv")
	check(t, os.WriteFile(path, []byte(b.String()), 0o600))
	head, _, _ := strings.Cut(b.String(), "\n")
	return path, strings.Split(head, ",")
}

// kept are the rules in a schema, in words.
func kept(s *schema.Schema) (out []string) {
	for _, m := range s.Made {
		out = append(out, m.String())
	}
	for _, c := range s.Columns {
		if c.After != "" {
			out = append(out, c.Name+" is after "+c.After)
		}
	}
	return out
}

// TestRules: what always holds in 20,000 rows is found at ε = 5, where the noise of a share is
// .003, and kept; a column follows from others that follow themselves. Nothing is found where
// nothing holds. The schema file says each rule, its share, and the column without it.
func TestRules(t *testing.T) {
	b := accountant.Budget{Epsilon: 5, Delta: 1e-9}
	path, names := bills(t, 20_000, true)
	r, _, err := inferCSV(t, path, text.Options{Names: names}, b)
	check(t, err)
	s := r.Schema()
	got := kept(s)
	for _, either := range [][]string{{"paid is after sent"},
		{"wait is paid less sent, in days"},
		// or solved for another column, of which the rest follows
		{"amount is the product of quantity, price", "amount is a copy of charged",
			"amount is total less fee"},
		{"charged is a copy of amount", "charged is the product of quantity, price",
			"charged is total less fee"},
		{"total is the sum of amount, fee", "total is the sum of fee, charged"}} {
		if !slices.ContainsFunc(either, func(rule string) bool { return slices.Contains(got, rule) }) {
			t.Errorf("none of %q among %q", either, got)
		}
	}
	if len(got) != 5 {
		t.Errorf("kept: %q, want five", got)
	}
	for _, rule := range r.Rules {
		if rule.Kept && !(math.Abs(rule.Share-1) < 6*rule.Noise && rule.Noise < .01) {
			t.Errorf("%v: share %v, noise %v", rule, rule.Share, rule.Noise)
		}
	}
	yaml := string(stattest.Must(r.YAML()))
	again, err := schema.Parse([]byte(yaml))
	check(t, err)
	if again.Fingerprint() != s.Fingerprint() {
		t.Error("the file is of another schema")
	}
	for _, want := range []string{"# wait is paid less sent, in days, in ",
		"# Without this rule it is:\n  #   - name: wait\n  #     kind: integer\n"} {
		if !strings.Contains(yaml, want) {
			t.Errorf("the file does not say %q", want)
		}
	}
	ms, err := r.Measurements()
	check(t, err)
	sizes := s.Sizes()
	for _, m := range ms {
		if at := m.Cols[0]; m.Groups != nil && len(m.Groups[0]) != sizes[at] ||
			m.Groups == nil && len(m.Counts) != sizes[at] {
			t.Errorf("a measurement of column %q has another size", s.Columns[at].Name)
		}
	}

	path, names = bills(t, 20_000, false)
	r, _, err = inferCSV(t, path, text.Options{Names: names}, b)
	check(t, err)
	if got := kept(r.Schema()); got != nil {
		t.Errorf("kept where nothing holds: %q", got)
	}
}

// TestRulesOfFewRows: of 60 rows nothing is asked at ε = 1, so nothing is kept.
func TestRulesOfFewRows(t *testing.T) {
	path, names := bills(t, 60, true)
	tab := stattest.Must(text.File(path, text.Options{Names: names}))
	r, s, err := Infer(t.Context(), tab, Inference{}, Run{Options: privacy.Options{
		Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}}})
	if err != nil { // not a column was seen
		return
	}
	if got := kept(r.Schema()); got != nil {
		t.Errorf("kept: %q", got)
	}
	for _, e := range s.Ledger().Entries {
		if strings.Contains(e.Label, "relations") {
			t.Errorf("asked: %v", e.Label)
		}
	}
}

// TestTargetIsNotMade: a column that is to be predicted stays one that a model has.
func TestTargetIsNotMade(t *testing.T) {
	path, names := bills(t, 20_000, true)
	tab := stattest.Must(text.File(path, text.Options{Names: names}))
	r, _, err := Infer(t.Context(), tab, Inference{Target: "total"}, Run{Options: privacy.Options{
		Budget: accountant.Budget{Epsilon: 5, Delta: 1e-9}}})
	check(t, err)
	if r.Schema().Index("total") < 0 {
		t.Error("the target is made")
	}
}

// TestRulesShare: both questions together take a twentieth of Mu², and with a schema that may take
// all of it no more than that in all.
func TestRulesShare(t *testing.T) {
	nb := privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1}
	p := stattest.Must(PlanInference(10, nb, one))
	square := func(sigma float64, n int) float64 { return float64(n) / (sigma * sigma) }
	rules := square(p.noiseOf(rulesShare*scoutPart, 90), 90) +
		square(p.noiseOf(rulesShare*(1-scoutPart), 14), 14)
	if got := rules / (p.Mu * p.Mu); math.Abs(got-rulesShare) > 1e-6 {
		t.Errorf("rules take %v of the budget, want %v", got, rulesShare)
	}
	others := square(p.sigma(1, 10), 10) / (p.Mu * p.Mu)
	if got := others + rulesShare; got > 1 || got < .999 {
		t.Errorf("all together take %v", got)
	}
}

// receipts writes n rows of sales, with money as people write it. The relations hold in all rows
// but a share of them, which is another one for each relation.
func receipts(t *testing.T, n int, broken float64) (path string, names []string) {
	u := rand.New(rand.NewPCG(5, 8))
	var b strings.Builder
	b.WriteString("n;price;amount;rebate;tax;total;cost;profit;credit;balance\n")
	prices := []float64{5, 10, 20, 9.99, 15, 30, 2.49, 40}
	part := func(from, to float64) float64 { return from + u.Float64()*(to-from) }
	off := func() float64 { // what a relation is off by
		if u.Float64() < broken {
			return part(1, 30)
		}
		return 0
	}
	money := func(x float64) string {
		text := fmt.Sprintf("%.2f", math.Abs(math.Round(x*100)/100))
		whole, cents := text[:len(text)-3], text[len(text)-2:]
		if k := len(whole) - 3; k > 0 {
			whole = whole[:k] + "." + whole[k:]
		}
		return map[bool]string{true: "-"}[x < -.004] + whole + "," + cents + " €"
	}
	cents := func(x float64) float64 { return math.Round(x*100) / 100 }
	for range n {
		q, price := 1+u.IntN(60), prices[u.IntN(len(prices))]
		amount := float64(q)*price + off()
		rebate, tax := cents(amount*part(0, .3)), cents(amount*part(.05, .2))
		total := amount - rebate + tax + off()
		cost := cents(amount * part(.3, 1.3))
		credit := -cents(total * max(0, part(-.5, .6)))
		fmt.Fprintf(&b, "%d;%v;%s;%s;%s;%s;%s;%s;%s;%s\n", q, price, money(amount), money(rebate),
			money(tax), money(total), money(cost), money(amount-cost+off()), money(credit),
			money(total+credit+off()))
	}
	path = filepath.Join(t.TempDir(), "receipts.csv")
	check(t, os.WriteFile(path, []byte(b.String()), 0o600))
	head, _, _ := strings.Cut(b.String(), "\n")
	return path, strings.Split(head, ";")
}

// TestMarkedRules: sums, of which parts are taken off or negative, and products, also of a price
// that has few values, are found of numbers with marks. The columns are written as before, to the
// cent, and keep the rule exactly. What holds in 90 % of the rows is not kept.
func TestMarkedRules(t *testing.T) {
	b := accountant.Budget{Epsilon: 20, Delta: 1e-9}
	for broken, most := range map[float64]int{0: 4, .1: 0} {
		path, names := receipts(t, 20_000, broken)
		r, _, err := inferCSV(t, path, text.Options{Names: names, CSV: schema.CSV{Comma: ';'}}, b)
		check(t, err)
		got := kept(r.Schema())
		if len(got) != most {
			t.Errorf("%v are broken: kept %q, want %d", broken, got, most)
		}
		if most == 0 {
			continue
		}
		sets := map[string]bool{} // of columns: a sum may be solved for another one
		for _, m := range r.Schema().Made {
			sets[strings.Join(slices.Sorted(slices.Values(append(m.Operands(), m.Name))), " ")] = true
		}
		for _, want := range []string{"amount n price", "amount rebate tax total", "amount cost profit",
			"balance credit total"} {
			if !sets[want] {
				t.Errorf("%q is not among %q", want, got)
			}
		}
		for _, m := range r.Schema().Made {
			if f := m.Format; f != "1.234,5 €" && f != "1234,5 €" && f != "" {
				t.Errorf("%v has the format %q", m, f)
			}
		}
		c := r.column("price").Found
		if c.Kind.Ordered() {
			t.Errorf("a price of eight values is of kind %v, and the test is about categories", c.Kind)
		}
	}
}
