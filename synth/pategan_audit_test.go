package synth

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

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/privacy/ledger"
	"github.com/decoy-dp/decoy/privacy/mech/vote"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/synth/synthtest"
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
	p, from, _ := live(t, small, one)
	tr := fitted(t, p, from)
	cells := 0
	for _, n := range s.Sizes() {
		cells += n
	}
	if tr.encoder.Cells() != cells || len(newTeacher(0, tr.offsets, 4).weights) != cells*5+9 {
		t.Errorf("%d cells, want %d", tr.encoder.Cells(), cells)
	}
}

// TestAudit_MinimumAndMaximumFromTheData: bins, and the numbers drawn in them, are the schema's,
// though all rows are in one bin, and the model is told no other.
func TestAudit_MinimumAndMaximumFromTheData(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Name: "x", Kind: schema.Real, Min: -40, Max: 40,
		Bins: 8}, {Name: "y", Kind: schema.Categorical, Categories: []string{"a", "b"}}}}
	codes := []table.Codes{{U8: slices.Repeat([]uint8{3}, 60)}, {U8: slices.Repeat([]uint8{1}, 60)}}
	tab := stattest.Must(table.FromColumns(s, codes, nil))
	f := checked(&PATEGAN{Rounds: 1, Questions: 5, DistilSteps: 1, GeneratorSteps: 1})
	out := Sample(t, Fit(t, f, tab, accountant.Budget{Epsilon: .01, Delta: 1e-6}),
		400, 1)
	if out.Schema().Fingerprint() != s.Fingerprint() {
		t.Error("the model has a schema of its own")
	}
	counts := out.Counts(0)
	if counts[0] == 0 || counts[7] == 0 {
		t.Errorf("a model that hardly learnt draws codes %v: bins were dropped", counts)
	}
}

// TestAudit_PenaltyOnRealRows: of the method's files only the teacher's sees tables, and neither
// it nor the student's sees the gate. So the student, the generator, the penalty that there is not,
// and their losses have no way to a row.
func TestAudit_PenaltyOnRealRows(t *testing.T) {
	files, err := filepath.Glob("pategan*.go")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, path := range append(files, "distil.go") {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f := stattest.Must(parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly))
		for _, spec := range f.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if filepath.Base(name) == "table" && path != "pategan_teacher.go" {
				t.Errorf("%s imports %s", path, name)
			}
			if filepath.Base(name) == "privacy" && slices.Contains([]string{"distil.go",
				"pategan_teacher.go", "pategan_student.go"}, path) {
				t.Errorf("%s imports the gate", path)
			}
		}
	}
}

// TestAudit_ComposesOverRounds: every question of every round is an event; what is charged after
// each release is within the budget, and the whole plan costs all of it. So it is with each
// aggregator, of which one leaves questions without an answer, and with directions.
func TestAudit_ComposesOverRounds(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 200)
	for _, aggregator := range append([]string{"directions"}, vote.Aggregators...) {
		c := small
		if c.Aggregator = aggregator; aggregator == "directions" {
			c.Aggregator, c.Directions = "", 5
		}
		p, from, s := live(t, c, tab)
		var got answers
		fitted(t, p, got.recorded(from))
		answer, check := vote.Events(p.votes, p.ballot.Classes)
		asked := answer
		if check != nil {
			asked = check
		}
		var sofar accountant.Composition
		questions := 0
		for _, e := range s.Ledger().Entries {
			if e.Kind != ledger.EntryCharge {
				continue
			}
			sofar = append(sofar, *e.Event)
			if e.Event.Event == asked {
				questions += e.Event.Count
			}
		}
		if questions != c.Rounds*c.Questions || len(got.votes) != c.Rounds {
			t.Errorf("%s: %d questions charged in %d rounds", aggregator, questions, len(got.votes))
		}
		for _, n := range []int{1, len(sofar) / 2, len(sofar) - 1, len(sofar)} {
			cost, err := pld.Epsilon(sofar[:n], budget.Delta, accountant.AddRemove)
			if err != nil || cost.Epsilon > budget.Epsilon || n == len(sofar) && check == nil &&
				cost.Epsilon < .99*budget.Epsilon {
				t.Errorf("%s: after %d releases: %+v, %v", aggregator, n, cost, err)
			}
		}
		// Four times the rounds: the same part of the budget pays, so each vote has twice the noise.
		more := c
		more.Rounds *= 4
		q := planned(t, more, tab.Schema(), budget)
		noise := (q.votes.Sigma + q.votes.Laplace) / (p.votes.Sigma + p.votes.Laplace)
		if math.Abs(noise-2) > .05 {
			t.Errorf("%s: noise grows by %v with four times the rounds", aggregator, noise)
		}
	}
}

// TestAudit_NoiseFollowsDelta: δ is the number that was given, not its exponent, and a smaller one
// means more noise: the votes alone, as one Gaussian, have the exact σ of Balle and Wang.
func TestAudit_NoiseFollowsDelta(t *testing.T) {
	s := synthtest.Schema(4)
	last := 0.0
	for _, tt := range []struct{ delta, sigma float64 }{{1e-5, 3.730632}, {1e-6, 4.224679},
		{1e-9, 5.495266}} {
		p := planned(t, small, s, accountant.Budget{Epsilon: 1, Delta: tt.delta})
		want := tt.sigma * math.Sqrt(float64(small.Rounds*small.Questions)/(1-small.MarginalShare))
		if math.Abs(p.votes.Sigma/want-1) > 1e-5 || p.votes.Sigma <= last {
			t.Errorf("delta %v: noise %v, want %v", tt.delta, p.votes.Sigma, want)
		}
		last = p.votes.Sigma
	}
}

// TestAudit_TeachersPersist: a teacher goes on from where it was, weights and optimiser: two
// batches are not the second alone.
func TestAudit_TeachersPersist(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(2), 40)
	fakes := cells{columns: 2, at: []int32{0, 2, 1, 3, 0, 4}}
	batches := []*shown{{seed: 1, fakes: fakes}, {seed: 2, fakes: fakes}}
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

// TestAudit_StoppingIsFixed: how many rounds there are, and what votes are charged, is the plan's,
// whatever the rows are.
func TestAudit_StoppingIsFixed(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 200)
	var charges []string
	for _, other := range []*table.Table{tab, tab.Select([]int{7}),
		tab.Select(slices.Repeat([]int{3, 4}, 300))} {
		p, from, s := live(t, small, other)
		fitted(t, p, from)
		answer, _ := vote.Events(p.votes, 2)
		text := ""
		for _, e := range s.Ledger().Entries {
			if e.Kind == ledger.EntryCharge && e.Event.Event == answer {
				text += fmt.Sprintf("%+v\n", *e.Event)
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
	_, _, s := live(t, small, tab)
	counts := make([]int, 10)
	sh := stattest.Must(vote.Split(s, 10,
		func(i int) vote.Teacher[int] { return attentive{&counts[i]} }))
	stattest.Check(t, sh.Train(0))
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
	f := checked(&small)
	m, s, err := Run(context.Background(),
		privacy.FromTable(synthtest.Table(t, synthtest.Schema(4), 200)), f,
		RunOptions{Options: privacy.Options{Budget: budget}})
	stattest.Check(t, err)
	before := len(s.Ledger().Entries)
	for seed := range uint64(3) {
		Sample(t, m, 50, seed)
	}
	if got := len(s.Ledger().Entries); got != before {
		t.Errorf("%d lines in the ledger after sampling, %d before", got, before)
	}
}
