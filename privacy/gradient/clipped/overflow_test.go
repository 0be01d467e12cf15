package clipped

import (
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
)

// TestOverflowingNetworksAreRefused: a ReLU network with weights of −3·10³⁸ has activations in [0,
// 0] in exact arithmetic and ones that are infinite or no numbers in float32, where a row's
// gradient may be anything. All three certificates refuse it, and weights that are not finite,
// before a row is read; and just below the limit that bounds states they do not (though noise of
// that size may be beyond what can be drawn).
func TestOverflowingNetworksAreRefused(t *testing.T) {
	tab := testTable(t, testSchema("", 0), someRows(20), nil)
	network := func(weight float32) *penalised {
		c := newToyCritic(tab.Schema().Sizes(), 4)
		c.Net.Slope = 0
		for i := range c.Net.Layers[0].Weights {
			c.Net.Layers[0].Weights[i] = weight
		}
		return &penalised{toyCritic: c}
	}
	nan := float32(math.NaN())
	releases := map[string]func(s *privacy.Session, critic *penalised) error{
		"certified": func(s *privacy.Session, critic *penalised) error {
			plan := gradient.CertifiedPlan{Rate: 1, NoiseMultiplier: 2}
			_, err := gradient.CertifiedSum(s, plan, critic)
			return err
		},
		"clipped": func(s *privacy.Session, critic *penalised) error {
			plan, _ := clippedPlan(1, 1, 2, 1)
			_, err := Sum(s, plan, critic)
			return err
		},
	}
	_, composition := clippedPlan(1, 1, 2, 1)
	for name, release := range releases {
		for _, weight := range []float32{-3e38, 3e38, -0x1p100, nan, float32(math.Inf(-1))} {
			critic := network(weight)
			err := release(open(t, tab, composition), critic)
			if !errors.Is(err, bounds.ErrNetwork) || critic.Calls > 0 {
				t.Errorf("%s, weights of %v: error %v, the critic saw rows %d times",
					name, weight, err, critic.Calls)
			}
		}
		if err := release(open(t, tab, composition),
			network(-0x1p98)); errors.Is(err, bounds.ErrNetwork) {
			t.Errorf("%s below the limit: %v", name, err)
		}
	}
	// The penalty's own certificate: with a first layer of 0 all its factors are small, and its
	// first sums are the bias.
	plan, _ := clippedPlan(0, 1, 2, 1)
	plan.Mode, plan.Penalty = modes.Box, Penalty{Share: .2, Reach: .5}
	for bias, refused := range map[float32]bool{-3e38: true, -0x1p101: true, nan: true,
		-0x1p99: false} {
		critic := network(0)
		critic.Net.Layers[0].Bias[2] = bias
		s := open(t, tab, composition)
		_, _, err := penaltySum(s.Neighbours(), plan.Penalty, 2, critic)
		if errors.Is(err, bounds.ErrNetwork) != refused || err != nil != refused {
			t.Errorf("the penalty with a bias of %v: %v", bias, err)
		}
		_, err = Sum(s, plan, critic)
		if err != nil != refused || refused && critic.Calls > 0 {
			t.Errorf("a sum with a penalty with a bias of %v: %v, the critic saw rows %d times",
				bias, err, critic.Calls)
		}
	}
}
