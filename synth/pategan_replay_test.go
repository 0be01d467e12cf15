package synth

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/vote"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// small are settings of a fit of a few hundredths of a second.
var small = PATEGAN{Rounds: 4, Questions: 30, DistilSteps: 10, GeneratorSteps: 5, ShardRows: 10,
	MarginalShare: .5}

var budget = accountant.Budget{Epsilon: 2, Delta: 1e-6}

// answers are what a source returned, and what teachers were shown.
type answers struct {
	marginals Model
	votes     []vote.Tally
	shown     []*shown
}

// recorded is a source that keeps what another returned.
func (a *answers) recorded(from source) source {
	return source{
		marginals: func() (m Model, err error) {
			a.marginals, err = from.marginals()
			return a.marginals, err
		},
		vote: func(l *shown) (vote.Tally, error) {
			votes, err := from.vote(l)
			a.votes, a.shown = append(a.votes, votes), append(a.shown, l)
			return votes, err
		},
	}
}

// frozen is a source that asks another all that a fit asks, if it is not nil, and returns the
// answers. It keeps what teachers were shown.
func (a *answers) frozen(other *source, seen *[]*shown) source {
	return source{
		marginals: func() (Model, error) {
			if other != nil {
				if _, err := other.marginals(); err != nil {
					return Model{}, err
				}
			}
			return a.marginals, nil
		},
		vote: func(l *shown) (vote.Tally, error) {
			*seen = append(*seen, l)
			if other != nil {
				if _, err := other.vote(l); err != nil {
					return vote.Tally{}, err
				}
			}
			return a.votes[len(*seen)-1], nil
		},
	}
}

// live is a plan of the settings, a source for it on the table, and its session.
func live(t testing.TB, c PATEGAN, tab *table.Table) (*patePlan, source, *privacy.Session) {
	t.Helper()
	made := stattest.Must(NewPlan(checked(&c), schema.One(tab.Schema()),
		privacy.NeighboursOf(tab.Schema(), 0), budget))
	s := stattest.Must(privacy.Open(context.Background(), privacy.FromTable(tab),
		privacy.Options{Budget: budget, Plan: made.Reserve, Method: "pategan"}))
	p := made.Plan.(*patePlan)
	return p, p.source(context.Background(), s, nil), s
}

// planned is the plan of the settings.
func planned(t testing.TB, c PATEGAN, s *schema.Schema, b accountant.Budget) *patePlan {
	t.Helper()
	f := checked(&c)
	return stattest.Must(NewPlan(f, schema.One(s), privacy.NeighboursOf(s, 0), b)).Plan.(*patePlan)
}

// fitted runs a fit on a source and returns its end.
func fitted(t testing.TB, p *patePlan, from source) *pateTraining {
	t.Helper()
	tr := p.training(rand.New(rand.NewPCG(1, 2)))
	if _, err := tr.run(context.Background(), from, nil); err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestGrayBoxReplay: with the answers of one fit frozen, a fit on a neighbour, or on any other
// table, whose teachers train and vote on that table, ends with the same student and the same
// generator, bit for bit, and has shown the teachers the same. So nothing but the answers reaches
// them. The same holds for a fit without a session, a teacher or a table to ask.
func TestGrayBoxReplay(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 300)
	p, from, _ := live(t, small, tab)
	var first answers
	want := fitted(t, p, first.recorded(from))
	all := make([]int, 300)
	for i := range all {
		all[i] = i
	}
	tables := map[string]*table.Table{
		"the same": tab, "row 0 removed": tab.Select(all[1:]),
		"a row added":    tab.Select(append(all, 17)),
		"a row replaced": tab.Select(append(all[:299:299], 3)),
		"one row":        tab.Select(all[:1]),
		"another table":  tab.Select(slices.Repeat([]int{5}, 400)),
		"none":           nil,
	}
	for name, other := range tables {
		var asked *source
		if other != nil {
			_, from, _ := live(t, small, other)
			asked = &from
		}
		var seen []*shown
		got := fitted(t, p, first.frozen(asked, &seen))
		if !slices.Equal(got.generator.Parameters(), want.generator.Parameters()) {
			t.Errorf("%s: another generator", name)
		}
		if !slices.Equal(got.student.critic.Parameters(), want.student.critic.Parameters()) {
			t.Errorf("%s: another student", name)
		}
		for i, l := range seen {
			if was := first.shown[i]; l.seed != was.seed || !slices.Equal(l.asked.at, was.asked.at) ||
				!slices.Equal(l.fakes.at, was.fakes.at) || l.teachers != was.teachers {
				t.Errorf("%s: teachers were shown something else in round %d", name, i)
			}
		}
		if len(seen) != small.Rounds {
			t.Errorf("%s: %d rounds", name, len(seen))
		}
	}
	// The answers do matter: with one vote changed the end is another.
	changed := first
	changed.votes = slices.Clone(first.votes)
	last := &changed.votes[len(changed.votes)-1]
	last.Counts = slices.Clone(last.Counts)
	last.Counts[1] += 1000
	if got := fitted(t, p, changed.frozen(nil, new([]*shown))); slices.Equal(
		got.student.critic.Parameters(), want.student.critic.Parameters()) {
		t.Error("a changed vote went unnoticed: the test shows nothing")
	}
}

// TestTeachersDependOnTheirShardOnly: of teachers trained on shards that are alike but for one,
// only that one differs; and the same batch makes the same teacher.
func TestTeachersDependOnTheirShardOnly(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 100)
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
			teacher.Train(shard, &shown{seed: uint64(round), fakes: fakes})
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
	empty.Train(rows(0, 0), &shown{fakes: fakes})
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
	draw := func(n int, row func(int) int) (c cells) {
		c.columns = 4
		for i := range n {
			for k := range 4 {
				c.at = append(c.at, int32(offsets[k])+int32(tab.Column(k).At(row(i))))
			}
		}
		return c
	}
	apart := func(int) int { return u.IntN(400) }
	teacher := newTeacher(0, offsets, 8)
	for round := range 10 {
		teacher.Train(tab, &shown{seed: uint64(round), fakes: draw(400, apart)})
	}
	share := func(c cells) float64 {
		votes := make([]uint8, 200)
		teacher.VotesTo(votes, &shown{asked: c})
		n := 0.
		for _, v := range votes {
			n += float64(v)
		}
		return n / 200
	}
	real := draw(200, func(i int) int { return i })
	if r, f := share(real), share(draw(200, apart)); r < f+.3 {
		t.Errorf("takes %.2f of the real rows for real, %.2f of the others", r, f)
	}
}
