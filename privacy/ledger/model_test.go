package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// model is a ledger as plain arithmetic: what Verify must accept.
type model struct {
	left  map[string]int // charges left, by run
	open  map[string]bool
	spent map[string]float64
	limit float64
}

// Random histories, half of them with a forbidden step: Verify accepts exactly those that the model
// allows.
func TestVerifyAgainstModel(t *testing.T) {
	u := rand.New(rand.NewPCG(13, 14))
	event := gaussian(10)
	refused := 0
	for trial := range 400 {
		m := model{left: map[string]int{}, open: map[string]bool{},
			spent: map[string]float64{}, limit: math.Inf(1)}
		es, legal := []Entry{openLine()}, true
		for range 14 {
			run := fmt.Sprint(u.IntN(4))
			_, known := m.left[run]
			switch u.IntN(8) {
			case 0:
				m.limit = 2 + float64(u.IntN(8))
				es = append(es, limitLine(*spend(m.limit, 1e-4), RuleBasic))
			case 1, 2, 3:
				sum := 2.0
				for _, s := range m.spent {
					sum += s
				}
				if ok := !known && sum <= m.limit; !ok && u.IntN(10) > 0 {
					continue
				} else if !ok {
					legal = false
				}
				e := reserveLine(run)
				e.Budget, e.Composition = spend(2, 1e-9), plan(charge(event, 2), charge(event, 1))
				es = append(es, e)
				m.left[run], m.open[run], m.spent[run] = 3, true, 2
			case 4, 5, 6:
				n := 1 + u.IntN(2)
				if ok := m.open[run] && m.left[run] >= n; !ok && u.IntN(20) > 0 {
					continue
				} else if !ok {
					legal = false
				}
				es = append(es, chargeLine(run, event, n))
				m.left[run] -= n
			case 7:
				if ok := m.open[run]; !ok && u.IntN(20) > 0 {
					continue
				} else if !ok {
					legal = false
				}
				es = append(es, closeLine(run, []string{StatusDone, StatusFailed}[u.IntN(2)]))
				m.open[run] = false
			}
			if !legal {
				break
			}
		}
		l := seal(es)
		if err := l.Verify(nil); (err == nil) != legal {
			t.Fatalf("trial %d: Verify says %v, the model %v:\n%s", trial, err, legal, lines(t, l))
		}
		if !legal {
			refused++
		}
	}
	if refused < 40 || refused > 360 {
		t.Errorf("%d of 400 histories are forbidden: the test has lost its balance", refused)
	}
}
