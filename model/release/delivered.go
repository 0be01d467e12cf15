package release

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/model/marginal"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// This file binds what leaves to what was paid: the closing line of a run has the hash of what it
// delivered, and each charge has the hash of its answer.

// delivered reports a file that has another hash.
func delivered(f File, outputs string) error {
	l := f.Account()
	have, err := ledger.HashOutputs(f, l[:max(0, len(l)-1)])
	if err != nil || have != outputs || f.proof().altered {
		return fail(ErrClaim, "the file is not what the run delivered: it was changed, or put "+
			"together from several")
	}
	return nil
}

// sameJSON reports whether two texts are the same JSON, but for blanks and the spelling of texts.
func sameJSON(a, b []byte) bool {
	x, y := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	x.UseNumber()
	y.UseNumber()
	for {
		s, err := x.Token()
		t, other := y.Token()
		if s != t || err != other || err != nil {
			return err == io.EOF && other == io.EOF
		}
	}
}

// States are the claim and the program that the manifest names.
func (m *Model) States() (Claim, string) { return m.Claim, m.Tool }

// Whole returns an error (ErrClaim) for a model that is not what its ledger or, of one without, its
// own hash says was delivered, but for how its file is packed. It is what can be checked without
// composing costs: see [Model.Verify].
func (m *Model) Whole() error {
	outputs := m.Outputs
	if n := len(m.Ledger); n > 0 {
		outputs = m.Ledger[n-1].Outputs
	}
	d := *m
	d.altered = false
	return delivered(&d, outputs)
}

// bind puts the hash of the model into its ledger or, if it has none, beside it.
func (m *Model) bind(s ledger.RunUnderWay) (err error) {
	// as a file has them: what is hashed must be what is read back
	text, err := json.Marshal(m.Settings)
	m.Settings = nil
	if err = cmp.Or(err, json.Unmarshal(text, &m.Settings)); err != nil {
		return err
	}
	if s != nil {
		m.Ledger, err = ledger.CloseExcerpt(s, m.Manifest)
	} else if m.Ledger == nil {
		m.Outputs, err = ledger.HashOutputs(m.Manifest, nil)
	}
	return err
}

// held holds the measurements that a model keeps, which are in the order of the charges, to these:
// their σ is that of the event, and the hash of question and counts is that of the answer. Those
// of sums over parties, whose answers are masked, have the σ of a sum.
// They are of the view of that name ("": of the only table), which has this schema.
func (m *Model) held(view string, s *schema.Schema, ms []marginal.Measurement) error {
	if m.Method == MethodParty {
		ms = slices.DeleteFunc(slices.Clone(ms), func(one marginal.Measurement) bool {
			return slices.ContainsFunc(m.Sums, func(s accountant.Shares) bool {
				return one.Sigma == s.Sigma*math.Sqrt(float64(m.Claim.Among.Parties))
			})
		})
	}
	nb := privacy.Neighbours{Adjacency: m.Claim.Adjacency,
		MaxRowsPerUnit: max(1, s.MaxRowsPerUnit)}
	for _, e := range m.Ledger {
		if e.Kind == ledger.EntryCharge && e.Event.Count <= len(ms) {
			if n := e.Event.Count; bought(view, nb, e, s.Sizes(), ms[:n]) {
				ms = ms[n:]
			}
		}
	}
	if len(ms) > 0 {
		return fmt.Errorf("the noisy marginal over columns %v, with σ %v, is not one that the ledger "+
			"paid for", ms[0].Cols, ms[0].Sigma)
	}
	return nil
}

// bought reports whether a charge paid for measurements.
func bought(
	view string, nb privacy.Neighbours, e ledger.Entry, sizes []int, ms []marginal.Measurement,
) bool {
	sigma := ms[0].Sigma
	paid, ok := e.Event.Event.(accountant.Gaussian)
	want := nb.MeasureEvent(privacy.Marginal{}, sigma).(accountant.Gaussian)
	if !ok || math.Abs(want.NoiseMultiplier-paid.NoiseMultiplier) > 1e-9*paid.NoiseMultiplier {
		return false
	}
	var queries []privacy.Query
	var counts [][]int64
	for _, m := range ms {
		if m.Sigma != sigma {
			return false
		}
		queries = append(queries, privacy.Marginal{Cols: m.Cols, Groups: m.Groups})
		cells := make([]int64, len(m.Counts))
		for i, x := range m.Counts {
			cells[i] = int64(x)
		}
		counts = append(counts, cells)
	}
	sum, err := privacy.HashMeasured(view, sizes, queries, sigma, counts)
	return err == nil && sum == e.Answer
}
