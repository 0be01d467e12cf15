package vote

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
)

// toyTeacher remembers its shard and votes on question q for class (Σ codes + q) mod classes, so
// that any change of its rows shows.
type toyTeacher struct {
	shard   int
	seen    []*table.Table // of every training
	classes int
	asked   *int // counts, if not nil
}

func (t *toyTeacher) Train(shard *table.Table, _ int) { t.seen = append(t.seen, shard) }

func (t *toyTeacher) VotesTo(votes []uint8, _ int) {
	if t.asked != nil {
		*t.asked++
	}
	for q := range votes {
		votes[q] = uint8((t.sum() + q) % t.classes)
	}
}

func (t *toyTeacher) sum() int {
	n := 0
	if len(t.seen) > 0 {
		shard := t.seen[len(t.seen)-1]
		for c := range 3 {
			for r := range shard.Rows() {
				n += int(shard.Column(c).At(r)) + 1
			}
		}
	}
	return n
}

// toys is a split of the session with k toy teachers, trained once; the teachers are kept by the
// test, which no caller may do.
func toys(t testing.TB, s *privacy.Session, k, classes int) (*Shards[int], []*toyTeacher) {
	t.Helper()
	var kept []*toyTeacher
	sh := stattest.Must(Split(s, k, func(shard int) Teacher[int] {
		kept = append(kept, &toyTeacher{shard: shard, classes: classes})
		return kept[shard]
	}))
	stattest.Check(t, sh.Train(0))
	return sh, kept
}

// TestAudit_NoPartition: every row is in one shard, all rows of a unit in the same, teachers see
// their shard and no numbers of units, and the shards are the same at every training.
func TestAudit_NoPartition(t *testing.T) {
	units := make([]uint32, 1200)
	for i := range units {
		units[i] = uint32(i * 7 % 400)
	}
	for name, tab := range map[string]*table.Table{
		"rows":                testTable(t, testSchema("", 0), someRows(1200), nil),
		"units of three rows": testTable(t, testSchema("u", 3), someRows(1200), units),
	} {
		parts := partition(tab, 7, noise.NewSource().Uint64N)
		var all []int
		shardOf := map[uint32]int{}
		for i, rows := range parts {
			if !slices.IsSorted(rows) {
				t.Errorf("%s: shard %d is not in the order of the table", name, i)
			}
			all = append(all, rows...)
			for _, r := range rows {
				if tab.Units() == nil {
					continue
				}
				if was, ok := shardOf[units[r]]; ok && was != i {
					t.Fatalf("%s: unit %d is in shards %d and %d", name, units[r], was, i)
				}
				shardOf[units[r]] = i
			}
		}
		slices.Sort(all)
		if len(all) != 1200 || len(slices.Compact(all)) != 1200 {
			t.Errorf("%s: %d rows in all shards", name, len(all))
		}
		s := open(t, tab, nil)
		sh, teachers := toys(t, s, 5, 2)
		for range 3 {
			stattest.Check(t, sh.Train(0))
		}
		rows := 0
		for i, teacher := range teachers {
			rows += teacher.seen[0].Rows()
			if teacher.seen[0].Units() != nil {
				t.Errorf("%s: teacher %d sees numbers of units", name, i)
			}
			for _, shard := range teacher.seen[1:] {
				if shard != teacher.seen[0] {
					t.Errorf("%s: the shard of teacher %d changed", name, i)
				}
			}
		}
		if rows != 1200 || sh.Count() != 5 {
			t.Errorf("%s: %d shards with %d rows", name, sh.Count(), rows)
		}
	}
}

// TestSplitIsUniform. Null: the shards of two units are independent and uniform over 4; 40 000
// splits of three rows, false-alarm rate 1e-6. A split by position, and one that never puts
// neighbours together, must be rejected.
func TestSplitIsUniform(t *testing.T) {
	const n, k = 40000, 4
	tab := testTable(t, testSchema("", 0), someRows(3), nil)
	law := func(place func() [][]int) bool {
		counts, p := make([]int64, k*k), make([]float64, k*k)
		for range n {
			var of [3]int
			for shard, rows := range place() {
				for _, r := range rows {
					of[r] = shard
				}
			}
			counts[of[0]*k+of[1]]++
		}
		for i := range p {
			p[i] = 1. / (k * k)
		}
		_, _, ok := stattest.ChiSquare(counts, p)
		return ok
	}
	src := noise.NewSource()
	if !law(func() [][]int { return partition(tab, k, src.Uint64N) }) {
		t.Error("the shards of two rows are not independent and uniform")
	}
	i := -1
	if law(
		func() [][]int { return partition(tab, k, func(n uint64) uint64 { i++; return uint64(i) % n }) },
	) {
		t.Error("a split by position is accepted")
	}
	last := uint64(0)
	if law(func() [][]int {
		return partition(
			tab, k, func(n uint64) uint64 { last = (last + 1 + src.Uint64N(n-1)) % n; return last },
		)
	}) {
		t.Error("a split that keeps neighbours apart is accepted")
	}
}

// TestAudit_ReshuffledShards: a run has one partition; a second split, of any kind, is refused.
func TestAudit_ReshuffledShards(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(50), nil), nil)
	toys(t, s, 5, 2)
	stattest.Wraps(t, stattest.Err(Split(s, 5,
		func(int) Teacher[int] { return &toyTeacher{} })), privacy.ErrSplit, "a second split")
}

// TestAudit_OneSharedShard: with as many shards as rows no teacher sees all rows, and no two see
// the same one.
func TestAudit_OneSharedShard(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(60), nil)
	_, teachers := toys(t, open(t, tab, nil), 60, 2)
	total := 0
	for i, teacher := range teachers {
		n := teacher.seen[0].Rows()
		if n > 20 {
			t.Errorf("teacher %d sees %d of 60 rows", i, n)
		}
		total += n
	}
	if total != 60 {
		t.Errorf("teachers see %d rows of 60", total)
	}
}

func TestSplitRefuses(t *testing.T) {
	build := func(int) Teacher[int] { return &toyTeacher{classes: 2} }
	s := open(t, testTable(t, testSchema("", 0), someRows(20), nil), gaussian(5, 1))
	for _, k := range []int{0, -1, MaxShards + 1} {
		stattest.Fails(t, stattest.Err(Split(s, k, build)), "%d shards were accepted", k)
	}
	sh := stattest.Must(Split(s, 3, build))
	stattest.Check(t, s.Finish(nil, nil))
	stattest.Wraps(t, sh.Train(0), privacy.ErrClosed, "training on a closed session")
	stattest.Wraps(t, stattest.Err(sh.Vote(Aggregator{Sigma: 5}, Ballot{Questions: 1, Classes: 2},
		0)), privacy.ErrClosed, "a vote on a closed session")
	stattest.Wraps(t, stattest.Err(Split(s, 3, build)), privacy.ErrClosed,
		"a split of a closed session")
}

// TestNothingPrintsAShard: shards show their number only.
func TestNothingPrintsAShard(t *testing.T) {
	sh, teachers := toys(t, open(t, testTable(t, testSchema("", 0), someRows(4096), nil), nil), 2, 2)
	type outer struct{ inner *Shards[int] }
	for _, v := range []any{sh, outer{sh}, &outer{sh}, []any{sh}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if text := fmt.Sprintf(verb, v); len(text) > 1500 || strings.Contains(text, "0 1 0 1 0 1") ||
				strings.Contains(text, "0x0, 0x1, 0x0") {
				t.Errorf("%s of %T prints %.200s", verb, v, text)
			}
		}
	}
	stattest.Fails(t, stattest.Err(json.Marshal(sh)), "shards were encoded as JSON")
	if got := fmt.Sprint(sh); got != "vote.Shards(2)" {
		t.Errorf("prints as %q", got)
	}
	if len(fmt.Sprintf("%+v", teachers[0].seen[0].Column(0))) < 1500 {
		t.Error("a printed shard would not be noticed")
	}
}

// TestForeignTeachersTellNothing: a teacher that panics votes for class 0, and so says no more than
// any teacher does.
func TestForeignTeachersTellNothing(t *testing.T) {
	b := Ballot{Questions: 2, Classes: 2}
	for name, teacher := range map[string]Teacher[int]{"in training": panicking{train: true},
		"in voting": panicking{}} {
		a := Aggregator{Sigma: .01}
		s := open(t, testTable(t, testSchema("", 0), someRows(12), nil), Plan(a, b, 0))
		sh := stattest.Must(Split(s, 3, func(int) Teacher[int] { return teacher }))
		stattest.Passes(t, sh.Train(0), "%s", name)
		got, err := sh.Vote(a, b, 0)
		if err != nil || !slices.Equal(got.Counts, []int64{3, 0, 3, 0}) {
			t.Errorf("%s: %v, %v", name, got.Counts, err)
		}
	}
}

type panicking struct{ train bool }

func (p panicking) Train(*table.Table, int) {
	if p.train {
		panic("code 17")
	}
}

func (p panicking) VotesTo(votes []uint8, _ int) {
	votes[0] = 1
	panic("code 17")
}

// renaming is a teacher that writes what it has seen into its shard's schema.
type renaming struct{}

func (renaming) Train(shard *table.Table, _ int) {
	shard.Schema().Columns[0].Categories[0] = fmt.Sprint("rows ", shard.Rows())
}
func (renaming) VotesTo([]uint8, int) {}

// TestTeachersShareNoSchema: a shard's schema is its own.
func TestTeachersShareNoSchema(t *testing.T) {
	s := open(t, testTable(t, testSchema("", 0), someRows(100), nil), gaussian(5, 1))
	sh := stattest.Must(Split(s, 2, func(int) Teacher[int] { return renaming{} }))
	if err := sh.Train(0); err != nil || s.Schema().Columns[0].Categories[0] != "a0" {
		t.Errorf("%v, %q", err, s.Schema().Columns[0].Categories[0])
	}
}
