package threshold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

func rounds(epsilon float64, n int) accountant.Composition {
	return accountant.Composition{{Event: accountant.Approx{Epsilon: epsilon}, Count: n}}
}

// exceeds is P(X ≥ d) of the difference X of two independent Laplace variables of scales a ≠ b: for
// d ≥ 0, (a²·exp(−d/a) − b²·exp(−d/b)) / (2(a² − b²)).
func exceeds(d, a, b float64) float64 {
	if d < 0 {
		return 1 - exceeds(-d, a, b)
	}
	return (a*a*math.Exp(-d/a) - b*b*math.Exp(-d/b)) / (2 * (a*a - b*b))
}

// TestThresholdFollowsItsLaw. Null: P(above) is that of Lap(4k/ε) − Lap(2k/ε) ≥ threshold − |count
// − guess|; 6 000 rounds a case, false-alarm rate 1e-6 each. Scales 30 % off must be rejected by
// every case in which they matter.
func TestThresholdFollowsItsLaw(t *testing.T) {
	const n, epsilon = 6000, .5
	tab := testTable(t, testSchema("", 0), someRows(60), nil) // the first code of 30 rows is 1
	for _, tt := range []struct {
		nb               privacy.Neighbours
		threshold, guess float64
	}{
		{relations[0], 10, 30},    // 10 below
		{relations[0], 10, 55.25}, // 15.25 above
		{relations[0], 0, 20},     // a guess below the count
		{relations[1], 60, 30},    // units of 4 rows
		{relations[2], 10, 30},
	} {
		tab := tab
		if k := tt.nb.MaxRowsPerUnit; k > 1 { // the same rows, one a unit
			units := make([]uint32, tab.Rows())
			for i := range units {
				units[i] = uint32(i)
			}
			tab = testTable(t, testSchema("u", k), someRows(60), units)
		}
		s := openAs(t, tab, tt.nb.Adjacency, rounds(epsilon, n))
		var above int64
		for range n {
			r := stattest.Must(Open(s, tt.threshold, epsilon))
			yes := stattest.Must(r.Ask(firstIs1, tt.guess))
			if yes {
				above++
			}
		}
		d := tt.threshold - math.Abs(30-tt.guess)
		p := func(scale float64) float64 {
			return exceeds(
				d, scale*4*float64(tt.nb.MaxRowsPerUnit)/epsilon,
				scale*2*float64(tt.nb.MaxRowsPerUnit)/epsilon,
			)
		}
		if _, _, ok := stattest.Binomial(above, n, p(1)); !ok {
			t.Errorf("%+v: above %d of %d times, want %v", tt, above, n, p(1))
		}
		for _, wrong := range []float64{.7, 1.3} {
			if _, _, ok := stattest.Binomial(above, n, p(wrong)); ok {
				t.Errorf("%+v: %v times the noise is accepted", tt, wrong)
			}
		}
	}
}

// TestThresholdIsDrawnOnce. Null: with one noisy threshold R a round, P(two questions at the
// threshold are both below) = E F(R)² = 7/24, F being the law of Lap(4); it would be 1/4 with a
// fresh one for each. 13 000 rounds.
func TestThresholdIsDrawnOnce(t *testing.T) {
	const n = 13000
	s := open(t, testTable(t, testSchema("", 0), someRows(60), nil), rounds(1, n))
	var both int64
	for range n {
		r := stattest.Must(Open(s, 0, 1))
		if first, _ := r.Ask(firstIs1, 30); first {
			continue
		}
		if second, err := r.Ask(firstIs1, 30); err != nil {
			t.Fatal(err)
		} else if !second {
			both++
		}
	}
	if _, _, ok := stattest.Binomial(both, n, 7./24); !ok {
		t.Errorf("both below %d of %d times, want %v", both, n, 7./24)
	}
	if _, _, ok := stattest.Binomial(both, n, 1./4); ok {
		t.Error("a fresh threshold for each question is accepted")
	}
}

// TestThresholdRatio. Claim: no transcript is more than e^ε times as likely on a neighbour. The
// worst one for the noise split here, many questions below and then one above with counts that
// differ in the worse direction, is counted on two neighbours, 10 000 rounds each; its ratio must
// be within e^ε up to sampling error (five standard errors of the logarithm, below 1e-6), and the
// questions must be able to show a violation: at twice the ε charged they do.
func TestThresholdRatio(t *testing.T) {
	const n, questions = 10000, 3
	seen := func(epsilon float64, rows int) float64 {
		s := open(t, testTable(t, testSchema("", 0), someRows(rows), nil), rounds(epsilon, n))
		hits := 0.
		for range n {
			r := stattest.Must(Open(s, 1, epsilon))
			below := true
			for range questions {
				above := stattest.Must(r.Ask(firstIs1, 30))
				if above {
					below = false
					break
				}
			}
			if !below {
				continue
			}
			// off by 2, by 1
			if above, _ := r.Ask(firstIs1, float64(map[int]int{60: 32, 62: 32}[rows])); above {
				hits++
			}
		}
		return hits
	}
	for _, epsilon := range []float64{1, 4} {
		a, b := seen(epsilon, 60), seen(epsilon, 62)
		slack := 5 * math.Sqrt(1/a+1/b)
		if got := math.Abs(math.Log(a / b)); got > epsilon+slack {
			t.Errorf("epsilon %v: the transcript is e^%v times as likely on a neighbour", epsilon, got)
		}
		if epsilon == 4 {
			if got := math.Log(a / b); got-slack < epsilon/8 {
				t.Errorf("the transcript tells the tables apart by %v only: the test shows little", got)
			}
		}
	}
}

// TestThresholdSensitivity: the distance of a count from a guess moves by at most k rows under
// every relation.
func TestThresholdSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(11, 12))
	for _, nb := range relations {
		far := 0.
		for range 3000 {
			ra, rb := pairOf(u, nb)
			off := func(rows [][3]uint8) float64 {
				n := 0
				for _, row := range rows {
					n += int(row[0])
				}
				return math.Abs(float64(n) - 7.5)
			}
			far = max(far, math.Abs(off(ra)-off(rb)))
		}
		if claim := smallClaim(nb); far != claim {
			t.Errorf("%v: moves by up to %v, the noise assumes %v", nb, far, claim)
		}
	}
}

// TestThresholdIsChargedOnce: one charge pays for a hundred questions, the first yes ends the
// round, and nothing is read without a charge.
func TestThresholdIsChargedOnce(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(60), nil), rounds(1, 2))
	for name, call := range map[string]func() error{
		"epsilon 0":           func() error { _, err := Open(s, 1, 0); return err },
		"epsilon NaN":         func() error { _, err := Open(s, 1, math.NaN()); return err },
		"epsilon tiny":        func() error { _, err := Open(s, 1, 1e-300); return err },
		"epsilon huge":        func() error { _, err := Open(s, 1, 1e300); return err },
		"threshold negative":  func() error { _, err := Open(s, -1, 1); return err },
		"threshold NaN":       func() error { _, err := Open(s, math.NaN(), 1); return err },
		"threshold huge":      func() error { _, err := Open(s, 1e9, 1); return err },
		"epsilon not planned": func() error { _, err := Open(s, 1, .9); return err },
	} {
		stattest.Fails(t, call(), "%s is accepted", name)
	}
	r, err := Open(s, 1000, 1)
	stattest.Check(t, err)
	for _, bad := range []func() error{
		func() error { _, err := r.Ask(table.Condition{Column: 9}, 1); return err },
		func() error { _, err := r.Ask(firstIs1, math.NaN()); return err },
		func() error { _, err := r.Ask(firstIs1, 1e13); return err },
	} {
		if bad() == nil {
			t.Error("a bad question is answered")
		}
	}
	for range 100 {
		if above, err := r.Ask(firstIs1, 30); err != nil || above {
			t.Fatalf("%v, %v at a threshold of 1000 rows", above, err)
		}
	}
	if run := s.Ledger().Runs()[0]; calls(run.Charged) != 1 {
		t.Errorf("%d charges for one round", calls(run.Charged))
	}
	if above, err := r.Ask(firstIs1, 100000); err != nil || !above {
		t.Errorf("%v, %v far above", above, err)
	}
	stattest.Wraps(t, stattest.Err(r.Ask(firstIs1, 30)), errSpent, "after a yes")
	if r, err = Open(s, 1000, 1); err != nil {
		t.Fatal(err)
	}
	stattest.Wraps(t, stattest.Err(Open(s, 1000, 1)), privacy.ErrPlan, "a round beyond the plan")
	s.Finish(nil, nil)
	stattest.Wraps(t, stattest.Err(r.Ask(firstIs1, 30)), privacy.ErrClosed, "a closed session")
	stattest.Passes(t, s.Ledger().Verify(nil), "")
}

func TestThresholdPrintsNothing(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(60), nil), rounds(1, 1))
	r := stattest.Must(Open(s, 5, 1))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		if got := fmt.Sprintf(verb, r); got != "threshold.Round" {
			t.Errorf("%s prints %s", verb, got)
		}
	}
	stattest.Fails(t, stattest.Err(json.Marshal(r)), "a threshold was encoded")
}

// TestThresholdDiesWithItsProcess: a round of questions is given the answers of before, and is
// over.
func TestThresholdDiesWithItsProcess(t *testing.T) {
	dir := t.TempDir()
	o := privacy.Options{
		Budget: wide, Plan: rounds(1, 2), Ledger: ledger.NewFile(filepath.Join(dir, "l")),
		Journal: filepath.Join(dir, "j"), Method: "t",
	}
	rows := privacy.FromTable(testTable(t, testSchema("", 0), someRows(60), nil))
	s := stattest.Must(privacy.Open(context.Background(), rows, o))
	r := stattest.Must(Open(s, 1e6, 1))
	for range 3 {
		if above, err := r.Ask(firstIs1, 30); above || err != nil {
			t.Fatal(above, err)
		}
	}
	s.Finish(errors.New("killed"), nil)
	o.Resume = true
	s = stattest.Must(privacy.Open(context.Background(), rows, o))
	r = stattest.Must(Open(s, 1e6, 1))
	for range 3 {
		if above, err := r.Ask(firstIs1, 30); above || err != nil {
			t.Fatal(above, err)
		}
	}
	stattest.Wraps(t, stattest.Err(r.Ask(firstIs1, 30)), errSpent,
		"a question that was not asked before")
	r = stattest.Must(Open(s, 1e6, 1))
	stattest.Passes(t, stattest.Err(r.Ask(firstIs1, 30)), "a round of its own")
}

// TestCopiedRoundIsTheSame: five copies of a round say "above" once.
func TestCopiedRoundIsTheSame(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(60), nil), rounds(1, 1))
	r := stattest.Must(Open(s, 0, 1))
	said := 0
	for range 5 {
		c := *r
		if above, _ := c.Ask(firstIs1, 1e9); above {
			said++
		}
	}
	if said != 1 {
		t.Errorf("a round said above %d times", said)
	}
}

// TestCyclicQuestionIsRefused: an expression that holds itself is refused before it is written
// down.
func TestCyclicQuestionIsRefused(t *testing.T) {
	r, err := Open(open(t, testTable(t, testSchema("", 0), someRows(60), nil), rounds(1, 1)), 1000, 1)
	stattest.Check(t, err)
	cyclic := table.And{nil}
	cyclic[0] = cyclic
	stattest.Fails(t, stattest.Err(r.Ask(cyclic, 0)), "an expression without end is accepted")
}
