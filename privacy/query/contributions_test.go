package query

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

func TestContributionsByHand(t *testing.T) {
	units := []uint32{
		9,
		1,
		1,
		2,
		2,
		2,
		2,
		9,
		9,
		9,
		9,
		3,
		4,
	} // 3 and 4 have one row, 1 two, 2 four, 9 five
	for _, c := range []struct{ upTo, want []int }{
		{[]int{1}, []int{2, 3}},
		{[]int{1, 2, 4}, []int{2, 1, 1, 1}},
		{[]int{3, 5, 100}, []int{3, 2, 0, 0}},
		{[]int{4}, []int{4, 1}},
	} {
		want := make([]int64, len(c.want))
		for i, n := range c.want {
			want[i] = int64(n)
		}
		if got := countUnits(units, c.upTo); !slices.Equal(got, want) {
			t.Errorf("up to %v: %v, want %v", c.upTo, got, want)
		}
	}
}

// TestContributionsSensitivity compares how far the counts move between neighbours with Δ₂ of the
// event, under both adjacencies: a unit of any number of rows, more than MaxRowsPerUnit too, comes
// or goes, or is replaced by one of another number.
func TestContributionsSensitivity(t *testing.T) {
	u := rand.New(rand.NewPCG(5, 6))
	upTo := []int{1, 2, 4, 8}
	unit := func(id uint32) (rows []uint32) {
		for range 1 + u.IntN(12) {
			rows = append(rows, id)
		}
		return rows
	}
	for _, nb := range relations {
		far := 0.
		for range 2000 {
			var shared []uint32
			for id := range uint32(u.IntN(6)) {
				shared = append(shared, unit(id+1)...)
			}
			a, b := slices.Clone(shared), append(slices.Clone(shared), unit(77)...)
			if nb.Adjacency == accountant.ReplaceOne {
				a = append(a, unit(78)...)
			}
			u.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
			ca, cb := countUnits(a, upTo), countUnits(b, upTo)
			sum := 0.
			for i := range ca {
				sum += float64((ca[i] - cb[i]) * (ca[i] - cb[i]))
			}
			far = max(far, math.Sqrt(sum))
		}
		delta := 10 / nb.MeasureEvent(ContributionHistogram{}, 10).(accountant.Gaussian).NoiseMultiplier
		if far > delta*(1+1e-12) || far < delta*(1-1e-12) {
			t.Errorf("%v: the counts move by up to %v, the event says %v", nb, far, delta)
		}
	}
}

// sized is a table of 4 units with 1, 2, 3 and 30 rows, of which a session uses 3 each.
func sized(t *testing.T) *table.Table {
	var units []uint32
	for id, n := range []int{1, 2, 3, 30} {
		for range n {
			units = append(units, uint32(id))
		}
	}
	return testTable(t, testSchema("patient", 3), someRows(len(units)), units)
}

// TestContributionsNoise. Null: released − true value is round(N(0, σ²)), independent between
// ranges; the true values are those before bounding; 20 000 draws, false-alarm rate 1e-6 each. A
// scale 30 % off must be rejected.
func TestContributionsNoise(t *testing.T) {
	const n, sigma = 20000, 4.0
	upTo, truth := []int{1, 3, 10}, []int64{1, 2, 0, 1}
	s := mechtest.On(t, sized(t), 0, gaussian(sigma, n))
	noiseFollows(t, s, ContributionHistogram{upTo}, truth, n, sigma)
}

// TestContributionsIsChargedBeforeReading: what is not in the plan, or makes no sense, reads
// nothing and costs nothing.
func TestContributionsIsChargedBeforeReading(t *testing.T) {
	s := mechtest.On(t, sized(t), 0, gaussian(5, 1))
	reads := 0
	measure := func(upTo []int, sigma float64) ([]int64, error) {
		return s.Measure(mechtest.Reading{Query: ContributionHistogram{upTo}, Reads: &reads}, sigma)
	}
	for name, call := range map[string]func() error{
		"sigma 0": func() error {
			_, err := measure([]int{1}, 0)
			return err
		},
		"sigma NaN": func() error {
			_, err := measure([]int{1}, math.NaN())
			return err
		},
		"no ranges": func() error { _, err := measure(nil, 5); return err },
		"many ranges": func() error {
			_, err := measure(make([]int, MaxUnitRanges+1), 5)
			return err
		},
		"from 0": func() error {
			_, err := measure([]int{0, 1}, 5)
			return err
		},
		"falling": func() error {
			_, err := measure([]int{1, 3, 3}, 5)
			return err
		},
		"other sigma": func() error {
			_, err := measure([]int{1}, 4)
			return err
		},
		"for one of k": func() error {
			_, err := measure([]int{1}, 15)
			return err
		},
	} {
		if err := call(); err == nil || reads > 0 {
			t.Errorf("%s: error %v, %d reads", name, err, reads)
		}
	}
	mechtest.PaidOnce(t, s, &reads, func() error { _, err := measure([]int{1}, 5); return err })
	rows := mechtest.On(t, testTable(t, testSchema("", 0), someRows(12), nil), 0, gaussian(5, 1))
	if _, err := rows.Measure(ContributionHistogram{[]int{1}}, 5); !errors.Is(err, schema.ErrInvalid) {
		t.Errorf("without an id column: %v", err)
	}
}
