package wgan

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
)

// purse buys what the plan says and the state does not hold. In a continued run something may have been charged and lost with its process: that is
// always the first thing that the state does not hold, as things are bought and saved in order.
type purse struct {
	s         *privacy.Session
	state     *state
	save      func([]byte) error // nil keeps no checkpoint
	resumable bool
	lost      int // releases that were paid and lost
}

// missing reports whether the next thing to buy was paid for and lost: the session has less left than that thing and all after it need. after is how many
// more of the same event, and rest the cost of other events from a pool.
func (b *purse) missing(p *plan, event accountant.Event, after int, rest float64) bool {
	if !b.resumable {
		return false
	}
	if p.auto && event != p.nb.TotalEvent(p.total) {
		cost, _ := accountant.PoolCost(event)
		need := cost*float64(1+after) + rest
		return b.s.PoolLeft() < need-cost/2
	}
	return b.s.Left(event) < 1+after
}

// rows buys the number of rows and chooses the preset by it.
func (b *purse) rows(t *training) error {
	st, p := b.state, t.plan
	if !st.HasRows && b.missing(p, p.nb.TotalEvent(p.total), 0, 0) {
		b.lost++
		st.HasRows, st.Rows = true, math.NaN()
	}
	if !st.HasRows {
		n, err := b.s.Total("number of rows", p.total)
		if err != nil {
			return err
		}
		st.HasRows, st.Rows = true, float64(n)
		if err := b.write(); err != nil {
			return err
		}
	}
	t.plan = p.chosen(st.Rows)
	return nil
}

// tables buys the marginals.
func (b *purse) tables(t *training) error {
	p, st := t.plan, b.state
	n := p.tables()
	event := p.nb.CountsEvent(p.table)
	sums, _ := accountant.PoolCost(p.sumEvent())
	for i := len(st.Tables); i < n; i++ {
		var counts []int64
		if b.missing(p, event, n-i-1, sums*float64(p.cfg.Steps)) {
			b.lost++
		} else {
			m, err := b.s.Counts("marginal", privacy.Marginal{Cols: p.columns(i)}, p.table)
			if err != nil {
				return err
			}
			counts = m.Counts
		}
		st.Tables = append(st.Tables, counts)
		if err := b.write(); err != nil {
			return err
		}
	}
	return b.count(t)
}

// count sets the number of rows, which a lost total leaves to the marginals.
func (b *purse) count(t *training) error {
	t.rows, t.rowsError = b.state.Rows, t.total
	if math.IsNaN(t.rows) {
		for _, counts := range b.state.Tables {
			if counts != nil {
				sum := int64(0)
				for _, x := range counts {
					sum += x
				}
				t.rows, t.rowsError = float64(sum), t.table*math.Sqrt(float64(len(counts)))
				break
			}
		}
	}
	if math.IsNaN(t.rows) {
		return fmt.Errorf("wgan: the process was killed before its first release was kept; nothing is left to continue: %w", privacy.ErrPlan)
	}
	t.rows = max(1, t.rows)
	t.rowsError /= t.rows
	return nil
}

// sum buys gradient sum k, or reports that it was lost.
func (b *purse) sum(t *training, k int) (privacy.Certified, bool, error) {
	if b.missing(t.plan, t.sumEvent(), t.cfg.Steps-k-1, 0) {
		b.lost++
		return privacy.Certified{}, false, nil
	}
	shown := critic{Critic: t.critic}
	if t.cfg.Lipschitz == interpolates {
		shown.generated = t.seen(&t.folded, t.fake.Forward(t.u))
	}
	var r privacy.Certified
	var err error
	if t.cfg.Mode == Ball {
		r, err = b.s.ClippedSum("clipped critic gradient", t.clipped(), shown)
	} else {
		r, err = b.s.CertifiedSum("critic gradient", t.plan.sum(), shown)
	}
	if err != nil {
		return privacy.Certified{}, false, err
	}
	if b.save != nil {
		if err := b.state.add(t.critic, r.Released); err != nil {
			return privacy.Certified{}, false, err
		}
	}
	return r, true, nil
}

func (b *purse) write() error {
	if b.save == nil {
		return nil
	}
	data, err := b.state.encode()
	if err != nil {
		return err
	}
	return b.save(data)
}
