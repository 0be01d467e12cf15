package shares

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

var budget = accountant.Budget{Epsilon: 1e4, Delta: 1e-9}

// trial is a run of some parties, with a session and a key each.
type trial struct {
	keys     []ed25519.PrivateKey
	terms    Terms
	sessions []*privacy.Session
	runs     []*Run
}

// parties opens a run of the tables, of so many sums.
func parties(t *testing.T, sums int, tables ...*table.Table) *trial {
	t.Helper()
	p := &trial{terms: Terms{Colluding: 1, PerPerson: 1, Budget: budget, Rho: .5 * float64(sums)}}
	for range tables {
		_, key, err := ed25519.GenerateKey(nil)
		stattest.Check(t, err)
		p.keys = append(p.keys, key)
		p.terms.Identities = append(p.terms.Identities, key.Public().(ed25519.PublicKey))
	}
	for i, tab := range tables {
		p.sessions = append(p.sessions, mechtest.On(t, tab, 0,
			accountant.Charge{Event: Event(budget), Count: 1}))
		p.runs = append(p.runs, p.open(t, i))
	}
	return p
}

func (p *trial) open(t *testing.T, i int) *Run {
	t.Helper()
	terms := p.terms
	terms.Me = i
	r := stattest.Must(Open(p.sessions[i], terms))
	return r
}

func (p *trial) publicKeys() (out [][]byte) {
	for _, r := range p.runs {
		out = append(out, r.Key())
	}
	return out
}

// agree exchanges keys and signatures.
func (p *trial) agree(t *testing.T) [][]byte {
	t.Helper()
	var signatures [][]byte
	for i, r := range p.runs {
		seen := stattest.Must(r.Begin(p.publicKeys()))
		signatures = append(signatures, ed25519.Sign(p.keys[i], seen))
	}
	for _, r := range p.runs {
		stattest.Check(t, r.Confirm(signatures))
	}
	return signatures
}

// sum asks every party its question at the same time, and adds up what they say.
func (p *trial) sum(qs ...Question) (totals []Total, masked [][]uint64, errs []error) {
	n := len(p.runs)
	totals, masked, errs = make([]Total, n), make([][]uint64, n), make([]error, n)
	var all, said sync.WaitGroup
	said.Add(n)
	for i, r := range p.runs {
		all.Go(func() {
			told := sync.OnceFunc(said.Done)
			defer told()
			totals[i], errs[i] = r.Sum(qs[i%len(qs)], func(xs []uint64, _ string) ([]uint64, error) {
				masked[i] = slices.Clone(xs)
				told()
				said.Wait()
				out := make([]uint64, len(xs))
				for _, m := range masked {
					for k, x := range m {
						out[k] += x
					}
				}
				return out, nil
			})
		})
	}
	all.Wait()
	return totals, masked, errs
}

// exact counts a question without noise.
func exact(t *testing.T, s *privacy.Session, q Question) []int64 {
	t.Helper()
	return counted(t, s, compiled(t, s, q, Terms{PerPerson: 1, Colluding: 1,
		Identities: make([]ed25519.PublicKey, 2)}))
}

// queriesFor are the marginals of a question about the test schema.
func queriesFor(t *testing.T, q Question) []access.Counted {
	t.Helper()
	tab := gatetest.Table(t, gatetest.Schema("", 0), nil, nil)
	return stattest.Must(access.QueriesOf(mechtest.On(t, tab, 0), queriesOf(q.Marginals)))
}

func counted(t *testing.T, s *privacy.Session, asked counting) []int64 {
	t.Helper()
	out := stattest.Must(access.ReleaseInts(s, access.Call{Of: access.Ask("test")}, asked.cost.Cells,
		asked.count))
	return out
}

func compiled(t *testing.T, s *privacy.Session, q Question, terms Terms) counting {
	t.Helper()
	asked := stattest.Must(q.compile(s, terms))
	return asked
}

func someTable(t *testing.T, n int) *table.Table {
	return gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(n), nil)
}

// three columns of 2, 3 and 4 codes: their cells, and signed sums of two pairs
var (
	columns = Question{Rho: .5, Marginals: []privacy.Marginal{{Cols: []int{0}}, {Cols: []int{1}},
		{Cols: []int{2}}}}
	pairs = Question{Rho: .5, Signs: 5,
		Marginals: []privacy.Marginal{{Cols: []int{0, 1}}, {Cols: []int{2, 1}}},
		Seed:      [32]byte{7}}
)

// TestSumIsTheCentralOne: with noise from a known source in the place of each party's own, the sum
// of masked counts is that of the whole table with the sum of the noise, bit for bit.
func TestSumIsTheCentralOne(t *testing.T) {
	sizes := []int{40, 0, 17, 300}
	var tables []*table.Table
	var rows [][3]uint8
	for _, n := range sizes {
		tables, rows = append(tables, someTable(t, n)), append(rows, gatetest.SomeRows(n)...)
	}
	whole := mechtest.On(t, gatetest.Table(t, gatetest.Schema("", 0), rows, nil), 0)
	for _, q := range []Question{columns, pairs} {
		p := parties(t, 1, tables...)
		p.agree(t)
		want := exact(t, whole, q)
		got := make([]int64, len(want))
		for i, r := range p.runs {
			xs := exact(t, p.sessions[i], q)
			for k := range xs {
				known := int64(1_000_003*i - 77*k)
				xs[k] += known
				want[k] += known
			}
			maskTo(xs, r.masks(), i, "step")
			for k, x := range xs {
				got[k] += x
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the sum over parties is %v, the whole table's %v", got, want)
		}
	}
}

// TestNoise. Null: what a sum is off by is the sum of four independent discrete Gaussians of the σ
// that is charged; 4,000 numbers, false-alarm rate 1e-6. A σ 30 % off is rejected, and so is the
// noise of three.
func TestNoise(t *testing.T) {
	const steps = 500
	p := parties(t, steps, someTable(t, 11), someTable(t, 5),
		someTable(t, 90), someTable(t, 1))
	p.agree(t)
	truth := make([]int64, 9)
	for _, s := range p.sessions {
		for k, x := range exact(t, s, columns) {
			truth[k] += x
		}
	}
	var off []int64
	sigma := 0.0
	for range steps {
		totals, _, errs := p.sum(columns)
		for i, err := range errs {
			stattest.Check(t, err)
			if fmt.Sprint(totals[i]) != fmt.Sprint(totals[0]) {
				t.Fatalf("party %d has another sum", i)
			}
		}
		for k, x := range slices.Concat(totals[0].Counts...)[:8] {
			off = append(off, x-truth[k])
		}
		sigma = totals[0].Cost.Sigma
		if totals[0].Cost.Honest != 3 || totals[0].Sigma != 2*sigma || totals[0].Cost.Rho() > .5 {
			t.Fatalf("it is charged as %+v", totals[0])
		}
	}
	for _, tt := range []struct {
		sigma float64
		n     int
		want  bool
	}{{sigma, 4, true}, {1.3 * sigma, 4, false}, {sigma / 1.3, 4, false}, {sigma, 3, false}} {
		law := sumLaw(tt.sigma, tt.n)
		if got := gatetest.Follows(off, int64(4*tt.sigma), law); got != tt.want {
			t.Errorf("σ %v of %d parties is accepted: %v", tt.sigma, tt.n, got)
		}
	}
}

// sumLaw is the law of the sum of n discrete Gaussians.
func sumLaw(sigma float64, n int) func(int64) float64 {
	const reach = 200
	one, norm := make([]float64, 2*reach+1), 0.0
	for i := range one {
		x := float64(i - reach)
		one[i] = math.Exp(-x * x / (2 * sigma * sigma))
		norm += one[i]
	}
	law := make([]float64, 2*reach+1)
	law[reach] = 1
	for range n {
		next := make([]float64, 2*reach+1)
		for i, p := range law {
			for j, q := range one {
				if k := i + j - reach; k >= 0 && k < len(next) {
					next[k] += p * q / norm
				}
			}
		}
		law = next
	}
	return func(x int64) float64 { return law[x+reach] }
}

// TestMasks. Null: what one party hands over is uniform, whatever it counted: 40,000 top and bottom
// bytes, false-alarm rate 1e-6 each. All of it is other numbers in every sum and in every run.
func TestMasks(t *testing.T) {
	const cells = 40_000
	secrets := func(p *trial, i int) [][]byte { return p.runs[i].masks() }
	p := parties(t, 1, someTable(t, 3), someTable(t, 3), someTable(t, 3))
	p.agree(t)
	again := &trial{keys: p.keys, terms: p.terms}
	for i := range p.keys {
		again.sessions = append(again.sessions, mechtest.On(t, someTable(t, 3), 0,
			accountant.Charge{Event: Event(budget), Count: 1}))
		again.runs = append(again.runs, again.open(t, i))
	}
	again.agree(t)
	masks := func(p *trial, i int, of string) []int64 {
		xs := make([]int64, cells)
		maskTo(xs, secrets(p, i), i, of)
		return xs
	}
	first := masks(p, 0, "a")
	for name, other := range map[string][]int64{"another sum": masks(p, 0, "b"),
		"another party": masks(p, 1, "a"), "another run": masks(again, 0, "a")} {
		diff := make([]int64, cells)
		for k := range diff {
			diff[k] = first[k] - other[k]
		}
		for what, xs := range map[string][]int64{"the masks": other, "the difference": diff} {
			for _, shift := range []int{0, 56} {
				counts, p := make([]int64, 256), slices.Repeat([]float64{1. / 256}, 256)
				for _, x := range xs {
					counts[uint64(x)>>shift&255]++
				}
				if s, most, ok := stattest.ChiSquare(counts, p); !ok {
					t.Errorf("%s, bits from %d of %s: %v > %v", name, shift, what, s, most)
				}
			}
		}
	}
	for k := range first {
		if first[k]+masks(p, 1, "a")[k]+masks(p, 2, "a")[k] != 0 {
			t.Fatal("the masks do not cancel")
		}
		if k == 2 {
			break
		}
	}
}

// TestCopiedKey: a party that shows another's key as its own, in other bytes too, unmasks nobody:
// what every other party hands over stays far from its counts.
func TestCopiedKey(t *testing.T) {
	for _, other := range []byte{0, 0x80} { // the bit of the key that X25519 does not look at
		p := parties(t, 1, someTable(t, 5), someTable(t, 6), someTable(t, 7))
		keys := p.publicKeys()
		keys[0] = slices.Clone(keys[2])
		keys[0][31] |= other
		var signatures [][]byte
		for _, r := range p.runs[1:] {
			seen := stattest.Must(r.Begin(keys))
			signatures = nil // both have seen the same
			for _, key := range p.keys {
				signatures = append(signatures, ed25519.Sign(key, seen))
			}
		}
		for i, r := range p.runs[1:] {
			stattest.Check(t, r.Confirm(signatures))
			near, want := 0, exact(t, p.sessions[i+1], columns)
			r.Sum(columns, func(xs []uint64, _ string) ([]uint64, error) {
				for k, x := range signed(xs) {
					if d := x - want[k]; d > -1<<32 && d < 1<<32 {
						near++
					}
				}
				return xs, nil
			})
			if near > 0 { // by chance: 2⁻³¹ each
				t.Errorf("party %d: %d of %d numbers have no mask", i+1, near, len(want))
			}
		}
	}
}

// TestCharged: a run is charged once, before anything is counted, and its session needs the event.
func TestCharged(t *testing.T) {
	p := parties(t, 2, someTable(t, 3), someTable(t, 4))
	want := accountant.Charge{Event: accountant.Approx(budget), Count: 1}
	for _, s := range p.sessions {
		if got := s.Ledger().Runs()[0].Charged; len(got) != 1 || got[0] != want {
			t.Errorf("charged %v, want %v", got, want)
		}
	}
	terms := p.terms
	stattest.Wraps(t, stattest.Err(Open(p.sessions[0], terms)), privacy.ErrPlan,
		"a second run in a session")
	stattest.Wraps(t, stattest.Err(Open(mechtest.On(t, someTable(t, 3), 0), terms)), privacy.ErrPlan,
		"a session without the event")
	p.agree(t)
	for range 2 {
		if _, _, errs := p.sum(columns); errors.Join(errs...) != nil {
			t.Fatal(errs)
		}
	}
	if got := p.sessions[0].Ledger().Runs()[0].Charged; len(got) != 1 {
		t.Errorf("charged %v for two sums", got)
	}
	if _, masked, errs := p.sum(columns); !errors.Is(errs[0], accountant.ErrBudget) ||
		masked[0] != nil {
		t.Errorf("a third sum of two: %v, %v", masked[0], errs[0])
	}
}

// TestTerms: terms that are none are refused, and cost nothing.
func TestTerms(t *testing.T) {
	p := parties(t, 1, someTable(t, 3), someTable(t, 4))
	for name, tt := range map[string]struct {
		change func(t *Terms)
		want   error
	}{
		"more than the budget": {func(t *Terms) { t.Rho = 11000 },
			accountant.ErrBudget},
		"negative":     {func(t *Terms) { t.Rho = -1 }, errTerms},
		"NaN":          {func(t *Terms) { t.Rho = math.NaN() }, errTerms},
		"nobody else":  {func(t *Terms) { t.Identities = t.Identities[:1] }, errTerms},
		"twice":        {func(t *Terms) { t.Identities[1] = t.Identities[0] }, errTerms},
		"no key":       {func(t *Terms) { t.Identities[1] = nil }, errTerms},
		"outside":      {func(t *Terms) { t.Me = 2 }, errTerms},
		"nobody knows": {func(t *Terms) { t.Colluding = 0 }, errTerms},
		"all know":     {func(t *Terms) { t.Colluding = 2 }, errTerms},
		"no person":    {func(t *Terms) { t.PerPerson = 0 }, errTerms},
		"too many":     {func(t *Terms) { t.PerPerson = 3 }, errTerms},
		"no δ":         {func(t *Terms) { t.Budget.Delta = 0 }, accountant.ErrBudget},
	} {
		s := mechtest.On(t, someTable(t, 3), 0, accountant.Charge{Event: Event(budget), Count: 1})
		terms := p.terms
		terms.Identities = slices.Clone(terms.Identities)
		tt.change(&terms)
		stattest.Wraps(t, stattest.Err(Open(s, terms)), tt.want, "%s", name)
		if got := s.Ledger().Runs()[0].Charged; len(got) > 0 {
			t.Errorf("%s is charged %v", name, got)
		}
	}
}

// TestOrder: a run whose parties do not agree, or who are asked out of order, masks nothing, and is
// of no further use.
func TestOrder(t *testing.T) {
	tables := []*table.Table{someTable(t, 3), someTable(t, 4), someTable(t, 5)}
	old := parties(t, 1, tables...)
	replayed, oldKeys := old.agree(t), old.publicKeys()
	asks := func(p *trial) error {
		_, _, errs := p.sum(columns)
		return errs[0]
	}
	fresh := func() (*trial, [][]byte) {
		p := parties(t, 1, tables...)
		var signatures [][]byte
		for i, r := range p.runs {
			seen := stattest.Must(r.Begin(p.publicKeys()))
			signatures = append(signatures, ed25519.Sign(p.keys[i], seen))
		}
		return p, signatures
	}
	p := parties(t, 1, tables...)
	stattest.Wraps(t, asks(p), errOrder, "a sum before the keys")
	stattest.Wraps(t, p.runs[0].Confirm(nil), errOrder, "signatures before the keys")
	for name, keys := range map[string][][]byte{"another run's": oldKeys, "none": nil,
		"two": p.publicKeys()[:2]} {
		p := parties(t, 1, tables...)
		stattest.Wraps(t, stattest.Err(p.runs[0].Begin(keys)), errParties, "%s keys", name)
		stattest.Wraps(t, stattest.Err(p.runs[0].Begin(p.publicKeys())), errOrder, "after %s keys", name)
	}
	for name, change := range map[string]func(p *trial, s [][]byte) [][]byte{
		"another run's": func(*trial, [][]byte) [][]byte { return replayed },
		"one replayed":  func(_ *trial, s [][]byte) [][]byte { s[2] = replayed[2]; return s },
		"one missing":   func(_ *trial, s [][]byte) [][]byte { return s[:2] },
		"swapped":       func(_ *trial, s [][]byte) [][]byte { s[1], s[2] = s[2], s[1]; return s },
		"one of a stranger": func(p *trial, s [][]byte) [][]byte {
			s[1] = ed25519.Sign(old.keys[1], p.runs[0].history)
			return s
		},
	} {
		p, signatures := fresh()
		stattest.Wraps(t, p.runs[0].Confirm(change(p, signatures)), errParties, "%s", name)
		stattest.Wraps(t, asks(p), errOrder, "a sum after signatures that are %s", name)
	}
	_, signatures := fresh() // a key that makes every secret the same
	low := parties(t, 1, tables...)
	keys := low.publicKeys()
	keys[1] = make([]byte, 32)
	seen, err := low.runs[0].Begin(keys)
	stattest.Check(t, err)
	for i := range signatures {
		signatures[i] = ed25519.Sign(low.keys[i], seen)
	}
	stattest.Wraps(t, low.runs[0].Confirm(signatures), errParties, "a key of low order")
	gone := errors.New("gone")
	p = parties(t, 2, tables...)
	p.agree(t)
	_, err = p.runs[0].Sum(columns, func([]uint64, string) ([]uint64, error) { return nil, gone })
	stattest.Wraps(t, err, gone, "a sum that does not come back")
	stattest.Wraps(t, asks(p), errOrder, "a sum after one that did not come back")
	p = parties(t, 2, tables...)
	p.agree(t)
	_, err = p.runs[0].Sum(columns, func(xs []uint64, _ string) ([]uint64, error) {
		return xs[1:], nil
	})
	stattest.Wraps(t, err, errParties, "a sum of another length")
	for _, q := range []Question{{Rho: .5}, {Marginals: columns.Marginals},
		{Rho: math.NaN(), Marginals: columns.Marginals}, {Rho: -1, Marginals: columns.Marginals},
		{Rho: .5, Marginals: []privacy.Marginal{{Cols: []int{9}}}},
		{Rho: .5, Marginals: columns.Marginals, Signs: 65},
		{Rho: .5, Marginals: columns.Marginals, Signs: -1}} {
		p := parties(t, 1, tables...)
		p.agree(t)
		if _, masked, errs := p.sum(q); !errors.Is(errs[0], errTerms) || masked[0] != nil {
			t.Errorf("%+v: %v", q, errs[0])
		}
	}
	if s := fmt.Sprintf("%v %+v %#v", p.runs[0], *p.runs[0], p.runs[0].run); s !=
		"shares.Run shares.Run shares.Run" {
		t.Errorf("it prints as %s", s)
	}
	stattest.Wraps(t, stattest.Err(p.runs[0].MarshalText()), access.ErrPrivate, "it is encoded")
}

// TestOtherQuestion: where the parties ask different things, or have different sums of before, what
// they add up is noise.
func TestOtherQuestion(t *testing.T) {
	far := func(totals []Total) bool {
		for _, x := range slices.Concat(totals[0].Counts...) {
			if x > -1<<40 && x < 1<<40 {
				return false
			}
		}
		return true
	}
	tables := []*table.Table{someTable(t, 3), someTable(t, 4)}
	other := columns
	other.Seed[0] = 1
	p := parties(t, 3, tables...)
	p.agree(t)
	if totals, _, errs := p.sum(columns); errors.Join(errs...) != nil || far(totals) {
		t.Fatalf("the same question: %v, %v", totals[0], errs)
	}
	if totals, _, errs := p.sum(columns, other); errors.Join(errs...) != nil || !far(totals) {
		t.Errorf("two questions: %v, %v", totals[0], errs)
	}
	if totals, _, errs := p.sum(columns); errors.Join(errs...) != nil || !far(totals) {
		t.Errorf("after two questions: %v, %v", totals[0], errs)
	}
	p = parties(t, 1, tables...)
	p.agree(t)
	critic := toy(bounds.Residual, .5, 2, 3, 4)
	critic.Gradient.Network.Layers[0].Weights[0] += .25
	totals, _, errs := p.sum(critic, toy(bounds.Residual, .5, 2, 3, 4))
	near := 0 // of 76 uniform numbers none, but by chance: 1e-5
	for _, x := range totals[0].Gradient.Released {
		if x > -1<<40 && x < 1<<40 {
			near++
		}
	}
	if errors.Join(errs...) != nil || near > 1 {
		t.Errorf("two critics: %v, %v", totals[0], errs)
	}
}

// TestSmallTables: what noise is added to moves between neighbours by no more than is charged, and
// by that for some pair; signed sums under replace-one by half of it at least.
func TestSmallTables(t *testing.T) {
	small := []privacy.Marginal{{Cols: []int{0}}, {Cols: []int{0, 1}}}
	var rows []mechtest.SmallRow
	for name, q := range map[string]Question{"cells": {Rho: .5, Marginals: small},
		"signed sums": {Rho: .5, Marginals: small, Signs: 3, Seed: [32]byte{1}}} {
		rows = append(rows, mechtest.SmallRow{Mechanism: "Sum", With: name,
			Of: func(s *mechtest.Small) gatetest.Value {
				return gatetest.One[int64](s)(exact(t, mechtest.On(t, s.Table, s.NB.Adjacency), q), nil)
			},
			Claim: func(nb privacy.Neighbours) float64 {
				return q.cost(queriesFor(t, q), nb, Terms{PerPerson: 1}).Sensitivity * (1 - 1e-12)
			},
			Norm: gatetest.L2,
			Most: func(nb privacy.Neighbours) float64 {
				if q.Signs > 0 && nb.Adjacency == accountant.ReplaceOne {
					return .5
				}
				return 1 - 2e-12
			}})
	}
	mechtest.RunSmall(t, rows, "Sum")
}

// TestPerPerson: a person with rows at two parties moves a sum as one of twice the rows does.
func TestPerPerson(t *testing.T) {
	for _, q := range []Question{columns, pairs} {
		queries := queriesFor(t, q)
		for _, nb := range mechtest.Relations {
			two, double := q.cost(queries, nb, Terms{PerPerson: 2}), nb
			double.MaxRowsPerUnit *= 2
			if one := q.cost(queries, double, Terms{PerPerson: 1}); two != one {
				t.Errorf("%+v: %+v, want %+v", nb, two, one)
			}
		}
	}
}

// TestSigns: the signs of a question are fair and independent of each other, and the mean square of
// signed sums is the squared norm, to within six standard deviations of 400 draws.
func TestSigns(t *testing.T) {
	cells := []int64{5, -3, 0, 12, 7, 7, -20, 1}
	norm, sum, square := 0.0, 0.0, 0.0
	for _, x := range cells {
		norm += float64(x * x)
	}
	const draws = 400
	for i := range draws {
		mean := 0.0
		for _, x := range Signed(cells, SignsOf([32]byte{3}, i, len(cells)), 64) {
			mean += float64(x*x) / 64
		}
		sum += mean
		square += mean * mean
	}
	sd := math.Sqrt((square/draws - sum/draws*sum/draws) / draws)
	if math.Abs(sum/draws-norm) > 6*sd || sd > norm/20 {
		t.Errorf("mean square %v ± %v, want %v", sum/draws, sd, norm)
	}
	if a, b := SignsOf([32]byte{1}, 0, 4), SignsOf([32]byte{2}, 0, 4); slices.Equal(a, b) {
		t.Error("the seed decides nothing")
	}
}
