package vote

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/internal/disk"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// ErrNotPrivate is returned for a use of the data-dependent cost that might let it out.
var ErrNotPrivate = errors.New("the data-dependent cost is private")

// diagnosticOrders are the Rényi orders at which the data-dependent cost is summed.
var diagnosticOrders = []float64{
	1.25,
	1.5,
	2,
	2.5,
	3,
	4,
	5,
	6,
	8,
	10,
	12,
	16,
	20,
	24,
	32,
	40,
	48,
	64,
	96,
	128,
	256,
	512,
}

// diagnostic sums the data-dependent cost of votes. It depends on the votes and stays behind the
// gate.
type diagnostic struct {
	rdp       [22]float64
	questions int
}

// add counts the answer to one question.
func (d *diagnostic) add(counts []int64, g aggregator) {
	d.questions++
	sigma := g.sigma
	if len(counts) == 2 {
		sigma *= math.Sqrt2 // one count with σ is the difference of two with √2·σ
	}
	logQ := 0.0
	if g.laplace == 0 {
		logQ = accountant.GNMaxLogQ(counts, sigma)
	}
	for i, alpha := range diagnosticOrders {
		if g.laplace != 0 {
			scale := 1.0
			if len(counts) > 2 {
				scale = 2
			}
			d.rdp[i] += min(scale/g.laplace, alpha*scale*scale/(2*g.laplace*g.laplace))
		} else {
			d.rdp[i] += accountant.GNMaxRDP(alpha, sigma, logQ)
		}
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

// SaveDataDependent writes the data-dependent cost of the votes at delta, 0 < δ < 1, to a new file
// of mode 0600 whose name must end in .private.json (docs/claims/datadependent.md). The number is
// private: it depends on the votes without noise. So there is no other way to get at it, and only a
// closed session gives it, which can train and vote no more.
func (sh *shardSet[Q]) SaveDataDependent(path string, delta float64) error {
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("privacy: delta %v must be in (0, 1)", delta)
	}
	if !strings.HasSuffix(path, ".private.json") {
		return fmt.Errorf("privacy: the file's name must end in .private.json: %w", ErrNotPrivate)
	}
	if !access.StateOf(sh.s).Closed {
		return fmt.Errorf("privacy: the session is still open: %w", ErrNotPrivate)
	}
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.inner().repeated {
		return fmt.Errorf(
			"privacy: the run was continued, and the exact votes of before are gone: %w", ErrNotPrivate,
		)
	}
	d := &sh.inner().cost
	text, err := json.MarshalIndent(map[string]any{
		"not_private": true, "delta": delta, "data_dependent_epsilon": d.epsilon(delta),
		"answers": d.questions,
		"note": "of the winners of votes alone; depends on the private rows; " +
			"not a guarantee and never to be published",
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("privacy: %w", err)
	}
	f, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("privacy: %w", err)
	}
	_, err = disk.Write(f, append(text, '\n'))
	return errors.Join(err, f.Close())
}
