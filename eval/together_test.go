package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestRulesKept: of orders and bills the rules of each family are found in the real rows, and each
// has its share of the synthetic ones; no rule holds that holds in 97 % of the real rows.
func TestRulesKept(t *testing.T) {
	s := stattest.Must(schema.Parse([]byte(`decoy: 1
columns:
  - {name: ordered, kind: date, min: 2020-01-01, max: 2022-12-31}
  - {name: shipped, kind: date, min: 2020-01-01, max: 2022-12-31}
  - {name: wait, kind: integer, min: 0, max: 99}
  - {name: quantity, kind: integer, min: 1, max: 9}
  - {name: price, kind: real, min: 0, max: 100, decimals: 2}
  - {name: amount, kind: real, min: 0, max: 1000, decimals: 2}
  - {name: fee, kind: real, min: 0, max: 20, decimals: 2, missing: [""]}
  - {name: net, kind: real, min: 0, max: 1000, decimals: 2}
  - {name: total, kind: sum, of: [amount, fee]}
  - {name: rate, kind: ratio, of: [amount, quantity], decimals: 2}
`)))
	names := []string{"ordered", "shipped", "wait", "quantity", "price", "amount", "fee", "net",
		"total", "rate"}
	// rows in which the k-th cell is wrong in a share of them, but for one rule that is no rule
	of := func(wrong map[string]float64) *Values {
		u := rand.New(rand.NewPCG(5, 6))
		return stattest.Must(NewValues(s, names, func(yield func([]string) bool) {
			for i := range 4000 {
				bad := func(name string) float64 { // a tenth off, or so many days
					if float64(i%1000) < 1000*wrong[name] {
						return 1
					}
					return 0
				}
				day, wait := 1+u.IntN(20), u.IntN(8)
				q, price, fee := 1+u.IntN(9), 1+float64(u.IntN(9000))/100, 1+float64(u.IntN(1900))/100
				amount := float64(q) * price
				feeText := fmt.Sprintf("%.2f", fee)
				if i%50 == 7 {
					feeText = ""
				}
				total := fmt.Sprintf("%.2f", amount+fee+bad("total"))
				if feeText == "" {
					total = ""
				}
				yield([]string{fmt.Sprintf("2021-01-%02d", day),
					fmt.Sprintf("2021-01-%02d", day+wait), fmt.Sprint(wait + int(bad("wait"))), fmt.Sprint(q),
					fmt.Sprintf("%.2f", price), fmt.Sprintf("%.2f", amount+bad("amount")), feeText,
					fmt.Sprintf("%.2f", amount+bad("net")), total, fmt.Sprintf("%.2f", price)})
			}
		}))
	}
	real := of(map[string]float64{"net": .03})
	for name, want := range map[string]float64{"": 1, "wait": .9, "amount": .95, "total": .8} {
		got := stattest.Must(RulesKept(real, of(map[string]float64{name: 1 - want})))
		shares := map[string]float64{}
		for _, r := range got {
			shares[r.Family+" "+r.Column] = float64(r.Synthetic)
			if r.Real < .99 {
				t.Errorf("%v is no rule", r)
			}
		}
		for _, rule := range []string{"order shipped", "difference wait", "product amount", "sum total",
			"ratio rate"} {
			least := 1.
			if name != "" && rule[len(rule)-len(name):] == name {
				least = want
			}
			if got, ok := shares[rule]; !ok || math.Abs(got-least) > .06 && name != "amount" ||
				name == "" && got < 1 {
				t.Errorf("broken %q: %s is kept by %v (%v)", name, rule, got, ok)
			}
		}
		if _, ok := shares["copy net"]; ok {
			t.Error("what holds in 97 % of the rows is a rule")
		}
	}
	// what the schema keeps is told of, though a third of the real rows break it
	loose := of(map[string]float64{"total": .29})
	at := func(list []Together, column string) (out []Together) {
		for _, r := range list {
			if r.Column == column && r.Family == "sum" {
				out = append(out, r)
			}
		}
		return out
	}
	if got := at(stattest.Must(RulesKept(loose, real)), "total"); len(got) != 1 || !got[0].Declared ||
		math.Abs(float64(got[0].Real)-.71) > .02 || got[0].Synthetic != 1 {
		t.Errorf("a rule of the schema that real rows break: %+v", got)
	}
	got := stattest.Must(RulesKept(real, of(map[string]float64{"wait": .1})))
	if got[0].Column != "wait" {
		t.Errorf("the worst is %+v", got[0])
	}
}
