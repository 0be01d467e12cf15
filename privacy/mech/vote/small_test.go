package vote

import (
	"fmt"
	"testing"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

const tiny = noise.MinScale

type (
	small    = gatetest.Small[privacy.Neighbours]
	smallRow gatetest.SmallRow[privacy.Neighbours]
	value    = gatetest.Value
)

// smallVotes are votes on one question, a way to fall for each way to put up to four units into two
// shards: bit i of its number is the shard of unit i.
func smallVotes(
	classes int, plan accountant.Composition, of func(s *small, sh *Shards[int]) []float64,
) func(s *small) value {
	return func(s *small) (out value) {
		o := openAs(s.T, s.Table, s.NB.Adjacency, plan)
		for way := range uint64(1 << 4) {
			in, unit := &shards[int]{}, 0
			for i, rows := range partition(s.Table, 2,
				func(uint64) uint64 { unit++; return way >> (unit - 1) & 1 }) {
				vote := 0
				for _, row := range rows {
					vote += 1 + i + int(s.Table.Column(0).At(row)+2*s.Table.Column(1).At(row))
				}
				in.rows, in.teachers = append(in.rows, nil), append(in.teachers,
					smallTeacher(vote%classes))
			}
			sh := &Shards[int]{&shardSet[int]{s: o, count: 2,
				inner: func() *shards[int] { return in }}}
			out = append(out, of(s, sh))
		}
		return out
	}
}

// smallTeacher votes for one class.
type smallTeacher uint8

func (smallTeacher) Train(*table.Table, int) {}

func (t smallTeacher) VotesTo(votes []uint8, _ int) { votes[0] = uint8(t) }

// smallCounts is the counts that a ballot adds noise to: of two classes the second.
func smallCounts(a Aggregator, classes int) func(s *small, sh *Shards[int]) []float64 {
	return func(s *small, sh *Shards[int]) []float64 {
		b := Ballot{Questions: 1, Classes: classes}
		tally := stattest.Must(sh.Vote(a, b, 0))
		if classes == 2 {
			tally.Counts = tally.Counts[1:]
		}
		return gatetest.One[int64](s)(tally.Counts, nil)[0]
	}
}

// smallCheck is the number that a check adds noise to: the largest threshold that is passed.
func smallCheck(
	at func(threshold float64) Aggregator, classes int,
) func(s *small, sh *Shards[int]) []float64 {
	return func(s *small, sh *Shards[int]) []float64 {
		for threshold := 2.; ; threshold-- {
			a := at(threshold)
			tally := stattest.Must(sh.Vote(a, Ballot{Questions: 1, Classes: classes}, 0))
			if tally.Answered[0] {
				return []float64{threshold}
			}
		}
	}
}

func voteClaim(a Aggregator, classes int, check bool) func(nb privacy.Neighbours) float64 {
	return gatetest.GaussianClaim(tiny, func(nb privacy.Neighbours) accountant.Event {
		answer, checks := Events(a, classes)
		if check {
			return checks
		}
		return answer
	})
}

// smallPlan pays for the questions about one table.
func smallPlan(a Aggregator, classes int) accountant.Composition {
	return Plan(a, Ballot{Questions: 200, Classes: classes}, 200)
}

func smallRows() []smallRow {
	confident := func(threshold float64) Aggregator {
		return Aggregator{CheckSigma: tiny, Threshold: threshold, Sigma: tiny}
	}
	interactive := func(threshold float64) Aggregator {
		return Aggregator{
			CheckSigma: tiny, Threshold: threshold, Sigma: tiny,
			Student: []float64{.75, 0, .25},
		}
	}
	laplace, gaussian := Aggregator{Laplace: tiny}, Aggregator{Sigma: tiny}
	var rows []smallRow
	for _, n := range []int{2, 3} {
		rows = append(
			rows,
			smallRow{"Vote", fmt.Sprintf("LNMax of %d", n), smallVotes(n, smallPlan(laplace, n),
				smallCounts(laplace, n)),
				gatetest.LaplaceClaim(tiny, func(nb privacy.Neighbours) accountant.Event {
					e, _ := Events(laplace, n)
					return e
				}), gatetest.L1, nil},
			smallRow{"Vote", fmt.Sprintf("GNMax of %d", n), smallVotes(n, smallPlan(gaussian, n),
				smallCounts(gaussian, n)), voteClaim(gaussian, n, false), gatetest.L2, nil},
			smallRow{"Vote", fmt.Sprintf("check of %d", n), smallVotes(n, smallPlan(confident(0), n),
				smallCheck(confident, n)),
				voteClaim(confident(0), n, true), gatetest.L2, nil},
		)
	}
	return append(
		rows,
		smallRow{"Vote", "check with a student", smallVotes(3, smallPlan(interactive(0), 3),
			smallCheck(interactive, 3)), voteClaim(interactive(0), 3, true), gatetest.L2, nil},
	)
}

func TestSmallTables(t *testing.T) {
	var rows []gatetest.SmallRow[privacy.Neighbours]
	for _, row := range smallRows() {
		rows = append(rows, gatetest.SmallRow[privacy.Neighbours](row))
	}
	gatetest.RunSmall(t, []string{"Vote"}, rows,
		func(adj accountant.Adjacency, k int) privacy.Neighbours {
			return privacy.Neighbours{Adjacency: adj, MaxRowsPerUnit: k}
		})
}
