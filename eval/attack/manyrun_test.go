package attack

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

// toy is a mechanism on the number of rows with a feature that says nothing beside it. noise draws
// from it with a standard deviation, or scale, of 1 for the claim.
func toy(claim Claim, seed uint64, noise func(u *rand.Rand) float64) Mechanism {
	u := rand.New(rand.NewPCG(seed, seed)) // audits in these tests have one worker
	return Mechanism{Name: "toy", Claim: claim,
		Run: func(_ context.Context, t *table.Table) ([]float64, error) {
			return []float64{float64(t.Rows()) + noise(u), u.NormFloat64()}, nil
		}}
}

func gaussianClaim(t *testing.T, mu float64) Claim {
	t.Helper()
	b := accountant.Budget{Epsilon: accountant.GDPEpsilon(mu, 1e-6), Delta: 1e-6}
	c := stattest.Must(ClaimOf(b, accountant.AddRemove,
		accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: 1 / mu}, Count: 1}}))
	return c
}

func laplaceNoise(u *rand.Rand) float64 { return u.ExpFloat64() - u.ExpFloat64() }

func half(noise func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(u *rand.Rand) float64 { return noise(u) / 2 }
}

func pairOf(t *testing.T, adj accountant.Adjacency, shape string) *Pair {
	t.Helper()
	p := stattest.Must(neighbours(synthtest.Schema(2), adj, shape, 200))
	return p
}

// TestManyRunCoverage: the bounds of an audit exceed the truth no more often than stated, and with
// noise at half of what is claimed the audit refutes the claim nearly always. Null: each audit is
// wrong with probability at most .1; 60 audits of each mechanism, false alarms 1e-6.
func TestManyRunCoverage(t *testing.T) {
	p := pairOf(t, accountant.AddRemove, balanced)
	pure := Claim{Budget: accountant.Budget{Epsilon: 1}}
	o := Options{Runs: 200, Confidence: .9, workers: 1}
	for _, tt := range []struct {
		name   string
		claim  Claim
		noise  func(u *rand.Rand) float64
		halved bool
	}{
		{"Gaussian", gaussianClaim(t, 1), (*rand.Rand).NormFloat64, false},
		{"Laplace", pure, laplaceNoise, false},
		{"Gaussian, halved", gaussianClaim(t, 1), half((*rand.Rand).NormFloat64), true},
		{"Laplace, halved", pure, half(laplaceNoise), true},
	} {
		const audits = 60
		refuted, wrong := int64(0), int64(0)
		for i := range audits {
			r := stattest.Must(ManyRun(context.Background(), toy(tt.claim, uint64(i), tt.noise), p, o))
			if r.Refuted {
				refuted++
			}
			if r.Epsilon > tt.claim.Budget.Epsilon || tt.claim.Curve != nil &&
				(r.Mu > 1 || r.Gaussian > tt.claim.Budget.Epsilon*(1+1e-9)) {
				wrong++
			}
			if r.Epsilon > r.Ceiling+1e-9 {
				t.Fatalf("%s: %v above the ceiling %v", tt.name, r.Epsilon, r.Ceiling)
			}
		}
		t.Logf("%s: %d of %d refuted, %d bounds above the claim", tt.name, refuted, audits, wrong)
		if tt.halved {
			if refuted < audits*4/5 {
				t.Errorf("%s: only %d of %d refuted", tt.name, refuted, audits)
			}
			continue
		}
		for _, n := range []int64{refuted, wrong} {
			if _, _, ok := stattest.Binomial(n, audits, .1); !ok && n > audits/10 {
				t.Errorf("%s: %d of %d audits accuse an honest mechanism", tt.name, n, audits)
			}
		}
	}
}

// TestManyRunShowsACeiling: a mechanism that tells the tables apart for certain is bounded by what
// the runs can show, and no more.
func TestManyRunShowsACeiling(t *testing.T) {
	for _, shape := range Shapes() {
		p := pairOf(t, accountant.AddRemove, shape)
		r := stattest.Must(ManyRun(context.Background(),
			toy(gaussianClaim(t, 1), 1, func(*rand.Rand) float64 { return 0 }), p,
			Options{Runs: 400, workers: 1}))
		if want := ceiling(300, .05/4, 1e-6); math.Abs(r.Epsilon-want) > 1e-9 ||
			r.Ceiling != r.Epsilon || !r.Refuted || r.AUROC != 1 || r.Found[1].True.Share != 1 {
			t.Errorf("%s: %+v, want ε %v", shape, r, want)
		}
	}
}

// TestRareCodes: what depends on whether a code occurs at all shows on rare tables only.
func TestRareCodes(t *testing.T) {
	claim := gaussianClaim(t, 1)
	leak := func(p *Pair) Mechanism {
		return Mechanism{Name: "domain from the data", Claim: claim,
			Run: func(_ context.Context, tab *table.Table) ([]float64, error) {
				counts := tab.Counts(0)
				return []float64{float64(min(1, counts[p.Target[0]]))}, nil
			}}
	}
	for shape, want := range map[string]bool{balanced: false, rare: true} {
		p := pairOf(t, accountant.AddRemove, shape)
		r, err := ManyRun(context.Background(), leak(p), p, Options{Runs: 100})
		if err != nil || r.Refuted != want {
			t.Errorf("%s: %+v, %v", shape, r, err)
		}
	}
}

func TestNeighbours(t *testing.T) {
	s := synthtest.Schema(3)
	units := synthtest.Schema(3)
	units.Unit, units.MaxRowsPerUnit = "id", 4
	for _, tt := range []struct {
		name            string
		s               *schema.Schema
		adj             accountant.Adjacency
		shape           string
		out, in, strong int // rows
		target          int64
	}{
		{"rows", s, accountant.AddRemove, balanced, 100, 101, 125, 50},
		{"rows, replaced", s, accountant.ReplaceOne, balanced, 100, 100, 100, 50},
		{"rare", s, accountant.AddRemove, rare, 100, 101, 125, 0},
		{"rare, replaced", s, accountant.ReplaceOne, rare, 100, 100, 100, 0},
		{"units", units, accountant.AddRemove, balanced, 100, 104, 124, 48},
		{"units, replaced", units, accountant.ReplaceOne, rare, 100, 100, 100, 0},
	} {
		p := stattest.Must(neighbours(tt.s, tt.adj, tt.shape, 100))
		if p.Out.Rows() != tt.out || p.In.Rows() != tt.in || p.Strong.Rows() != tt.strong {
			t.Errorf("%s: %d, %d, %d rows", tt.name, p.Out.Rows(), p.In.Rows(), p.Strong.Rows())
		}
		k := int64(max(1, tt.s.MaxRowsPerUnit))
		count := func(tab *table.Table, row []uint16) (n int64) {
			for r := range tab.Rows() {
				if slices.Equal(rowOf(tab, r), row) {
					n++
				}
			}
			return n
		}
		if a, b, c := count(p.Out, p.Target), count(p.In, p.Target),
			count(p.Strong, p.Target); a != tt.target || b != a+k || c != a+k*int64(p.Strength) {
			t.Errorf("%s: %d, %d, %d target rows", tt.name, a, b, c)
		}
		gone := int64(0)
		if tt.adj == accountant.ReplaceOne {
			gone = k
		}
		if a, b := count(p.Out, p.Corner), count(p.In, p.Corner); b != a-gone {
			t.Errorf("%s: %d, %d corner rows", tt.name, a, b)
		}
		if tt.s.Unit != "" {
			seen := map[uint32]int{}
			for _, u := range p.In.Units() {
				seen[u]++
			}
			for u, n := range seen {
				if n != int(k) {
					t.Errorf("%s: unit %d has %d rows", tt.name, u, n)
				}
			}
		}
	}
	flat := &schema.Schema{Columns: []schema.Column{{Name: "a", Kind: schema.Categorical,
		Categories: []string{"x"}}}}
	for _, s := range []*schema.Schema{flat, {}} {
		stattest.Wraps(t, stattest.Err(neighbours(s, accountant.AddRemove, rare, 100)), schema.ErrInvalid,
			"%d columns of one code", len(s.Columns))
	}
}

func TestManyRunErrors(t *testing.T) {
	p := pairOf(t, accountant.AddRemove, balanced)
	claim := gaussianClaim(t, 1)
	good := toy(claim, 1, (*rand.Rand).NormFloat64)
	for name, o := range map[string]Options{"runs": {Runs: 5}, "confidence": {Confidence: 1},
		"NaN": {Confidence: math.NaN()}} {
		if _, err := ManyRun(context.Background(), good, p, o); err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken")
	bad := Mechanism{Claim: claim,
		Run: func(context.Context, *table.Table) ([]float64, error) { return nil, broken }}
	stattest.Wraps(t, stattest.Err(ManyRun(context.Background(), bad, p, Options{})), broken,
		"a mechanism that fails")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stattest.Wraps(t, stattest.Err(ManyRun(ctx, good, p, Options{workers: 1})), context.Canceled,
		"cancelled")
}

func TestProgressReachesTheEnd(t *testing.T) {
	last := 0
	_, err := ManyRun(context.Background(),
		toy(gaussianClaim(t, 1), 1, (*rand.Rand).NormFloat64),
		pairOf(t, accountant.AddRemove, balanced),
		Options{Runs: 50, workers: 1, Progress: func(done, runs int) {
			if done != last+1 || runs != 100 {
				t.Errorf("%d of %d after %d", done, runs, last)
			}
			last = done
		}})
	if err != nil || last != 100 {
		t.Errorf("ended at %d, %v", last, err)
	}
}
