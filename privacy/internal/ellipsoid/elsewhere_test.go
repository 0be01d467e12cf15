package ellipsoid

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/engine/sums"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/privacy/internal/gatetest"
)

// TestSumElsewhere: what the gate makes of the answer of another engine, which has added up parts
// of the table, is what it makes of the table, to the last bit, under every relation; and nothing
// is answered of a sample, or of a sum that no engine can make.
func TestSumElsewhere(t *testing.T) {
	const rows = 300
	s := gatetest.Schema("", 0)
	all := gatetest.SomeRows(rows)
	tab := gatetest.Table(t, s, all, nil)
	sums.Kernel() // from here on plain Go is in use
	broken := errors.New("broken")
	e := stattest.Must(critic.NewEncoder(s))
	c, _ := critic.New(e, critic.Options{Hidden: []int{9, 4}, Slope: .1}, rand.New(rand.NewPCG(1, 2)))
	for i := range c.Parameters() {
		c.Parameters()[i] += float32(i%5) / 8 // biases are zero to begin with
	}
	for _, nb := range []privacy.Neighbours{{Adjacency: accountant.AddRemove},
		{Adjacency: accountant.ReplaceOne}, {Adjacency: accountant.AddRemove, MaxRowsPerUnit: 3}} {
		sum, cert, err := Certified(nb, bounds.Residual, 2, c)
		stattest.Check(t, err)
		if sum.Ask().Length != cert.Parameters()+cert.Inputs() {
			t.Fatal("another length is asked for than there are sums")
		}
		given := slices.Repeat([]int64{1}, sum.Ask().Length)
		if sum.From(given, rows); slices.Max(given) != 1 {
			t.Error("what is made of an answer has changed the answer")
		}
		answer := func(q engine.Question) ([]int64, error) {
			out := make([]int64, q.Length)
			for _, part := range [][][3]uint8{all[:100], all[100:101], all[101:]} {
				a, err := sums.New(s, q)
				if err != nil {
					return nil, err
				}
				a.Add(gatetest.Table(t, s, part, nil))
				for i, x := range a.Answer {
					out[i] += x
				}
			}
			return out, nil
		}
		count := func(n []int64, _ []int, _ [][]int32) { n[0] = rows }
		there := access.Rows{Joint: &access.Joint{CountTo: count, Sum: answer}}
		want := stattest.Must(Exact(access.Rows{Table: func() *table.Table { return tab }}, 1)(sum))
		got, err := elsewhere(there, 1)(sum)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: another sum than of the rows: %v", nb, err)
		}
		stattest.Wraps(t, stattest.Err(elsewhere(there, .5)(sum)), privacy.ErrElsewhere, "a sample")
		clipped := sum
		clipped.Ask = nil
		stattest.Wraps(t, stattest.Err(elsewhere(there, 1)(clipped)), privacy.ErrElsewhere,
			"a sum that is not asked for")
		there.Joint.Sum = func(engine.Question) ([]int64, error) { return nil, broken }
		stattest.Wraps(t, stattest.Err(elsewhere(there, 1)(sum)), broken, "an engine that fails")
	}
}
