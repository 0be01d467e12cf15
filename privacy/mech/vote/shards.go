package vote

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// MaxShards is the most shards of a session.
const MaxShards = 1 << 20

// Teacher is a model of one shard. It lives inside the gate: whoever made it must keep no reference
// to it. Q is the type of what all teachers are shown, all of it public: generated rows, settings,
// a seed.
//
// What a teacher does must depend on nothing but its own shard, its own number, and what it was
// shown; it shares nothing that is written with another teacher, for they run in parallel. Its
// randomness, if any, is seeded by its number and what it was shown.
type Teacher[Q any] interface {
	// Train continues from where the teacher is. The table holds the shard's rows alone and may be
	// empty.
	Train(shard *table.Table, shown Q)
	// VotesTo writes one class for each question, and keeps nothing. A class that the ballot does not
	// have counts as class 0.
	VotesTo(votes []uint8, shown Q)
}

// Shards is a private table split into disjoint shards, and a teacher for each. Nothing leaves it
// but noisy votes, through [Shards.Vote]. Calls are served one at a time.
//
// A copy is the same shards.
type Shards[Q any] struct{ *shardSet[Q] }

type shardSet[Q any] struct {
	s     *privacy.Session
	count int
	mu    sync.Mutex
	inner func() *shards[Q] // behind a function, so that printing shows no row and no weight
}

// shards is what the gate keeps.
type shards[Q any] struct {
	rows     []*table.Table
	teachers []Teacher[Q]
	cost     *diagnostic // nil: it is not kept
}

// Split draws for each privacy unit, independently and uniformly from secret randomness, one of k
// shards, once for the whole session (docs/claims/split.md), and makes a teacher for each. It
// releases nothing, so it costs nothing. build is called with the numbers 0 to k−1, and sees no
// row.
func Split[Q any](s *privacy.Session, k int, build func(shard int) Teacher[Q]) (*Shards[Q], error) {
	if k < 1 || k > MaxShards {
		return nil, fmt.Errorf("%d shards, not 1 to %d", k, MaxShards)
	}
	teachers := make([]Teacher[Q], k)
	for i := range teachers {
		teachers[i] = build(i) // sees no row
	}
	in := &shards[Q]{rows: make([]*table.Table, k), teachers: teachers}
	split := func(_ *schema.Schema, held access.Rows) (_ *schema.Schema, none access.Rows, err error) {
		t := held.Table()
		for i, rows := range partition(t, k, held.Source.Uint64N) {
			// Made anew without the numbers of the units, which tell how many units of other shards
			// came before.
			columns := t.Select(rows).Columns()
			if in.rows[i], err = table.FromColumns(t.Schema().Clone(), columns, nil); err != nil {
				return nil, none, access.ErrPrivate
			}
		}
		return nil, none, nil
	}
	if err := access.Hold(s, split); err != nil {
		return nil, fmt.Errorf("split: %w", err)
	}
	return &Shards[Q]{&shardSet[Q]{s: s, count: k, inner: func() *shards[Q] { return in }}}, nil
}

// partition is the rows of each shard, in increasing order: all rows of a unit are in the shard
// that was drawn for it, once, from 0 to k−1.
func partition(t *table.Table, k int, draw func(n uint64) uint64) [][]int {
	out, units := make([][]int, k), t.Units()
	for i := range out {
		out[i] = []int{}
	}
	of := map[uint32]int{}
	for row := range t.Rows() {
		shard, drawn := 0, false
		if units != nil {
			shard, drawn = of[units[row]]
		}
		if !drawn {
			shard = int(draw(uint64(k)))
			if units != nil {
				of[units[row]] = shard
			}
		}
		out[shard] = append(out[shard], row)
	}
	return out
}

// Train lets every teacher learn from its shard and from what is shown. It tells the caller nothing
// but that the session is closed: a teacher that panics votes for class 0 from then on.
func (sh *shardSet[Q]) Train(shown Q) error {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if access.StateOf(sh.s).Closed {
		return fmt.Errorf("%w", privacy.ErrClosed)
	}
	in := sh.inner()
	sh.each(func(_, i int) {
		if !access.Guard(func() { in.teachers[i].Train(in.rows[i], shown) }) {
			// that it failed would be an answer without noise: it votes for class 0 from now on
			in.teachers[i] = absent[Q]{}
		}
	})
	return nil
}

// absent takes the place of a teacher that did not come back from its training.
type absent[Q any] struct{}

func (absent[Q]) Train(*table.Table, Q)      {}
func (absent[Q]) VotesTo(votes []uint8, _ Q) { clear(votes) }

// each calls f once for each shard, from several goroutines, numbered from 0 to below workers().
func (sh *shardSet[Q]) each(f func(worker, shard int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for w := range sh.workers() {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= sh.count {
					return
				}
				f(w, i)
			}
		})
	}
	wait.Wait()
}

func (sh *shardSet[Q]) workers() int { return min(runtime.GOMAXPROCS(0), sh.count) }

// Count is the number of shards.
func (sh *shardSet[Q]) Count() int { return sh.count }

// Format says nothing about rows or teachers, whatever the verb.
func (sh *shardSet[Q]) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "vote.Shards(%d)", sh.count) }

// MarshalText refuses.
func (sh *shardSet[Q]) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }
