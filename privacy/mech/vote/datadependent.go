package vote

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// This file tells the holder of the data what votes cost by the analysis of Papernot et al. 2018
// (arXiv 1802.08908), which is less where teachers agree. The number is private, and no guarantee
// rests on it: what is charged does not depend on the votes.

// errNotPrivate is returned for a use of the cost that might let it out.
var errNotPrivate = errors.New("the data-dependent cost is private")

// SplitWatched is [Split], of shards that keep what their votes cost by how much the teachers
// agree, for [Shards.SaveCost].
func SplitWatched[Q any](
	s *privacy.Session, k int, build func(shard int) Teacher[Q],
) (*Shards[Q], error) {
	sh, err := Split(s, k, build)
	if err == nil {
		sh.inner().cost = &diagnostic{}
	}
	return sh, err
}

// diagnosticOrders are the Rényi orders at which the cost is summed.
var diagnosticOrders = [...]float64{1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40,
	48, 64, 96, 128, 256, 512}

// diagnostic sums the cost of votes. A nil one keeps nothing.
type diagnostic struct {
	rdp       [len(diagnosticOrders)]float64
	questions int
	missed    bool // the answer to some ballot was the journal's: its votes are not in it
}

// vote adds the cost of a ballot with these exact counts.
func (d *diagnostic) vote(a Aggregator, classes int, counts []int64, answered []bool) {
	if d == nil {
		return
	}
	if a.CheckSigma > 0 {
		d.addChecks(len(answered), a.CheckSigma)
	}
	for i, ok := range answered {
		if ok {
			d.add(counts[i*classes:][:classes], a.Laplace, a.Sigma)
		}
	}
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

// SaveCost writes the data-dependent cost of the votes at delta, 0 < δ < 1, to a new file of mode
// 0600 whose name must end in .private.json (docs/claims/datadependent.md). The number is private:
// it depends on the votes without noise. So there is no other way to get at it, and only a closed
// session gives it, which can train and vote no more.
func (sh *shardSet[Q]) SaveCost(path string, delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("the cost of votes: delta %v must be in (0, 1)", delta)
	}
	if !strings.HasSuffix(path, ".private.json") {
		return fmt.Errorf("the cost of votes: the file's name must end in .private.json: %w",
			errNotPrivate)
	}
	if !access.StateOf(sh.s).Closed {
		return fmt.Errorf("the cost of votes: the session is still open: %w", errNotPrivate)
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	cost := sh.inner().cost
	switch {
	case cost == nil:
		return errors.New("the cost of these shards is not kept: see SplitWatched")
	case cost.missed:
		return fmt.Errorf("the cost of votes: the run was continued, and the exact votes of "+
			"before are gone: %w", errNotPrivate)
	}
	text, err := json.MarshalIndent(map[string]any{
		"not_private": true, "delta": delta, "data_dependent_epsilon": cost.epsilon(delta),
		"answers": cost.questions,
		"note": "of the winners of votes alone; depends on the private rows; " +
			"not a guarantee and never to be published",
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("the cost of votes: %w", err)
	}
	f, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("the cost of votes: %w", err)
	}
	_, err = disk.Write(f, append(text, '\n'))
	return errors.Join(err, f.Close())
}
