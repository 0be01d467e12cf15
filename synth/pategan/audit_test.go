package pategan

import (
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/vote"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
	"github.com/decoy-dp/decoy/table"
)

// The tests named TestAudit_ are the defects that an audit of six public PATE-GANs found (Ganev,
// Annamalai, De Cristofaro 2024, arXiv 2406.13985), here and in package privacy: each shows that
// this implementation has not got one of them.

// TestAudit_DomainFromTheSchema: a plan is made without rows, and networks have a cell for every
// code of the schema, whether a row has it or not.
func TestAudit_DomainFromTheSchema(t *testing.T) {
	s := synthtest.Schema(4)
	// one code a column occurs
	one := synthtest.Table(t, s, 300).Select(slices.Repeat([]int{0}, 50))
	p, session := opened(t, small, one, budget)
	tr := fitted(t, p, &gate{p: p, s: session})
	cells := 0
	for _, n := range s.Sizes() {
		cells += n
	}
	if tr.encoder.Cells() != cells || len(newTeacher(0, tr.offsets, 4).weights) != cells*5+9 {
		t.Errorf("%d cells, want %d", tr.encoder.Cells(), cells)
	}
}

// TestAudit_StudentOnRealRows: student and generator are a function of the answers and of the seed:
// a fit that is given them again, with no session, no teacher and no table to ask, ends with the
// same ones, bit for bit.
func TestAudit_StudentOnRealRows(t *testing.T) {
	p, session := opened(t, small, synthtest.Table(t, synthtest.Schema(4), 300), budget)
	first := &recorder{from: &gate{p: p, s: session}}
	want := fitted(t, p, first)
	got := fitted(t, p, &recorder{Answers: first.Answers})
	if !slices.Equal(got.student.critic.Parameters(), want.student.critic.Parameters()) {
		t.Error("another student")
	}
	if !slices.Equal(got.generator.Parameters(), want.generator.Parameters()) {
		t.Error("another generator")
	}
}

// TestAudit_MinimumAndMaximumFromTheData: bins, and the numbers drawn in them, are the schema's,
// though all rows are in one bin, and the model is told no other.
func TestAudit_MinimumAndMaximumFromTheData(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Name: "x", Kind: schema.Real, Min: -40, Max: 40,
		Bins: 8}, {Name: "y", Kind: schema.Categorical, Categories: []string{"a", "b"}}}}
	codes := []table.Codes{{U8: slices.Repeat([]uint8{3}, 60)}, {U8: slices.Repeat([]uint8{1}, 60)}}
	tab := synthtest.Must(table.FromColumns(s, codes, nil))
	f, err := New(Config{ColdStart: true, Rounds: 1, Questions: 5, WarmSteps: 1, GeneratorSteps: 1,
		PostSteps: 1, Batch: 32})
	if err != nil {
		t.Fatal(err)
	}
	out := synthtest.Sample(t, synthtest.Fit(t, f, tab, budget), 400, 1)
	if out.Schema().Fingerprint() != s.Fingerprint() {
		t.Error("the model has a schema of its own")
	}
	counts := make([]int64, 8)
	out.CountTo(counts, []int{0})
	if counts[0] == 0 || counts[7] == 0 {
		t.Errorf("a generator that hardly learnt draws codes %v: bins were dropped", counts)
	}
}

// TestAudit_PenaltyOnRealRows: of the method's files only the teacher's sees tables, and only the
// source's and the buyers see the gate. So the student, the generator, the penalty that there is
// not, and their losses have no way to a row.
func TestAudit_PenaltyOnRealRows(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	allowed := map[string][]string{"table": {"teacher.go"}}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f := synthtest.Must(parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly))
		for _, spec := range f.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if files, ok := allowed[filepath.Base(name)]; ok && !slices.Contains(files, path) {
				t.Errorf("%s imports %s", path, name)
			}
			if filepath.Base(name) == "privacy" &&
				slices.Contains([]string{"teacher.go", "student.go", "match.go", "group.go"},
					path) {
				t.Errorf("%s imports the gate", path)
			}
		}
	}
}

// counting is a gate that looks at the account before each vote.
type counting struct {
	*gate
	t       *testing.T
	batches int
}

func (c *counting) vote(l *voteBatch) ([]int64, error) {
	c.batches++
	votes, err := c.gate.vote(l)
	if len(votes) != l.asked.rows() {
		c.t.Errorf("%d answers to %d questions", len(votes), l.asked.rows())
	}
	return votes, err
}

// TestAudit_ComposesOverRounds: every question of every round is an event; what is charged after
// each release is within the budget, and the whole plan costs all of it.
func TestAudit_ComposesOverRounds(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 200)
	p, s := opened(t, small, tab, budget)
	c := &counting{gate: &gate{p: p, s: s}, t: t}
	fitted(t, p, c)
	event, _ := vote.Events(p.aggregator(), 2)
	var sofar accountant.Composition
	questions := 0
	for _, e := range s.Ledger().Entries {
		if e.Kind != ledger.EntryCharge {
			continue
		}
		sofar = append(sofar, *e.Event)
		if e.Event.Event == event {
			questions += e.Event.Count
		}
	}
	if questions != small.Rounds*small.Questions || c.batches != small.Rounds {
		t.Errorf("%d questions charged in %d rounds", questions, c.batches)
	}
	for _, n := range []int{1, len(sofar) / 2, len(sofar) - 1, len(sofar)} {
		cost, err := pld.Epsilon(sofar[:n], budget.Delta, accountant.AddRemove)
		if err != nil || cost.Epsilon > budget.Epsilon || n == len(sofar) &&
			cost.Epsilon < .99*budget.Epsilon {
			t.Errorf("after %d releases: %+v, %v", n, cost, err)
		}
	}
	// Four times the rounds: the same part of the budget pays, so each vote has twice the noise.
	more := small
	more.Rounds *= 4
	if q := planned(t, more, tab.Schema(), budget); math.Abs(q.votes/p.votes-2) > 1e-3 {
		t.Errorf("noise %v with %d rounds, %v with %d", p.votes, small.Rounds, q.votes, more.Rounds)
	}
}

// TestAudit_NoiseFollowsDelta: δ is the number that was given, not its exponent, and a smaller one
// means more noise: the votes alone, as one Gaussian, have the exact σ of Balle and Wang.
func TestAudit_NoiseFollowsDelta(t *testing.T) {
	s := synthtest.Schema(4)
	cold := small
	cold.ColdStart, cold.TotalShare = true, .01
	last := 0.0
	for _, tt := range []struct{ delta, sigma float64 }{{1e-5, 3.730632}, {1e-6, 4.224679},
		{1e-9, 5.495266}} {
		p := planned(t, cold, s, accountant.Budget{Epsilon: 1, Delta: tt.delta})
		want := tt.sigma * math.Sqrt(float64(small.Rounds*small.Questions)/.99)
		if math.Abs(p.votes/want-1) > 1e-5 || p.votes <= last {
			t.Errorf("delta %v: noise %v, want %v", tt.delta, p.votes, want)
		}
		last = p.votes
	}
}

// TestAudit_TeachersPersist: a teacher goes on from where it was, weights and optimiser: two
// batches are not the second alone.
func TestAudit_TeachersPersist(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(2), 40)
	fakes := cells{columns: 2, at: []int32{0, 2, 1, 3, 0, 4}}
	batches := []*voteBatch{{seed: 1, epochs: 2, rate: .1, fakes: fakes},
		{seed: 2, epochs: 2, rate: .1, fakes: fakes}}
	both, second := newTeacher(0, []int{0, 2, 5}, 4), newTeacher(0, []int{0, 2, 5}, 4)
	both.Train(tab, batches[0])
	middle := slices.Clone(both.state)
	both.Train(tab, batches[1])
	second.Train(tab, batches[1])
	if slices.Equal(both.weights, second.weights) {
		t.Error("the first batch is forgotten")
	}
	for i, s := range both.state {
		if s < middle[i] {
			t.Fatal("the optimiser's state began anew")
		}
	}
}

// TestAudit_StoppingIsFixed: how many rounds there are, and what is charged, is the plan's,
// whatever the rows are.
func TestAudit_StoppingIsFixed(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 200)
	var charges []string
	for _, other := range []*table.Table{tab, tab.Select([]int{7}),
		tab.Select(slices.Repeat([]int{3, 4}, 300))} {
		p, s := opened(t, small, other, budget)
		fitted(t, p, &gate{p: p, s: s})
		text := ""
		for _, e := range s.Ledger().Entries {
			if e.Kind == ledger.EntryCharge {
				text += fmt.Sprintf("%+v\n", *e.Event) // which marginals they were of is released
			}
		}
		charges = append(charges, text)
	}
	if charges[0] != charges[1] || charges[0] != charges[2] {
		t.Errorf("charges %q", charges)
	}
}

// attentive is a teacher that counts rows.
type attentive struct{ rows *int }

func (a attentive) Train(shard *table.Table, _ int) { *a.rows += shard.Rows() }
func (a attentive) VotesTo([]uint8, int)            {}

// TestAudit_NothingIsTruncated: 101 rows on 10 shards are 101 rows, and a vote counts every
// teacher.
func TestAudit_NothingIsTruncated(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(3), 101)
	_, s := opened(t, small, tab, budget)
	counts := make([]int, 10)
	sh, err := vote.Split(s, 10,
		func(i int) vote.Teacher[int] { return attentive{&counts[i]} })
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.Train(0); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if sum != 101 {
		t.Errorf("teachers see %d of 101 rows", sum)
	}
	for rows, want := range map[float64]int{1: 1, 14: 1, 16: 2, 1e9: maxTeachers} {
		if got := small.teachers(rows); got != want {
			t.Errorf("%v rows make %d teachers, want %d", rows, got, want)
		}
	}
}

// TestAudit_TheSameModelSamplesForFree: sampling reads no row and charges nothing, however often.
func TestAudit_TheSameModelSamplesForFree(t *testing.T) {
	f := synthtest.Must(New(small))
	m, s, err := synth.Run(context.Background(),
		privacy.FromTable(synthtest.Table(t, synthtest.Schema(4), 200)), f,
		synth.RunOptions{Options: privacy.Options{Budget: budget}})
	if err != nil {
		t.Fatal(err)
	}
	before := len(s.Ledger().Entries)
	for seed := range uint64(3) {
		synthtest.Sample(t, m, 50, seed)
	}
	if got := len(s.Ledger().Entries); got != before {
		t.Errorf("%d lines in the ledger after sampling, %d before", got, before)
	}
}
