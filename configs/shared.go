package configs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/decoy-dp/decoy/model/release"
)

// errUnbought is the end of a job whose schema another one has still to buy. Nothing is spent.
var errUnbought = errors.New("has not bought the schema yet")

// Share lets the jobs of a batch on one table without a schema take the one that a job of them
// buys: that of the largest ε, the first of several.
func Share(jobs []*Task) {
	buyers := map[string]*Task{} // by what the purchase is of
	most := func(a, b *Task) int { return cmp.Compare(b.Epsilon, a.Epsilon) }
	for _, t := range slices.SortedStableFunc(slices.Values(jobs), most) {
		of := Job{Source: t.Source, Ledger: t.Job.Ledger, Adjacency: t.Adjacency,
			SchemaShare: t.SchemaShare}.identity("", "", "")
		switch b := buyers[of]; {
		case t.Purchase == nil:
		case b == nil:
			buyers[of] = t
		default:
			t.Buyer, t.Bought = b, ""
		}
	}
}

// take takes the schema from the model of the job that bought it.
func (w *Runner) take(t *Task) error {
	if t.Buyer == nil {
		return nil
	}
	m, err := release.Open(w.path(t.Buyer.Identity, ".model"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("job %s %w: nothing is spent", t.Buyer.Name, errUnbought)
	}
	if err == nil {
		t.Purchase = nil
		t.describedBy(m.Tables())
	}
	return err
}
