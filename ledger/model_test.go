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
	used  map[string]bool
	sure  map[string]bool // reserved under a strict limit
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
		m := model{left: map[string]int{}, open: map[string]bool{}, used: map[string]bool{},
			sure: map[string]bool{}, spent: map[string]float64{}, limit: math.Inf(1)}
		es, legal, strict := []Entry{openLine()}, true, false
		for range 14 {
			run := fmt.Sprint(u.IntN(4))
			_, known := m.left[run]
			switch u.IntN(8) {
			case 0:
				m.limit = 2 + float64(u.IntN(8))
				e := limitLine(*spend(m.limit, 1e-4), RuleBasic)
				strict = u.IntN(2) == 0
				e.Strict = strict
				es = append(es, e)
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
				m.left[run], m.open[run], m.spent[run], m.sure[run] = 3, true, 2, strict
			case 4, 5, 6:
				n := 1 + u.IntN(2)
				if ok := m.open[run] && m.left[run] >= n; !ok && u.IntN(20) > 0 {
					continue
				} else if !ok {
					legal = false
				}
				es = append(es, chargeLine(run, event, n))
				m.left[run] -= n
				m.used[run] = true
			case 7:
				status := []string{StatusDone, StatusVoid}[u.IntN(2)]
				if ok := m.open[run] && !(status == StatusVoid && m.used[run]); !ok && u.IntN(20) > 0 {
					continue
				} else if !ok {
					legal = false
				}
				es = append(es, closeLine(run, status))
				m.open[run] = false
				if status == StatusVoid && !m.sure[run] {
					m.spent[run] = 0
				}
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
