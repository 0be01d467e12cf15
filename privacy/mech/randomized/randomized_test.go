package randomized

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

// law is the probability of each answer about a row in cell truth: every way that its choices can
// go is followed.
func law(t *testing.T, cells, truth int, epsilon float64) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	var follow func(script []int)
	follow = func(script []int) {
		answer, at, p, choices := make([]int64, cells), 0, 1.0, 0
		err := respond(answer, truth, Direct(cells, epsilon), func(scores []int64) (int, error) {
			if at == len(script) {
				choices = len(scores)
				return 0, errors.New("the script ends")
			}
			sum := 0.0
			for _, s := range scores {
				sum += math.Exp(epsilon * float64(s))
			}
			i := script[at]
			at++
			p *= math.Exp(epsilon*float64(scores[i])) / sum
			return i, nil
		})
		if err == nil {
			out[fmt.Sprint(answer)] += p
		}
		for i := range choices {
			follow(append(script[:len(script):len(script)], i))
		}
	}
	follow(nil)
	return out
}

// TestSmallTables: for every question about a row of up to three columns, and every row, the law of
// the answer is computed whole. No answer is more than e^ε times as likely for one row as for
// another, some answer is that; and cells are named as Rates say.
func TestSmallTables(t *testing.T) {
	sizes := []int{2, 3, 2}
	for _, epsilon := range []float64{.1, .5, 1, 2} {
		for _, cols := range [][]int{{0}, {1}, {0, 1}, {2, 0}, {1, 2, 0}} {
			cells := stattest.Must(Cells(sizes, cols))
			p, q := Rates(cells, epsilon)
			most, laws := 1.0, make([]map[string]float64, cells)
			for truth := range laws {
				laws[truth] = law(t, cells, truth, epsilon)
			}
			for truth, one := range laws {
				sum, named := 0.0, make([]float64, cells)
				for answer, x := range one {
					sum += x
					for i := range cells {
						if answer[1+2*i] == '1' {
							named[i] += x
						}
					}
				}
				if math.Abs(sum-1) > 1e-12 {
					t.Errorf("ε = %v, %d cells: the law sums to %v", epsilon, cells, sum)
				}
				for i, x := range named {
					if want := map[bool]float64{true: p, false: q}[i == truth]; math.Abs(x-want) > 1e-12 {
						t.Errorf("ε = %v, cell %d of %d is named with %v, want %v", epsilon, i, cells, x, want)
					}
				}
				for _, two := range laws {
					for answer, x := range one {
						most = max(most, x/two[answer])
					}
				}
			}
			if math.Abs(most/math.Exp(epsilon)-1) > 1e-12 {
				t.Errorf("ε = %v, %d cells (direct %v): an answer is %v times as likely, want e^ε = %v",
					epsilon, cells, Direct(cells, epsilon), most, math.Exp(epsilon))
			}
		}
	}
	if Direct(12, .5) || !Direct(2, .1) {
		t.Error("not both forms were tried")
	}
}

// TestReferenceVariances: n times the variance of the estimate of an empty cell, q(1 − q)/(p − q)²,
// against values that were computed elsewhere; and the lecture's form of Warner's question, where
// P(yes) = 1/4 + p/2.
func TestReferenceVariances(t *testing.T) {
	for _, tt := range []struct {
		epsilon float64
		cells   int
		want    float64
	}{
		{math.Log(3), 2, .75}, {math.Log(3), 100, 3}, {1, 10, 3.63024869}, {1, 100, 3.68269438},
		{2, 16, .52398423}, {2, 100, .72406166},
	} {
		p, q := Rates(tt.cells, tt.epsilon)
		if got := q * (1 - q) / (p - q) / (p - q); math.Abs(got/tt.want-1) > 1e-8 {
			t.Errorf("ε = %v, %d cells: %v, want %v", tt.epsilon, tt.cells, got, tt.want)
		}
	}
	if p, q := Rates(2, math.Log(3)); math.Abs(p-.75) > 1e-15 || math.Abs(q-.25) > 1e-15 {
		t.Errorf("Warner's question: %v and %v, want 3/4 and 1/4", p, q)
	}
	// 2·(ȳ − 1/4) of 1000 answers, 30 % of whom have it: a standard error of .0309839
	if p, q := Rates(2, math.Log(3)); math.Abs((.4-q)/(p-q)-.3) > 1e-15 ||
		math.Abs(math.Sqrt(.4*.6/1000)/(p-q)-.0309839) > 1e-7 {
		t.Error("the lecture's survey has another estimate or another standard error")
	}
	if p, q := Rates(1000, 800); p != 1 || q != 0 {
		t.Errorf("a large ε: %v and %v", p, q)
	}
}

// TestAnswer. Null: the two lists are asked equally often, the questions of a list too, and the
// cells of each question are named as Rates say; 20,000 answers about one row, false-alarm rate
// 1e-6 for each figure. An ε 30 % too small or too large must be rejected.
func TestAnswer(t *testing.T) {
	const n, epsilon = 20000, 1.
	row := [3]uint8{1, 2, 3}
	tab := gatetest.Table(t, gatetest.Schema("", 0), [][3]uint8{row}, nil)
	s := mechtest.On(t, tab, accountant.ReplaceOne,
		accountant.Charge{Event: accountant.Laplace{Epsilon: epsilon}, Count: n})
	lists := [][][]int{{{0}, {1}}, {{2, 1}}} // of 2, 3 and 12 cells, the last not direct
	asked, named := map[string]int64{}, map[string][]int64{}
	for range n {
		a := stattest.Must(Answer(s, lists, epsilon))
		key := fmt.Sprint(a.Cols)
		asked[key]++
		if named[key] == nil {
			named[key] = make([]int64, 12)
		}
		for _, cell := range a.Named {
			named[key][cell]++
		}
	}
	if _, _, ok := stattest.ChiSquare([]int64{asked["[0]"], asked["[1]"], asked["[2 1]"]},
		[]float64{.25, .25, .5}); !ok {
		t.Errorf("asked %v", asked)
	}
	for _, q := range []struct {
		key          string
		cells, truth int
	}{{"[0]", 2, 1}, {"[1]", 3, 2}, {"[2 1]", 12, 3*3 + 2}} {
		for factor, want := range map[float64]bool{.7: false, 1: true, 1.3: false} {
			p, other := Rates(q.cells, factor*epsilon)
			if !Direct(q.cells, epsilon) {
				other = 1 / (1 + math.Exp(factor*epsilon))
			}
			got := true
			for i := range q.cells {
				x := other
				if i == q.truth {
					x = p
				}
				_, _, ok := stattest.Binomial(named[q.key][i], asked[q.key], x)
				got = got && ok
			}
			if got != want {
				t.Errorf("%s: %v times ε is accepted: %v", q.key, factor, got)
			}
		}
	}
}

// TestAnswerRefuses: what is not for one respondent is refused and not charged, and so is what is
// not in the plan; a table of another number of rows gets no answer.
func TestAnswerRefuses(t *testing.T) {
	charge := accountant.Charge{Event: accountant.Laplace{Epsilon: 1}, Count: 1}
	sch := gatetest.Schema("", 0)
	one := gatetest.Table(t, sch, gatetest.SomeRows(1), nil)
	lists := [][][]int{{{0}}}
	open := func(adj accountant.Adjacency) *privacy.Session { return mechtest.On(t, one, adj, charge) }
	for name, tt := range map[string]struct {
		s       *privacy.Session
		lists   [][][]int
		epsilon float64
		want    error
	}{
		"add-remove": {open(accountant.AddRemove), lists, 1, ErrQuestion},
		"a unit": {mechtest.Under(t, [][3]uint8{{}}, privacy.Neighbours{
			Adjacency: accountant.ReplaceOne, MaxRowsPerUnit: 1}, charge), lists, 1, ErrQuestion},
		"no list":       {open(accountant.ReplaceOne), nil, 1, ErrQuestion},
		"an empty list": {open(accountant.ReplaceOne), [][][]int{{{0}}, {}}, 1, ErrQuestion},
		"no column":     {open(accountant.ReplaceOne), [][][]int{{{}}}, 1, ErrQuestion},
		"column 3":      {open(accountant.ReplaceOne), [][][]int{{{3}}}, 1, ErrQuestion},
		"column -1":     {open(accountant.ReplaceOne), [][][]int{{{-1}}}, 1, ErrQuestion},
		"twice":         {open(accountant.ReplaceOne), [][][]int{{{1, 1}}}, 1, ErrQuestion},
		"another ε":     {open(accountant.ReplaceOne), lists, 1.1, privacy.ErrPlan},
		"NaN":           {open(accountant.ReplaceOne), lists, math.NaN(), privacy.ErrPlan},
		"a negative ε":  {open(accountant.ReplaceOne), lists, -1, privacy.ErrPlan},
	} {
		stattest.Wraps(t, stattest.Err(Answer(tt.s, tt.lists, tt.epsilon)), tt.want, "%s", name)
		if got := tt.s.Ledger().Runs()[0].Charged; len(got) != 0 {
			t.Errorf("%s is charged %v", name, got)
		}
	}
	for _, rows := range []int{0, 2} {
		s := mechtest.On(t, gatetest.Table(t, sch, gatetest.SomeRows(rows), nil), accountant.ReplaceOne,
			charge)
		if a, err := Answer(s, lists, 1); !errors.Is(err, ErrQuestion) || a.Named != nil {
			t.Errorf("%d rows: %v, %v", rows, a, err)
		}
	}
	s := open(accountant.ReplaceOne)
	stattest.Passes(t, stattest.Err(Answer(s, lists, 1)), "")
	stattest.Wraps(t, stattest.Err(Answer(s, lists, 1)), privacy.ErrPlan, "a second answer in a run")
	if got := s.Ledger().Runs()[0].Charged; len(got) != 1 || got[0] != charge {
		t.Errorf("charged %v, want %v", got, charge)
	}
	fails := errors.New("no noise")
	for _, direct := range []bool{false, true} {
		err := respond(make([]int64, 3), 0, direct, func([]int64) (int, error) { return 0, fails })
		stattest.Wraps(t, err, fails, "a choice that fails (direct %v)", direct)
	}
	for cells, want := range map[int]bool{MaxCells / 2: true, MaxCells/2 + 1: false} {
		if _, err := Cells([]int{cells, 2}, []int{1, 0}); (err == nil) != want {
			t.Errorf("%d cells: %v", 2*cells, err)
		}
	}
}

// TestVarianceAtLn3: of ε = ln 3 a truthful answer of two has variance 3/4 a respondent where the
// answer is rare, and never above 1; a unary one has 3 (docs/decisions/023-errata.md).
func TestVarianceAtLn3(t *testing.T) {
	own, other := Rates(2, math.Log(3))
	for f := 0.; f <= 1; f += .125 {
		said := f*own + (1-f)*other
		v := said * (1 - said) / ((own - other) * (own - other))
		if v > 1+1e-9 || f == 0 && math.Abs(v-.75) > 1e-9 {
			t.Errorf("share %v: variance %v", f, v)
		}
	}
	if e := math.Exp(math.Log(3)); math.Abs(4*e/((e-1)*(e-1))-3) > 1e-9 {
		t.Error("a unary answer has another variance than 3")
	}
}
