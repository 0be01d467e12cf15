package derive

import (
	"math"
	"math/big"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
)

// TestNumbers compares with known digits (Abramowitz, Stegun; π and e by heart).
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		name string
		got  *big.Float
		want string
	}{
		{"π", pi(200), "3.14159265358979323846264338327950288419716939937510582"},
		{"e", exp(number(1)), "2.71828182845904523536028747135266249775724709369995957"},
		{"e^−20", exp(number(-20)), "2.06115362243855782796594038015580976375807275599106794e-09"},
		{"Φ(0)", phi(number(0)), "0.5"},
		{"Φ(1)", phi(number(1)), "0.841344746068542948585232545632"},
		{"Φ(−10)", phi(number(-10)), "7.619853024160526065973343251599e-24"},
		{"Φ(−30)", phi(number(-30)), "4.90671392714818705953380925658e-198"},
		{"Φ(−61)", phi(number(-61)), "0"},
	} {
		want, _, err := big.ParseFloat(c.want, 10, 200, big.ToNearestEven)
		stattest.Check(t, err)
		diff := new(big.Float).Sub(c.got, want)
		if diff.Abs(diff); diff.Sign() != 0 && diff.MantExp(nil) > want.MantExp(nil)-90 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// TestAgainstTheAccountant: the range holds the accountant's own, for every kind of event. For
// Gaussian and Laplace events it is tight.
func TestAgainstTheAccountant(t *testing.T) {
	type comp = accountant.Composition
	for _, c := range []struct {
		name  string
		of    comp
		delta float64
		tight bool
	}{
		{"Gaussian", comp{{Event: accountant.Gaussian{NoiseMultiplier: 1.7}, Count: 3}}, 1e-9,
			true},
		{"little noise", comp{{Event: accountant.Gaussian{NoiseMultiplier: .06}, Count: 1}}, 1e-9,
			true},
		{"much noise", comp{{Event: accountant.Gaussian{NoiseMultiplier: 1000}, Count: 7}}, 1e-5,
			true},
		{"pool", comp{{Event: accountant.GDPFilter{Mu: .8}, Count: 1},
			{Event: accountant.Gaussian{NoiseMultiplier: 9}, Count: 2}}, 1e-9, true},
		{"Laplace", comp{{Event: accountant.Laplace{Epsilon: .3}, Count: 5}}, 1e-6, true},
		{"pure", comp{{Event: accountant.Laplace{Epsilon: .3}, Count: 5}}, 0, true},
		{"both", comp{{Event: accountant.Laplace{Epsilon: .3}, Count: 2},
			{Event: accountant.Gaussian{NoiseMultiplier: 4}, Count: 9}}, 1e-7, true},
		{"selections", comp{{Event: accountant.Exponential{Epsilon: .2}, Count: 12},
			{Event: accountant.Gaussian{NoiseMultiplier: 6}, Count: 25}}, 1e-9, false},
		{"many", comp{{Event: accountant.Laplace{Epsilon: .01}, Count: 1000}}, 1e-9, false},
		{"batches", comp{{Event: accountant.SubsampledGaussian{Rate: .1, NoiseMultiplier: 2},
			Count: 20}}, 1e-6, false},
		{"full batches", comp{{Event: accountant.SubsampledGaussian{Rate: 1, NoiseMultiplier: 9},
			Count: 20}}, 1e-6, true},
		{"approximate", comp{{Event: accountant.Approx{Epsilon: .1, Delta: 1e-9}, Count: 3},
			{Event: accountant.Gaussian{NoiseMultiplier: 6}, Count: 2}}, 1e-7, false},
	} {
		for _, adj := range []accountant.Adjacency{accountant.AddRemove, accountant.ReplaceOne} {
			_, sampled := c.of[0].Event.(accountant.SubsampledGaussian)
			if adj == accountant.ReplaceOne && !sampled { // which is no other than add-remove
				continue
			}
			got := Epsilon(c.of, c.delta, adj)
			closed, err := c.of.Epsilon(c.delta, adj)
			if err == nil && (closed.Epsilon < got.Lower ||
				c.tight && closed.Slack < closed.Epsilon && closed.Epsilon > got.Upper*(1+1e-5)) {
				t.Errorf("%s, %v: %v, the closed formula has %+v", c.name, adj, got, closed)
			}
			want := stattest.Must(pld.Epsilon(c.of, c.delta, adj))
			// package pld is right to three quarters of a per cent
			least := want.Epsilon - min(want.Slack, .0075*want.Epsilon)
			if !(got.Lower <= want.Epsilon && least <= got.Upper) {
				t.Errorf("%s, %v: %v, the accountant has %+v", c.name, adj, got, want)
			}
			if c.tight && (got.Upper-got.Lower > 1e-8*got.Upper ||
				got.Upper < least-1e-8) {
				t.Errorf("%s, %v: from %v to %v, the accountant has %+v", c.name, adj, got.Lower,
					got.Upper, want)
			}
		}
	}
}

// TestNoBound: where there is none, or none is known, the range says so.
func TestNoBound(t *testing.T) {
	gaussian := accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: 1}, Count: 1}}
	if got := Epsilon(gaussian, 0, accountant.AddRemove); !math.IsInf(got.Lower, 1) ||
		!math.IsInf(got.Upper, 1) {
		t.Errorf("a Gaussian at δ = 0: %v", got)
	}
	huge := accountant.Composition{{Event: accountant.Gaussian{NoiseMultiplier: 1e-3}, Count: 1}}
	if got := Epsilon(huge, 1e-9, accountant.AddRemove); got.Lower != 0 ||
		!math.IsInf(got.Upper, 1) {
		t.Errorf("too large a μ: %v", got)
	}
	for _, e := range []accountant.Event{
		accountant.Laplace{Epsilon: 1e300}, accountant.Exponential{Epsilon: 1e300},
		accountant.Exponential{Epsilon: 900},
		accountant.GDPFilter{Mu: 1e200}, accountant.SubsampledGaussian{Rate: 1e-9,
			NoiseMultiplier: 1e-300},
	} {
		got := Epsilon(accountant.Composition{{Event: e, Count: 1 << 40}}, 1e-9,
			accountant.ReplaceOne)
		if !math.IsInf(got.Upper, 1) {
			t.Errorf("%+v: %v", e, got)
		}
	}
	if got := Epsilon(nil, 1e-9, accountant.AddRemove); got != (Range{}) {
		t.Errorf("nothing: %v", got)
	}
	spent := accountant.Composition{{Event: accountant.Approx{Delta: 1e-6}, Count: 2}}
	if got := Epsilon(spent, 1e-6, accountant.AddRemove); !math.IsInf(got.Upper, 1) {
		t.Errorf("more δ than there is: %v", got)
	}
}
