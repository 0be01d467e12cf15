package vote

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// TestVoteEvents states every sensitivity by hand. One teacher moves one vote, whatever the
// relation and the rows of a unit.
func TestVoteEvents(t *testing.T) {
	for _, nb := range relations {
		for _, tt := range []struct {
			name     string
			a        Aggregator
			classes  int
			pure, z  float64
			checkedZ float64
		}{
			{"LNMax of two", Aggregator{Laplace: 20}, 2, .05, 0, 0},
			{"LNMax of ten", Aggregator{Laplace: 20}, 10, .1, 0, 0},
			{"GNMax of two", Aggregator{Sigma: 40}, 2, 0, 40, 0},
			{"GNMax of ten", Aggregator{Sigma: 40}, 10, 0, 40 / math.Sqrt2, 0},
			{"confident of three", Aggregator{CheckSigma: 200, Sigma: 40, Threshold: 1}, 3, 0,
				40 / math.Sqrt2, 200},
			{"interactive of two", Aggregator{CheckSigma: 200, Sigma: 40, Threshold: 1}, 2, 0, 40,
				200},
		} {
			answer, check := Events(tt.a, tt.classes)
			if tt.pure > 0 {
				if got := answer.(accountant.Laplace).Epsilon; math.Abs(got-tt.pure) > 1e-15 || got < tt.pure {
					t.Errorf("%v, %s: epsilon %v, want %v", nb, tt.name, got, tt.pure)
				}
			} else if got := answer.(accountant.Gaussian).NoiseMultiplier; math.Abs(got/tt.z-1) > 1e-15 ||
				got > tt.z {
				t.Errorf("%v, %s: multiplier %v, want %v", nb, tt.name, got, tt.z)
			}
			if tt.checkedZ == 0 && check != nil ||
				tt.checkedZ > 0 && check != (accountant.Gaussian{NoiseMultiplier: tt.checkedZ}) {
				t.Errorf("%v, %s: check %v, want multiplier %v", nb, tt.name, check, tt.checkedZ)
			}
		}
	}
}

// split is shards of the table with the draws of a seed: the same for the same units.
func split(tab *table.Table, k, classes int, seed uint64) *Shards[int] {
	u := rand.New(rand.NewPCG(seed, 1))
	in := &shards[int]{}
	for _, rows := range partition(tab, k, u.Uint64N) {
		teacher := &toyTeacher{classes: classes}
		in.rows, in.teachers = append(in.rows, tab.Select(rows)), append(in.teachers, teacher)
		teacher.Train(tab.Select(rows), 0)
	}
	return &Shards[int]{&shardSet[int]{count: k, inner: func() *shards[int] { return in }}}
}

func votesOf(_ testing.TB, sh *Shards[int], b Ballot, shown int) []int64 {
	return sh.votes(b, shown)
}

// TestVoteSensitivity draws neighbours under every relation, splits both with the same draws of
// their units, and compares how far counts and checks move with what the gate assumes: never more,
// and as much.
func TestVoteSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(9, 10))
	for _, nb := range relations {
		sch := testSchema("", 0)
		if nb.MaxRowsPerUnit > 1 {
			sch = testSchema("u", nb.MaxRowsPerUnit)
		}
		withUnits := func(rows [][3]uint8, shared int) *table.Table {
			if nb.MaxRowsPerUnit == 1 {
				return testTable(t, sch, rows, nil)
			}
			units := make([]uint32, len(rows))
			for i := range units {
				units[i] = uint32(min(i, shared)) // the last rows are one unit
			}
			return testTable(t, sch, rows, units)
		}
		for _, classes := range []int{2, 3, 5} {
			b := Ballot{Questions: 4, Classes: classes}
			var one, two, single, top, interactive float64
			for trial := range 600 {
				ra, rb := pairOf(u, nb)
				shared := len(rb) - nb.MaxRowsPerUnit
				k := 1 + u.IntN(6)
				va := votesOf(t, split(withUnits(ra, shared), k, classes, uint64(trial)), b, 0)
				vb := votesOf(t, split(withUnits(rb, shared), k, classes, uint64(trial)), b, 0)
				student := make([]float64, classes)
				for j := range student {
					student[j] = u.Float64()
				}
				for q := range b.Questions {
					ca, cb := va[q*classes:][:classes], vb[q*classes:][:classes]
					d1, d2 := 0.0, 0.0
					for j := range ca {
						d := math.Abs(float64(ca[j] - cb[j]))
						d1, d2, single = d1+d, d2+d*d, max(single, d)
					}
					one, two = max(one, d1), max(two, math.Sqrt(d2))
					top = max(top, math.Abs(float64(slices.Max(ca)-slices.Max(cb))))
					differ := func(c []int64) (best float64) {
						best = math.Inf(-1)
						for j, n := range c {
							best = max(best, float64(n)-math.Round(float64(k)*student[j]))
						}
						return best
					}
					interactive = max(interactive, math.Abs(differ(ca)-differ(cb)))
				}
			}
			if one != 2 || two != math.Sqrt2 || single != 1 || top != 1 || interactive != 1 {
				t.Errorf(
					"%v, %d classes: Δ₁ %v, Δ₂ %v, one count %v, largest %v, difference to a student %v; "+
						"want 2, √2, 1, 1, 1",
					nb, classes, one, two, single, top, interactive,
				)
			}
		}
	}
}

// TestAudit_NoiseOnVotes. Null: released − true count follows the named law at the named scale; 20
// 000 draws an aggregator, false-alarm rate 1e-6. Scales 30 % off are rejected, so neither λ for
// 1/λ nor noise on the winner in place of the counts goes unnoticed.
func TestAudit_NoiseOnVotes(t *testing.T) {
	const n, scale = 20000, 6.0
	tab := testTable(t, testSchema("", 0), someRows(300), nil)
	for _, tt := range []struct {
		name    string
		a       Aggregator
		classes int
		law     func(x int64, scale float64) float64
	}{
		{"LNMax of two", Aggregator{Laplace: scale}, 2, laplace},
		{"LNMax of three", Aggregator{Laplace: scale}, 3, laplace},
		{"GNMax of two", Aggregator{Sigma: scale}, 2, roundedNormal},
		{"GNMax of three", Aggregator{Sigma: scale}, 3, roundedNormal},
		{"confident", Aggregator{CheckSigma: scale, Sigma: scale, Threshold: -1e6}, 3, roundedNormal},
		{"interactive", Aggregator{CheckSigma: scale, Sigma: scale, Threshold: -1e6},
			2, roundedNormal},
	} {
		b := Ballot{Questions: n, Classes: tt.classes}
		s := open(t, tab, Plan(tt.a, b, n))
		sh, _ := toys(t, s, 40, tt.classes)
		truth := votesOf(t, sh, b, 0)
		got := stattest.Must(sh.Vote(tt.a, b, 0))
		for class := range tt.classes {
			draws := make([]int64, n)
			for q := range draws {
				draws[q] = got.Counts[q*tt.classes+class] - truth[q*tt.classes+class]
			}
			for wrong, want := range map[float64]bool{1: true, .7: false, 1.3: false, 1 / scale: false} {
				if follows(draws, 21, func(x int64) float64 { return tt.law(x, wrong*scale) }) != want {
					t.Errorf("%s, class %d: %v times the scale is accepted: %v", tt.name, class, wrong, !want)
				}
			}
		}
		if slices.Contains(got.Answered, false) {
			t.Errorf("%s: a question has no answer", tt.name)
		}
	}
}

// TestVoteCheckNoise. Null: a question passes with probability P(max_j n_j + round(N(0, σ₁²)) ≥ T);
// 20 000 checks, false-alarm rate 1e-6. Noise 30 % off is rejected. Interactive: the same with n_j
// − M·p_j.
func TestVoteCheckNoise(t *testing.T) {
	const n, sigma, k = 20000, 8.0, 30
	tab := testTable(t, testSchema("", 0), someRows(300), nil)
	b := Ballot{Questions: n, Classes: 3}
	student := make([]float64, 3*n)
	for i := range student {
		student[i] = .25
	}
	for name, a := range map[string]Aggregator{
		"confident": Aggregator{CheckSigma: sigma, Sigma: 5, Threshold: 25},
		"interactive": Aggregator{CheckSigma: sigma, Sigma: 5, Threshold: 17,
			Student: student},
	} {
		s := open(t, tab, Plan(a, b, n))
		sh, _ := toys(t, s, k, 3)
		truth := votesOf(t, sh, b, 0)
		top, threshold := int64(0), 25.0
		if name == "interactive" {
			top, threshold = -8, 17 // round(30/4)
		}
		got := stattest.Must(sh.Vote(a, b, 0))
		var passed int64
		top += slices.Max(truth[:3])
		for q := range n {
			if slices.Max(truth[3*q:][:3]) != slices.Max(truth[:3]) {
				t.Fatal("questions differ: the test needs one probability")
			}
			if got.Answered[q] {
				passed++
			}
			if c := got.Counts[3*q:][:3]; !got.Answered[q] && slices.Max(c)-slices.Min(c) != 0 {
				t.Fatalf("%s: question %d without an answer has counts %v", name, q, c)
			}
		}
		for wrong, want := range map[float64]bool{1: true, .7: false, 1.3: false} {
			p := math.Erfc((threshold-.5-float64(top))/(wrong*sigma*math.Sqrt2)) / 2
			if _, _, ok := stattest.Binomial(passed, n, p); ok != want {
				t.Errorf(
					"%s: %d of %d passed; noise %v times the right one (probability %v) accepted: %v", name,
					passed, n, wrong, p, ok,
				)
			}
		}
	}
}

// TestAudit_EveryQueryIsCharged: queries charged = queries answered, for each aggregator, and
// checks are charged too.
func TestAudit_EveryQueryIsCharged(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(100), nil)
	b := Ballot{Questions: 64, Classes: 2}
	for name, a := range map[string]Aggregator{
		"LNMax": Aggregator{Laplace: 3}, "GNMax": Aggregator{Sigma: 4},
		"confident":   Aggregator{CheckSigma: 9, Sigma: 4, Threshold: 12},
		"interactive": Aggregator{CheckSigma: 9, Sigma: 4, Threshold: 12},
	} {
		s := open(t, tab, Plan(a, b, b.Questions))
		sh, _ := toys(t, s, 20, 2)
		got := stattest.Must(sh.Vote(a, b, 0))
		answered := 0
		for _, ok := range got.Answered {
			if ok {
				answered++
			}
		}
		charged := map[accountant.Event]int{}
		for _, c := range s.Ledger().Runs()[0].Charged {
			charged[c.Event] += c.Count
		}
		answer, check := Events(a, 2)
		if charged[answer] != answered || check == nil && answered != 64 ||
			check != nil && charged[check] != 64 {
			t.Errorf("%s: %d answers; charged %v", name, answered, charged)
		}
		if check != nil && (answered == 0 || answered == 64) {
			t.Errorf("%s: %d of 64 answered: the test shows little", name, answered)
		}
		stattest.Passes(t, s.Ledger().Verify(nil), "%s", name)
	}
}

// TestAudit_BudgetIsCheckedBeforeTheVote: a ballot of one question too many is refused as a
// whole, no teacher is asked and nothing is charged.
func TestAudit_BudgetIsCheckedBeforeTheVote(t *testing.T) {
	a := Aggregator{Sigma: 4}
	s := open(
		t, testTable(t, testSchema("", 0), someRows(100), nil),
		Plan(a, Ballot{Questions: 10, Classes: 2}, 0),
	)
	asked := 0
	sh := stattest.Must(Split(s, 1, func(int) Teacher[int] {
		return &toyTeacher{classes: 2, asked: &asked}
	}))
	if _, err := sh.Vote(a, Ballot{Questions: 11, Classes: 2},
		0); !errors.Is(err, accountant.ErrBudget) ||
		asked > 0 {
		t.Errorf("eleven questions of a plan for ten: %v, teachers asked %d times", err, asked)
	}
	if _, err := sh.Vote(Aggregator{Sigma: 3}, Ballot{Questions: 1, Classes: 2},
		0); !errors.Is(err, accountant.ErrBudget) ||
		asked > 0 {
		t.Errorf("less noise than planned: %v", err)
	}
	if n := len(s.Ledger().Runs()[0].Charged); n > 0 {
		t.Errorf("%d charges before the first vote", n)
	}
	if _, err := sh.Vote(a, Ballot{Questions: 10, Classes: 2}, 0); err != nil || asked != 1 {
		t.Errorf("ten questions: %v, teachers asked %d times", err, asked)
	}
	if _, err := sh.Vote(a, Ballot{Questions: 1, Classes: 2}, 0); !errors.Is(err, privacy.ErrPlan) ||
		asked != 1 {
		t.Errorf("an eleventh question: %v", err)
	}
}

// TestAudit_StopsAtThePlan: when more questions pass the check than the plan can answer, the first
// are answered, the rest not, and no more is charged.
func TestAudit_StopsAtThePlan(t *testing.T) {
	a, b := Aggregator{
		CheckSigma: 9,
		Sigma:      4,
		Threshold:  -1000,
	}, Ballot{
		Questions: 20,
		Classes:   3,
	}
	s := open(t, testTable(t, testSchema("", 0), someRows(100), nil), Plan(a, b, 7))
	sh, _ := toys(t, s, 10, 3)
	got := stattest.Must(sh.Vote(a, b, 0))
	for q, ok := range got.Answered {
		if c := got.Counts[3*q:][:3]; ok != (q < 7) || !ok && slices.Max(c)-slices.Min(c) != 0 {
			t.Errorf("question %d: answered %v, counts %v", q, ok, c)
		}
	}
	if err := s.Ledger().Verify(nil); err != nil || calls(s.Ledger().Runs()[0].Charged) != 27 {
		t.Errorf("charged %v, %v", s.Ledger().Runs()[0].Charged, err)
	}
}

// TestVoteRefuses: what is wrong with a ballot costs nothing.
func TestVoteRefuses(t *testing.T) {
	a, b := Aggregator{Sigma: 4}, Ballot{Questions: 2, Classes: 2}
	s := open(t, testTable(t, testSchema("", 0), someRows(10), nil), Plan(a, b, 0))
	sh, _ := toys(t, s, 3, 2)
	nan := math.NaN()
	for name, call := range map[string]struct {
		a Aggregator
		b Ballot
	}{
		"no questions": {a, Ballot{Questions: 0, Classes: 2}},
		"one class":    {a, Ballot{Questions: 1, Classes: 1}},
		"257 classes":  {a, Ballot{Questions: 1, Classes: 257}},
		"no noise":     {Aggregator{}, b}, "negative": {Aggregator{Sigma: -1}, b},
		"NaN": {Aggregator{Sigma: nan}, b}, "NaN Laplace": {Aggregator{Laplace: nan}, b},
		"negative Laplace":     {Aggregator{Laplace: -1}, b},
		"two noises":           {Aggregator{Laplace: 4, Sigma: 4}, b},
		"Laplace checked":      {Aggregator{Laplace: 4, CheckSigma: 4}, b},
		"no check noise":       {Aggregator{Sigma: 4, Threshold: 1}, b},
		"threshold of Laplace": {Aggregator{Laplace: 4, Threshold: 1}, b},
		"student and no check": {Aggregator{Sigma: 4, Student: []float64{1, 0, 1, 0}}, b},
		"negative check":       {Aggregator{Sigma: 4, CheckSigma: -4}, b},
		"NaN check":            {Aggregator{Sigma: 4, CheckSigma: nan}, b},
		"no noise on answers":  {Aggregator{CheckSigma: 4}, b},
		"threshold NaN":        {Aggregator{Sigma: 4, CheckSigma: 4, Threshold: nan}, b},
		"student short": {Aggregator{Sigma: 4, CheckSigma: 4,
			Student: []float64{1, 0}}, b},
		"student NaN": {Aggregator{Sigma: 4, CheckSigma: 4,
			Student: []float64{nan, 0, 1, 0}}, b},
	} {
		if _, err := sh.Vote(call.a, call.b, 0); err == nil || errors.Is(err, accountant.ErrBudget) {
			t.Errorf("%s: error %v, want one about the argument", name, err)
		}
	}
	stattest.Passes(t, stattest.Err(sh.Vote(a, b, 0)), "the budget is gone")
}

// strange votes for classes that the ballot does not have.
type strange struct{}

func (strange) Train(*table.Table, int)      {}
func (strange) VotesTo(votes []uint8, _ int) { votes[0], votes[1] = 200, 1 }

// TestStrangeVotesCount: every teacher has one vote a question, whatever it writes.
func TestStrangeVotesCount(t *testing.T) {
	sh := stattest.Must(Split(
		open(t, testTable(t, testSchema("", 0), someRows(10), nil), nil), 9,
		func(int) Teacher[int] { return strange{} },
	))
	if got := votesOf(t, sh, Ballot{Questions: 3, Classes: 3},
		0); !slices.Equal(got, []int64{9, 0, 0, 0, 9, 0, 9, 0, 0}) {
		t.Errorf("votes %v", got)
	}
}

// TestVotesDoNotDependOnTheOrder: permuted rows with the same shards, and any number of workers,
// count the same.
func TestVotesDoNotDependOnTheOrder(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(200), nil)
	b := Ballot{Questions: 5, Classes: 4}
	want := votesOf(t, split(tab, 11, 4, 3), b, 0)
	for range 5 {
		if got := votesOf(t, split(tab, 11, 4, 3), b, 0); !slices.Equal(got, want) {
			t.Fatalf("votes %v, then %v", want, got)
		}
	}
	sum := int64(0)
	for _, n := range want {
		sum += n
	}
	if sum != 55 {
		t.Errorf("%d votes of 11 teachers on 5 questions", sum)
	}
}

// late keeps its ballot and writes the other class into it when the next teacher votes.
type late struct{ kept *[][]uint8 }

func (late) Train(*table.Table, int) {}
func (l late) VotesTo(votes []uint8, _ int) {
	for _, ballot := range *l.kept {
		ballot[0] = 1
	}
	*l.kept = append(*l.kept, votes)
}

// TestTeachersHaveTheirOwnBallots: a teacher that keeps its ballot changes no other's vote.
func TestTeachersHaveTheirOwnBallots(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one worker after the other
	kept := &[][]uint8{}
	sh := stattest.Must(Split(open(t, testTable(t, testSchema("", 0), someRows(10), nil), nil), 9,
		func(int) Teacher[int] { return late{kept} }))
	if got := votesOf(t, sh, Ballot{Questions: 1, Classes: 2}, 0); !slices.Equal(got, []int64{9, 0}) {
		t.Errorf("counts %v, want 9 and 0", got)
	}
}

// TestSplitKeepsTheGatesSchema: a schema that is changed after the session was opened decides on
// nothing.
func TestSplitKeepsTheGatesSchema(t *testing.T) {
	sch := testSchema("", 0)
	s := open(t, testTable(t, sch, someRows(100), nil), nil)
	for i := range sch.Columns {
		sch.Columns[i].Categories = sch.Columns[i].Categories[:1]
	}
	stattest.Passes(t, stattest.Err(Split(s, 3, func(int) Teacher[int] { return strange{} })), "")
}

// TestVoteRecordIsAsLongWhateverIsDrawn: the journal has as many bytes after a ballot with a check
// whether no answer is charged, one, or all, so that no write can fail for what was drawn.
func TestVoteRecordIsAsLongWhateverIsDrawn(t *testing.T) {
	b, length := Ballot{Questions: 120, Classes: 3}, map[int]int64{}
	for _, answered := range []int{0, 1, 120} {
		a := Aggregator{CheckSigma: 9, Sigma: 4, Threshold: 1e9}
		if answered > 0 {
			b.Answers, a.Threshold = answered, -1e9
		}
		dir := t.TempDir()
		s := stattest.Must(privacy.Open(context.Background(),
			privacy.FromTable(testTable(t, testSchema("", 0), someRows(100), nil)), privacy.Options{
				Budget: accountant.Budget{Epsilon: 1e12, Delta: 1e-9}, Plan: Plan(a, b, b.Questions),
				Method: "test", Ledger: ledger.NewFile(filepath.Join(dir, "l")),
				Journal: filepath.Join(dir, "j")}))
		sh, _ := toys(t, s, 10, 3)
		stattest.Must(sh.Vote(a, b, 0))
		if got := calls(s.Ledger().Runs()[0].Charged); got != b.Questions+answered {
			t.Fatalf("%d events, want %d answers", got, answered)
		}
		length[answered] = stattest.Must(os.Stat(filepath.Join(dir, "j"))).Size()
	}
	if length[0] != length[1] || length[0] != length[120] {
		t.Errorf("bytes of the journal by answers: %v", length)
	}
}

// TestNamed: what a named aggregator asks at most costs what the account has, by its events.
func TestNamed(t *testing.T) {
	left := accountant.Account{Mu2: .3, Epsilon: .01}
	for _, name := range Aggregators {
		for classes, questions := range map[int]int{2: 100, 5: 100, 3: 1} {
			const rounds = 3
			a, b := Named(name, Ballot{Questions: questions, Classes: classes}, rounds*questions, left)
			answers := b.Questions
			if b.Answers > 0 {
				answers = b.Answers
			}
			mu2, pure := 0., 0.
			for _, c := range Plan(a, b, answers) {
				switch e := c.Event.(type) {
				case accountant.Gaussian:
					mu2 += rounds * float64(c.Count) / (e.NoiseMultiplier * e.NoiseMultiplier)
				case accountant.Laplace:
					pure = e.Epsilon
				}
			}
			switch {
			case name == LNMax && (pure > left.Epsilon || pure < left.Epsilon*(1-1e-9) || mu2 > 0):
				t.Errorf("%s, %d classes: ε = %v an answer", name, classes, pure)
			case name != LNMax && (mu2 > left.Mu2 || mu2 < left.Mu2*(1-1e-6)):
				t.Errorf("%s, %d classes: μ² = %v", name, classes, mu2)
			}
			checked := name == Confident || name == Interactive
			if a = a.For(10, []float64{.5}); checked != (a.Threshold > 0) || !checked && a.Student != nil {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
}
