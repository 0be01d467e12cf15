package wgan

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestConformance(t *testing.T) {
	quick, err := New(Config{Steps: 3, GeneratorSteps: 4, PostSteps: 20, Batch: 64, Hidden: []int{8}})
	if err != nil {
		t.Fatal(err)
	}
	good, err := New(Config{Steps: 10, GeneratorSteps: 30, PostSteps: 1000, Batch: 512, Hidden: []int{32}})
	if err != nil {
		t.Fatal(err)
	}
	synthtest.Run(t, quick, good)
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]Config{
		"negative steps": {Steps: -1}, "rate over 1": {Rate: 1.5}, "NaN rate": {Rate: math.NaN()}, "odd batch": {Batch: 33},
		"unknown mode": {Mode: 9}, "shares": {TotalShare: .4, MarginalShare: .6}, "negative slope": {Slope: -1},
		"unknown head": {Head: "softmax"}, "temperature": {Temperature: 1e-3},
		"no layers": {Hidden: []int{}}, "a layer of 0": {Hidden: []int{8, 0}}, "a wide layer": {Hidden: []int{8, 5000}}, "unknown encoder": {Encoder: "binary"}, "scaled rows are not clipped": {Encoder: "scaled", Mode: Ball}, "17 layers": {Hidden: make([]int, 17)}, "size penalty of two layers": {Hidden: []int{8, 8}, SizePenalty: 1},
	} {
		if _, err := New(c); !errors.Is(err, synth.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFullBatchesAreGaussian: at rate 1 the whole plan is one Gaussian mechanism, composed in closed form, and uses the whole budget.
func TestFullBatchesAreGaussian(t *testing.T) {
	f, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, b := synthtest.Schema(6), accountant.Budget{Epsilon: 1, Delta: 1e-5}
	p, err := f.Plan(s, privacy.NeighboursOf(s, 0), b)
	if err != nil {
		t.Fatal(err)
	}
	cost, err := p.Composition().Epsilon(b.Delta, accountant.AddRemove)
	if err != nil || cost.Method != "gdp" || cost.Epsilon > 1 || cost.Epsilon < 1-1e-6 {
		t.Errorf("%+v, %v", cost, err)
	}
	// σ = 3.730632 for one release of sensitivity 1: 89 % of μ² over 48 releases.
	if got, want := p.(*plan).z, 3.730632*math.Sqrt(48/.89); math.Abs(got/want-1) > 1e-5 {
		t.Errorf("noise multiplier %v, want %v", got, want)
	}
}

// TestAblations: the plain forms plan and fit too, and say what they leave out.
func TestAblations(t *testing.T) {
	tab := synthtest.Table(t, synthtest.Schema(4), 500)
	for name, c := range map[string]Config{"cold start": {ColdStart: true}, "no replay": {NoReplay: true}, "blocks": {Mode: Blocks}, "box": {Mode: Box}, "thesis": {Mode: Thesis}, "ball": {Mode: Ball}, "spectral": {Lipschitz: "spectral"}, "clip": {Lipschitz: "clip", Limit: .1},
		"size penalty": {SizePenalty: 1}, "fresh critics": {FreshCritics: true}, "target": {Target: "column 2"}, "relaxed": {Head: gumbel, Temperature: 1},
		"two layers": {Hidden: []int{8, 6}}, "two layers, target": {Hidden: []int{8, 6}, Target: "column 2"}, "three layers, blocks": {Hidden: []int{8, 6, 4}, Mode: Blocks, Slope: .2},
		"two layers, ball": {Hidden: []int{8, 6}, Mode: Ball}, "two layers, cold, spectral": {Hidden: []int{8, 6}, ColdStart: true, Lipschitz: "spectral"}, "two layers, no replay": {Hidden: []int{8, 6}, NoReplay: true},
		"two layers, Poisson": {Hidden: []int{8, 6}, Rate: .5}} {
		c.Steps, c.GeneratorSteps, c.PostSteps, c.Batch = 3, 4, 10, 64
		if c.Hidden == nil {
			c.Hidden = []int{8}
		}
		f, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		m := synthtest.Fit(t, f, tab, accountant.Budget{Epsilon: 1, Delta: 1e-6})
		v, err := m.Verify()
		want := 1 + 4 + 3
		if c.ColdStart {
			want = 1 + 3
		} else if c.Target != "" {
			want = 1 + 3 + 3
		}
		if err != nil || v.Charges != want {
			t.Errorf("%s: %d charges, want %d, %v", name, v.Charges, want, err)
		}
	}
}

func TestPoissonBatches(t *testing.T) {
	f, err := New(Config{Rate: .2, Steps: 6, GeneratorSteps: 5, PostSteps: 50, Batch: 64, Hidden: []int{16}})
	if err != nil {
		t.Fatal(err)
	}
	tab := synthtest.Table(t, synthtest.Schema(4), 2000)
	m := synthtest.Fit(t, f, tab, accountant.Budget{Epsilon: 2, Delta: 1e-6})
	if v, err := m.Verify(); err != nil || v.Reserved.Method != "pld" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestParallelFits: fits in parallel, of one fitter on one table, each give a model. Run with -race it shows that they share nothing that is written.
func TestParallelFits(t *testing.T) {
	f, err := New(Config{Steps: 3, GeneratorSteps: 4, PostSteps: 10, Batch: 64, Hidden: []int{8}})
	if err != nil {
		t.Fatal(err)
	}
	tab := synthtest.Table(t, synthtest.Schema(4), 500)
	for i := range 4 {
		t.Run(fmt.Sprint("fit ", i), func(t *testing.T) {
			t.Parallel()
			m := synthtest.Fit(t, f, tab, accountant.Budget{Epsilon: 1, Delta: 1e-6})
			if got := synthtest.Sample(t, m, 100, uint64(i)).Rows(); got != 100 {
				t.Errorf("%d rows", got)
			}
		})
	}
}

func TestModeText(t *testing.T) {
	for _, want := range []Mode{Residual, Blocks, Box, Thesis, Ball} {
		var got Mode = 77
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("%v is read as %d, %v", want, got, err)
		}
	}
	var m Mode
	if err := m.UnmarshalText([]byte("Residual ")); !errors.Is(err, synth.ErrConfig) {
		t.Errorf("an unknown mode: %v", err)
	}
}
