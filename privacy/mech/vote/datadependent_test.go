package vote

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// silent votes for a class of its own on every question; some come back from nothing.
type silent struct{ class uint8 }

func (t silent) Train(*table.Table, int) {
	if t.class == 7 {
		panic("a private value")
	}
}

func (t silent) VotesTo(votes []uint8, _ int) {
	if t.class == 6 {
		panic("a private value")
	}
	for q := range votes {
		votes[q] = t.class
	}
}

// watched is a session on 90 rows, and its shards, whose teachers vote as class says.
func watched(
	t *testing.T, plan accountant.Composition, k int, class func(shard int) uint8,
) (*privacy.Session, *Shards[int]) {
	t.Helper()
	tab := gatetest.Table(t, gatetest.Schema("", 0), gatetest.SomeRows(90), nil)
	s, err := privacy.Open(context.Background(), privacy.FromTable(tab), privacy.Options{Plan: plan,
		Budget: accountant.Budget{Epsilon: 1e12, Delta: 1e-9}, Method: "test"})
	stattest.Check(t, err)
	sh, err := SplitWatched(s, k, func(shard int) Teacher[int] { return silent{class(shard)} })
	if err == nil {
		err = sh.Train(0)
	}
	stattest.Check(t, err)
	return s, sh
}

// TestVotesAreCountedAsTheyCount: the cost is that of the counts that are noised, strange
// votes and teachers that fail included, over the questions that were answered.
func TestVotesAreCountedAsTheyCount(t *testing.T) {
	a, b := Aggregator{Sigma: 4}, Ballot{Questions: 3, Classes: 3}
	plan := append(Plan(a, b, 0), Plan(Aggregator{Sigma: 4, CheckSigma: 5,
		Threshold: 1e9}, b, 1)...)
	// classes 0 to 7 in turn: 3 and beyond are no classes, 6 and 7 do not come back
	_, sh := watched(t, plan, 80, func(shard int) uint8 { return uint8(shard % 8) })
	var want diagnostic
	for range b.Questions {
		want.add([]int64{60, 10, 10}, 0, 4)
	}
	if _, err := sh.Vote(a, b, 0); err != nil || *sh.inner().cost != want {
		t.Errorf("the cost is %+v, %v; want %+v", *sh.inner().cost, err, want)
	}
	never := Aggregator{Sigma: 4, CheckSigma: 5, Threshold: 1e9}
	want.addChecks(b.Questions, 5)
	if _, err := sh.Vote(never, b, 0); err != nil || *sh.inner().cost != want {
		t.Errorf("with checks the cost is %+v, %v; want %+v", *sh.inner().cost, err, want)
	}
}

// TestAudit_DataDependentCostStaysInside: no method of the gate returns it, it cannot be had while
// training goes on, and what is written says that it is not private.
func TestAudit_DataDependentCostStaysInside(t *testing.T) {
	a, b := Aggregator{Sigma: 4}, Ballot{Questions: 50, Classes: 3}
	s, sh := watched(t, Plan(a, b, 0), 60, func(shard int) uint8 { return uint8(shard % 3) })
	path := filepath.Join(t.TempDir(), "cost.private.json")
	stattest.Must(sh.Vote(a, b, 0))
	stattest.Wraps(t, sh.SaveCost(path, 1e-5), errNotPrivate, "from an open session")
	stattest.Check(t, s.Finish(nil, nil))
	for name, err := range map[string]error{
		"a model's name": sh.SaveCost(filepath.Join(filepath.Dir(path), "cost.json"), 1e-5),
		"delta 0":        sh.SaveCost(path, 0),
		"delta NaN":      sh.SaveCost(path, math.NaN()),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	stattest.Check(t, sh.SaveCost(path, 1e-5))
	stattest.Fails(t, sh.SaveCost(path, 1e-5), "an existing file was overwritten")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	text := stattest.Must(os.ReadFile(path))
	var got struct {
		NotPrivate bool    `json:"not_private"`
		Epsilon    float64 `json:"data_dependent_epsilon"`
		Answers    int
	}
	if err := json.Unmarshal(text, &got); err != nil || !got.NotPrivate || got.Answers != 50 ||
		!(got.Epsilon > 0) {
		t.Errorf("%s: %v", text, err)
	}
	// By type: nothing that a caller can reach holds a number beside the tally, and the ledger has the
	// data-independent events only.
	typ := reflect.TypeFor[*Shards[int]]()
	var methods []string
	for i := range typ.NumMethod() {
		methods = append(methods, typ.Method(i).Name)
	}
	want := []string{"Count", "Format", "MarshalText", "SaveCost", "Train", "Vote"}
	if !slices.Equal(methods, want) {
		t.Errorf("methods of shards %v, want %v", methods, want)
	}
	for _, e := range s.Ledger().Entries {
		if strings.Contains(e.Label, "dependent") {
			t.Errorf("the ledger has %+v", e)
		}
	}
}

// TestDataDependentCost: agreeing teachers cost less than the data-independent bound, divided ones
// as much.
func TestDataDependentCost(t *testing.T) {
	var agree, divided, two, laplace, checks diagnostic
	for range 100 {
		agree.add([]int64{0, 250, 0}, 0, 40)
		divided.add([]int64{84, 83, 83}, 0, 40)
		two.add([]int64{125, 125}, 0, 40)
		laplace.add([]int64{3, 4}, 20, 0)
	}
	checks.addChecks(100, 40)
	// ρ = 100/1600 of the votes with three classes, half of it with two and for checks: the conversion
	// at the best order is near ρ + 2√(ρ ln(1/δ)).
	if a, d := agree.epsilon(1e-5), divided.epsilon(1e-5); a > .6*d || d < 1.4 || d > 1.76 {
		t.Errorf("agreeing teachers cost %v, divided ones %v", a, d)
	}
	if a, b := two.epsilon(1e-5), checks.epsilon(1e-5); math.Abs(a-b) > 1e-9 || a < 1 || a > 1.24 {
		t.Errorf("two classes cost %v, checks %v", a, b)
	}
	if e := laplace.epsilon(1e-5); !(e > 1 && e < 5) {
		t.Errorf("Laplace votes cost %v", e)
	}
}
