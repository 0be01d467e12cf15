package pategan

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth/synthtest"
	"github.com/decoy-dp/decoy/table"
)

// small are settings of a fit of a few hundredths of a second.
var small = Config{Pairs: 2, Rounds: 4, Questions: 30, WarmSteps: 10, GeneratorSteps: 5,
	PostSteps: 20, Batch: 64, StudentHidden: 8, StudentSteps: 10, ShardRows: 10}

var budget = accountant.Budget{Epsilon: 2, Delta: 1e-6}

// recorder is a source that keeps what another returned; with answers already there and no source
// it repeats them.
type recorder struct {
	from    source
	next    int
	Answers []answer
}

type answer struct {
	Kind   string
	Counts []int64
	Index  int
	Asked  []int32 // the rows that were voted on
}

func (r *recorder) ask(kind string, live func(*answer) error) (answer, error) {
	if r.next < len(r.Answers) {
		r.next++
		return r.Answers[r.next-1], nil
	}
	a := answer{Kind: kind}
	err := live(&a)
	r.Answers = append(r.Answers, a)
	r.next++
	return a, err
}

func (r *recorder) total() (int64, error) {
	a, err := r.ask("total", func(a *answer) error {
		n, err := r.from.total()
		a.Counts = []int64{n}
		return err
	})
	return a.Counts[0], err
}

func (r *recorder) oneWay(column int) ([]int64, error) {
	a, err := r.ask("one-way", func(a *answer) (err error) {
		a.Counts,
			err = r.from.oneWay(column)
		return err
	})
	return a.Counts, err
}

func (r *recorder) choose(candidates []privacy.Candidate) (int, error) {
	a, err := r.ask("choice", func(a *answer) (err error) {
		a.Index,
			err = r.from.choose(candidates)
		return err
	})
	return a.Index, err
}

func (r *recorder) pair(m privacy.Marginal, withTarget bool) ([]int64, error) {
	a, err := r.ask("pair", func(a *answer) (err error) {
		a.Counts,
			err = r.from.pair(m, withTarget)
		return err
	})
	return a.Counts, err
}

func (r *recorder) split(teachers int, offsets []int) {
	if r.from != nil {
		r.from.split(teachers, offsets)
	}
}

func (r *recorder) vote(l *voteBatch) ([]int64, error) {
	a, err := r.ask("vote", func(a *answer) (err error) {
		a.Counts, err = r.from.vote(l)
		a.Asked = l.asked.at
		return err
	})
	return a.Counts, err
}

// frozen asks its own gate everything that a fit asks, and returns what was answered in another
// fit.
type frozen struct {
	gate    *gate
	answers []answer
	next    int
	batches []voteBatch // shown to the teachers
}

func (f *frozen) answer() answer { f.next++; return f.answers[f.next-1] }

func (f *frozen) total() (int64, error) {
	_, err := f.gate.total()
	return f.answer().Counts[0], err
}

func (f *frozen) oneWay(column int) ([]int64, error) {
	_, err := f.gate.oneWay(column)
	return f.answer().Counts, err
}

func (f *frozen) choose(c []privacy.Candidate) (int, error) {
	_, err := f.gate.choose(c)
	return f.answer().Index, err
}

func (f *frozen) pair(m privacy.Marginal, withTarget bool) ([]int64, error) {
	_, err := f.gate.pair(m, withTarget)
	return f.answer().Counts, err
}

func (f *frozen) split(teachers int, offsets []int) { f.gate.split(teachers, offsets) }

func (f *frozen) vote(l *voteBatch) ([]int64, error) {
	copied := *l
	copied.asked.at, copied.fakes.at = slices.Clone(l.asked.at), slices.Clone(l.fakes.at)
	f.batches = append(f.batches, copied)
	_, err := f.gate.vote(l)
	return f.answer().Counts, err
}

// opened is a plan of the settings and a session for it on the table.
func opened(
	t testing.TB, c Config, tab *table.Table, b accountant.Budget,
) (*plan, *privacy.Session) {
	t.Helper()
	p := planned(t, c, tab.Schema(), b)
	s, err := privacy.Open(context.Background(), privacy.FromTable(tab), privacy.Options{Budget: b,
		Plan: p.Composition(), Method: Name})
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

type planKey struct {
	c Config
	s string
	b accountant.Budget
}

var plans = map[planKey]*plan{}

// planned is the plan of the settings; plans are kept, as calibrating one takes longer than a small
// fit.
func planned(t testing.TB, c Config, s *schema.Schema, b accountant.Budget) *plan {
	t.Helper()
	key := planKey{c, s.Fingerprint(), b}
	if p := plans[key]; p != nil {
		return p
	}
	f := synthtest.Must(New(c))
	p := synthtest.Must(f.Plan(s, privacy.NeighboursOf(s, 0), b))
	plans[key] = p.(*plan)
	return plans[key]
}

// fitted runs a fit on a source and returns its end.
func fitted(t testing.TB, p *plan, from source) *training {
	t.Helper()
	tr := &training{p: p, u: rand.New(rand.NewPCG(1, 2)), from: from}
	if _, err := tr.run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestGrayBoxReplay: with the answers of one fit frozen, a fit on a neighbour, or on any other
// table, whose teachers train and vote on that table, ends with the same student and the same
// generator, bit for bit, and has shown the teachers the same. So nothing but the answers reaches
// them.
func TestGrayBoxReplay(t *testing.T) {
	s := synthtest.Schema(4)
	tab := synthtest.Table(t, s, 300)
	p, session := opened(t, small, tab, budget)
	first := &recorder{from: &gate{p: p, s: session}}
	want := fitted(t, p, first)
	all := make([]int, 300)
	for i := range all {
		all[i] = i
	}
	tables := map[string]*table.Table{
		"the same": tab, "row 0 removed": tab.Select(all[1:]),
		"a row added":    tab.Select(append(all, 17)),
		"a row replaced": tab.Select(append(all[:299:299], 3)),
		"one row":        tab.Select(all[:1]), "another table": tab.Select(slices.Repeat([]int{5},
			400)),
	}
	var batches []voteBatch
	for name, other := range tables {
		q, session := opened(t, small, other, budget)
		f := &frozen{gate: &gate{p: q, s: session}, answers: first.Answers}
		got := fitted(t, q, f)
		if !slices.Equal(got.generator.Parameters(), want.generator.Parameters()) {
			t.Errorf("%s: another generator", name)
		}
		if !slices.Equal(got.student.critic.Parameters(), want.student.critic.Parameters()) {
			t.Errorf("%s: another student", name)
		}
		if batches == nil {
			batches = f.batches
		}
		for i, l := range f.batches {
			if l.seed != batches[i].seed || !slices.Equal(l.asked.at, batches[i].asked.at) ||
				!slices.Equal(l.fakes.at, batches[i].fakes.at) {
				t.Errorf("%s: teachers were shown something else in round %d", name, i)
			}
		}
		if len(f.batches) != small.Rounds || f.next != len(first.Answers) {
			t.Errorf("%s: %d rounds, %d of %d answers", name, len(f.batches), f.next,
				len(first.Answers))
		}
	}
	// The answers do matter: with one vote changed the end is another.
	changed := slices.Clone(first.Answers)
	last := &changed[len(changed)-1]
	last.Counts = slices.Clone(last.Counts)
	last.Counts[0] += 1000
	q, session := opened(t, small, tab, budget)
	if got := fitted(t, q, &frozen{gate: &gate{p: q, s: session},
		answers: changed}); slices.Equal(got.student.critic.Parameters(),
		want.student.critic.Parameters()) {
		t.Error("a changed vote went unnoticed: the test shows nothing")
	}
}

// TestTeachersDependOnTheirShardOnly: of teachers trained on shards that are alike but for one,
// only that one differs; and the same batch makes the same teacher.
func TestTeachersDependOnTheirShardOnly(t *testing.T) {
	s := synthtest.Schema(4)
	tab := synthtest.Table(t, s, 100)
	offsets := []int{0, 2, 5, 9, 14}
	rows := func(from, n int) *table.Table {
		var pick []int
		for i := range n {
			pick = append(pick, from+i)
		}
		return tab.Select(pick)
	}
	fakes := cells{columns: 4}
	u := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		for k := range 4 {
			fakes.at = append(fakes.at, int32(offsets[k]+u.IntN(offsets[k+1]-offsets[k])))
		}
	}
	weights := func(number int, shard *table.Table) []float32 {
		teacher := newTeacher(number, offsets, 4)
		for round := range 3 {
			teacher.Train(shard, &voteBatch{seed: uint64(round), epochs: 2, rate: .1, fakes: fakes})
		}
		return teacher.weights
	}
	if !slices.Equal(weights(1, rows(0, 20)), weights(1, rows(0, 20))) {
		t.Error("a teacher is not a function of its shard and batches")
	}
	if slices.Equal(weights(1, rows(0, 20)), weights(1, rows(0, 21))) ||
		slices.Equal(weights(1, rows(0, 20)), weights(2, rows(0, 20))) {
		t.Error("shard or number make no difference: the test shows nothing")
	}
	empty := newTeacher(1, offsets, 4)
	before := slices.Clone(empty.weights)
	empty.Train(rows(0, 0), &voteBatch{epochs: 2, rate: .1, fakes: fakes})
	if !slices.Equal(before, empty.weights) {
		t.Error("a teacher without rows learnt something")
	}
}

// TestTeachersTellRowsApart: teachers of one small table know its rows from independent ones better
// than by chance.
func TestTeachersTellRowsApart(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 400)
	offsets := []int{0, 2, 5, 9, 14}
	u := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) (c cells) {
		c.columns = 4
		for range n {
			for k := range 4 {
				c.at = append(c.at, int32(offsets[k])+int32(tab.Column(k).At(u.IntN(400))))
			}
		}
		return c
	}
	real := cells{columns: 4}
	for i := range 200 {
		for k := range 4 {
			real.at = append(real.at, int32(offsets[k])+int32(tab.Column(k).At(i)))
		}
	}
	teacher := newTeacher(0, offsets, 8)
	for round := range 10 {
		teacher.Train(tab, &voteBatch{seed: uint64(round), epochs: 3, rate: .1, fakes: draw(400)})
	}
	share := func(c cells) float64 {
		votes := make([]uint8, 200)
		teacher.VotesTo(votes, &voteBatch{asked: c})
		n := 0.
		for _, v := range votes {
			n += float64(v)
		}
		return n / 200
	}
	if r, f := share(real), share(draw(200)); r < f+.3 {
		t.Errorf("takes %.2f of the real rows for real, %.2f of the others", r, f)
	}
}
