// Package datadependent tells the holder of the data what votes cost by the analysis of Papernot et
// al. 2018 (arXiv 1802.08908), which is less where teachers agree. The number is private, and no
// guarantee rests on it: package vote charges what does not depend on the votes.
package datadependent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/vote"
	"github.com/decoy-dp/decoy/table"
)

// ErrNotPrivate is returned for a use of the cost that might let it out.
var ErrNotPrivate = errors.New("the data-dependent cost is private")

// Shards are shards as [vote.Split] makes them, whose exact votes are counted behind the gate.
type Shards[Q any] struct {
	s      *privacy.Session
	shards *vote.Shards[Q]
	inner  func() *watch // behind a function, so that printing shows no vote
}

// watch is what the gate keeps.
type watch struct {
	call   sync.Mutex // one ballot at a time
	mu     sync.Mutex
	ballot vote.Ballot
	counts []int64 // of the ballot: one number a question and class
	asked  bool    // the teachers; else the journal had the answer
	missed bool    // some ballot was answered by the journal: the cost does not hold it
	cost   diagnostic
}

// Split is [vote.Split].
func Split[Q any](
	s *privacy.Session, k int, build func(shard int) vote.Teacher[Q],
) (*Shards[Q], error) {
	w := &watch{}
	shards, err := vote.Split(s, k, func(shard int) vote.Teacher[Q] {
		return &counted[Q]{teacher: build(shard), w: w}
	})
	if err != nil {
		return nil, err
	}
	return &Shards[Q]{s, shards, func() *watch { return w }}, nil
}

// Train is [vote.Shards.Train].
func (sh *Shards[Q]) Train(shown Q) error { return sh.shards.Train(shown) }

// Vote is [vote.Shards.Vote], and adds what the winners tell to the cost.
func (sh *Shards[Q]) Vote(a vote.Aggregator, b vote.Ballot, shown Q) (vote.Tally, error) {
	w := sh.inner()
	w.call.Lock()
	defer w.call.Unlock()
	w.ballot, w.counts, w.asked = b, nil, false
	tally, err := sh.shards.Vote(a, b, shown)
	if err != nil {
		return tally, err
	}
	if !w.asked {
		w.missed = true
		return tally, nil
	}
	if a.CheckSigma > 0 {
		w.cost.addChecks(b.Questions, a.CheckSigma)
	}
	for i, answered := range tally.Answered {
		if answered {
			w.cost.add(w.counts[i*b.Classes:][:b.Classes], a.Laplace, a.Sigma)
		}
	}
	return tally, nil
}

// counted is a teacher whose votes are counted as package vote counts them: one that does not come
// back votes for class 0, and so does one that has not come back from its training.
type counted[Q any] struct {
	teacher vote.Teacher[Q]
	w       *watch
	absent  bool
}

// Train trains the teacher.
func (t *counted[Q]) Train(shard *table.Table, shown Q) {
	if !t.absent && !access.Guard(func() { t.teacher.Train(shard, shown) }) {
		t.absent = true
	}
}

// VotesTo asks the teacher and counts what it says.
func (t *counted[Q]) VotesTo(votes []uint8, shown Q) {
	if t.absent || !access.Guard(func() { t.teacher.VotesTo(votes, shown) }) {
		clear(votes)
	}
	w := t.w
	w.mu.Lock()
	defer w.mu.Unlock()
	classes := w.ballot.Classes
	if w.counts == nil {
		w.counts, w.asked = make([]int64, len(votes)*classes), true
	}
	for q, class := range votes {
		if int(class) >= classes {
			class = 0
		}
		w.counts[q*classes+int(class)]++
	}
}

// diagnosticOrders are the Rényi orders at which the cost is summed.
var diagnosticOrders = [...]float64{1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40,
	48, 64, 96, 128, 256, 512}

// diagnostic sums the cost of votes.
type diagnostic struct {
	rdp       [len(diagnosticOrders)]float64
	questions int
}

// add counts the answer to one question, with noise of one of two kinds.
func (d *diagnostic) add(counts []int64, laplace, sigma float64) {
	d.questions++
	if laplace > 0 {
		scale := 1.0
		if len(counts) > 2 {
			scale = 2
		}
		for i, alpha := range diagnosticOrders {
			d.rdp[i] += min(scale/laplace, alpha*scale*scale/(2*laplace*laplace))
		}
		return
	}
	if len(counts) == 2 {
		sigma *= math.Sqrt2 // one count with σ is the difference of two with √2·σ
	}
	logQ := wrongWinner(counts, sigma)
	for i, alpha := range diagnosticOrders {
		d.rdp[i] += winnerRDP(alpha, sigma, logQ)
	}
}

// addChecks counts n checks, at their data-independent cost.
func (d *diagnostic) addChecks(n int, sigma float64) {
	for i, alpha := range diagnosticOrders {
		d.rdp[i] += float64(n) * alpha / (2 * sigma * sigma)
	}
}

// epsilon is the cost at delta.
func (d *diagnostic) epsilon(delta float64) float64 {
	best := math.Inf(1)
	for i, alpha := range diagnosticOrders {
		best = min(best, d.rdp[i]+math.Log1p(-1/alpha)-math.Log(delta*alpha)/(alpha-1))
	}
	return max(0, best)
}

// Save writes the data-dependent cost of the votes at delta, 0 < δ < 1, to a new file of mode 0600
// whose name must end in .private.json (docs/claims/datadependent.md). The number is private: it
// depends on the votes without noise. So there is no other way to get at it, and only a closed
// session gives it, which can train and vote no more.
func (sh *Shards[Q]) Save(path string, delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("datadependent: delta %v must be in (0, 1)", delta)
	}
	if !strings.HasSuffix(path, ".private.json") {
		return fmt.Errorf("datadependent: the file's name must end in .private.json: %w",
			ErrNotPrivate)
	}
	if !access.StateOf(sh.s).Closed {
		return fmt.Errorf("datadependent: the session is still open: %w", ErrNotPrivate)
	}
	w := sh.inner()
	w.call.Lock()
	defer w.call.Unlock()
	if w.missed {
		return fmt.Errorf("datadependent: the run was continued, and the exact votes of before are "+
			"gone: %w", ErrNotPrivate)
	}
	text, err := json.MarshalIndent(map[string]any{
		"not_private": true, "delta": delta, "data_dependent_epsilon": w.cost.epsilon(delta),
		"answers": w.cost.questions,
		"note": "of the winners of votes alone; depends on the private rows; " +
			"not a guarantee and never to be published",
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("datadependent: %w", err)
	}
	f, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("datadependent: %w", err)
	}
	_, err = disk.Write(f, append(text, '\n'))
	return errors.Join(err, f.Close())
}

// Format says nothing about votes, whatever the verb.
func (sh *Shards[Q]) Format(f fmt.State, _ rune) { fmt.Fprint(f, "datadependent.Shards") }

// MarshalText refuses.
func (sh *Shards[Q]) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }
