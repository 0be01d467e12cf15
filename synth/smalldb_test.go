package synth

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// TestRefusals: what cannot be enumerated is refused with its number, as a matter of settings.
func TestRefusals(t *testing.T) {
	nb := privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: 1}
	for _, tt := range []struct {
		name string
		cfg  SmallDB
		s    *schema.Schema
		want string
	}{
		{"multisets", SmallDB{Rows: 34}, twoCodes(),
			"1575580702584 multisets of 34 rows of a domain of 16 cells, the limit is 33554432"},
		{"domain", SmallDB{}, synthtest.Schema(20), "cells, the limit is 4096"},
		{"queries", SmallDB{}, synthtest.Schema(7), "cells, the limit is 4096"},
		{"many queries", SmallDB{Workload: "decoy_workload: 1\nqueries: [" +
			strings.Repeat("{marginals: all triples},", 600) + "]"}, twoCodes(), "more than 4096 queries"},
		{"workload", SmallDB{Workload: "decoy_workload: 1\nqueries: [{prefix: age}]"},
			twoCodes(), "no column"},
	} {
		f := checked(&tt.cfg)
		_, err := NewPlan(f, schema.One(tt.s), nb, accountant.Budget{Epsilon: 1})
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// twoCodes is four columns of two codes: |X| = 16.
func twoCodes() *schema.Schema {
	s := synthtest.Schema(4)
	for i := range s.Columns {
		s.Columns[i].Categories = []string{"no", "yes"}
	}
	return s
}

// twenty are 20 counting queries on binary.
func twenty() []table.Expr {
	u := rand.New(rand.NewPCG(1, 2))
	out := make([]table.Expr, 20)
	for i := range out {
		a, b := u.IntN(4), u.IntN(4)
		x, y := []bool{true, false}, []bool{false, true}
		out[i] = table.Or{table.And{table.Condition{Column: a, Allow: x}, table.Condition{Column: b,
			Allow: y}}, table.Condition{Column: (a + b) % 4, Allow: y}}
	}
	return out
}

func binaryRows(t testing.TB, n int) *table.Table {
	t.Helper()
	u := rand.New(rand.NewPCG(3, 4))
	cols := make([]table.Codes, 4)
	for c := range cols {
		cols[c].U8 = make([]uint8, n)
		for r := range n {
			if u.IntN(4) < c {
				cols[c].U8[r] = 1
			}
		}
	}
	tab := stattest.Must(table.FromColumns(twoCodes(), cols, nil))
	return tab
}

// TestMultisets: each of the C(cells+m−1, m) multisets once, with m rows and the answers that its
// rows give.
func TestMultisets(t *testing.T) {
	for _, tt := range []struct{ cells, rows int }{{1, 5}, {2, 4}, {5, 3}, {4, 1}, {3, 6}} {
		u := rand.New(rand.NewPCG(1, 2))
		p := &smallPlan{rows: tt.rows, queries: make([]table.Expr, 3)}
		for range tt.cells {
			p.members = append(p.members, []float64{float64(u.IntN(2)), float64(u.IntN(2)), 1})
		}
		seen := map[string]bool{}
		for copies, y := range p.multisets(100) {
			sum, want := 0., make([]float64, 3)
			var key []byte
			for i, c := range copies {
				sum += c
				key = append(key, byte(c))
				for q := range want {
					want[q] += float64(c) * p.members[i][q] * 100 / float64(tt.rows)
				}
			}
			if sum != float64(tt.rows) || seen[string(key)] {
				t.Fatalf("%+v: multiset %v", tt, copies)
			}
			seen[string(key)] = true
			if !slices.EqualFunc(y, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
				t.Fatalf("%+v: multiset %v answers %v, want %v", tt, copies, y, want)
			}
		}
		if got, want := len(seen), int(candidatesOf(tt.cells, tt.rows).Int64()); got != want {
			t.Errorf("%+v: %d multisets, want %d", tt, got, want)
		}
	}
}

// TestRowsFor: the size for 20 queries, more queries need more rows, the textbook's size is not
// exceeded, and on a table some multiset of that size is as good as promised.
func TestRowsFor(t *testing.T) {
	if got := rowsFor(20, .3); got != 12 {
		t.Errorf("20 queries, alpha .3: %d rows", got)
	}
	if got := rowsFor(1, .5); got != 1 {
		t.Errorf("one query: %d rows", got)
	}
	last := 0
	for _, q := range []int{1, 5, 20, 100, 1000} {
		m := rowsFor(q, .3)
		if m <= last && q > 1 || m > max(1, int(math.Ceil(math.Log(float64(q))/.09))) {
			t.Errorf("%d queries: %d rows after %d", q, m, last)
		}
		last = m
	}
	// Some multiset of m rows is within alpha on 20 queries.
	p := &smallPlan{rows: rowsFor(20, .3), queries: twenty(), sizes: []int{2, 2, 2, 2}}
	p.members = membersOf(p.sizes, p.queries)
	e := stattest.Must(table.CompileExprs(p.sizes, p.queries))
	counts := binaryRows(t, 1000).CountExprs(e)
	best := math.Inf(1)
	for _, y := range p.multisets(1000) {
		worst := 0.0
		for q, c := range counts {
			worst = max(worst, math.Abs(float64(c)-y[q]))
		}
		if best = min(best, worst); best <= 300 {
			break
		}
	}
	if best > 300 {
		t.Errorf("the best multiset is off by %v of 1000 rows", best)
	}
}

// TestLaw. Null: on |X| = 16, |Q| = 20 with multisets of 3 rows (816 of them), the multiset is
// drawn with P ∝ exp(ε·u/2k), u written out from its definition; multisets are pooled by
// probability into 12 classes; 2500 draws, false-alarm rate 1e-6; half and twice the ε must be
// rejected.
func TestLaw(t *testing.T) {
	const draws, n = 2500, 60
	tab := binaryRows(t, n)
	for _, rows := range []int{1, 3} { // a unit
		nb := privacy.Neighbours{Adjacency: accountant.AddRemove, MaxRowsPerUnit: rows}
		p := &smallPlan{cfg: SmallDB{Rows: 3}, nb: nb,
			sizes: tab.Schema().Sizes(), queries: twenty(), rows: 3, epsilon: .5 * float64(rows)}
		p.candidates = int(candidatesOf(16, 3).Int64())
		p.members = membersOf(p.sizes, p.queries)
		e := stattest.Must(table.CompileExprs(p.sizes, p.queries))
		counts := tab.CountExprs(e)
		var u []float64
		index := map[string]int{}
		for copies, y := range p.multisets(n) {
			worst := 0.0
			for q, c := range counts {
				worst = max(worst, math.Abs(float64(c)-y[q]))
			}
			index[keyOf(copies)] = len(u)
			u = append(u, -worst)
		}
		s := session(t, tab, rows, p.epsilon, draws)
		hits := make([]int64, len(u))
		for range draws {
			copies := stattest.Must(p.choose(context.Background(), s, n, nil))
			hits[index[keyOf(copies)]]++
		}
		for scale, want := range map[float64]bool{.5: false, 1: true, 2: false} {
			law, sum := make([]float64, len(u)), 0.0
			for i := range u {
				law[i] = math.Exp(scale * p.epsilon * u[i] / (2 * float64(rows)))
				sum += law[i]
			}
			for i := range law {
				law[i] /= sum
			}
			pooled, expected := pool(hits, law, u, 12)
			if stat, limit, ok := stattest.ChiSquare(pooled, expected); ok != want {
				t.Errorf("units of %d rows, %v times ε: chi-square %v, limit %v: %v, %v", rows,
					scale, stat, limit, pooled, expected)
			}
		}
	}
}

// session holds the rows of tab as units of up to k rows, one row each, with a plan for draws
// choices.
func session(t testing.TB, tab *table.Table, k int, epsilon float64, draws int) *privacy.Session {
	t.Helper()
	if k > 1 {
		s := *tab.Schema()
		s.Unit, s.MaxRowsPerUnit = "id", k
		units := make([]uint32, tab.Rows())
		for i := range units {
			units[i] = uint32(i)
		}
		cols := make([]table.Codes, len(s.Columns))
		for i := range cols {
			cols[i] = tab.Column(i)
		}
		var err error
		if tab, err = table.FromColumns(&s, cols, units); err != nil {
			t.Fatal(err)
		}
	}
	s := stattest.Must(privacy.Open(context.Background(), privacy.FromTable(tab),
		privacy.Options{Budget: accountant.Budget{Epsilon: 1e6, Delta: 1e-9},
			Plan: accountant.Composition{{Event: accountant.Exponential{Epsilon: epsilon},
				Count: draws}}}))
	return s
}

func keyOf[N int | float64](copies []N) string {
	b := make([]byte, len(copies))
	for i, c := range copies {
		b[i] = byte(c)
	}
	return string(b)
}

// pool orders candidates by score and puts neighbours together, until each class has its share of
// the law.
func pool(hits []int64, law, score []float64, classes int) (counts []int64, p []float64) {
	order := make([]int, len(law))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if score[a] != score[b] {
			return int(math.Copysign(1, score[b]-score[a]))
		}
		return a - b
	})
	counts, p = []int64{0}, []float64{0}
	for _, i := range order {
		k := len(p) - 1
		if p[k] >= 1/float64(classes) {
			counts, p = append(counts, 0), append(p, 0)
			k++
		}
		counts[k] += hits[i]
		p[k] += law[i]
	}
	return counts, p
}

// TestPureBudget: no delta is needed, and both events are charged.
func TestPureBudget(t *testing.T) {
	f := checked(&SmallDB{Rows: 5})
	m := Fit(t, f, binaryRows(t, 800), accountant.Budget{Epsilon: 2})
	v, err := m.Verify(pld.Epsilon)
	if err != nil || v.Charges != 2 || v.Charged.Epsilon > 2 || v.Charged.Epsilon < 1.9 {
		t.Errorf("%+v, %v", v, err)
	}
	if m.Settings["candidates"] != 15504. { // as a file has it
		t.Errorf("settings %v", m.Settings)
	}
}
