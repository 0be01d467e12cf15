package accountant

import (
	"math"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
)

// TestGroup compares with the sum, and with the exact cost of a Gaussian for a group.
func TestGroup(t *testing.T) {
	for _, c := range []struct {
		b    Budget
		k    int
		want Budget
	}{
		{Budget{1, 1e-9}, 1, Budget{1, 1e-9}},
		{Budget{.5, 1e-6}, 3, Budget{1.5, 1e-6 * (1 + math.Exp(.5) + math.E)}},
		{Budget{0, 1e-6}, 4, Budget{0, 4e-6}},
		{Budget{3, 0}, 2, Budget{6, 0}},
		{Budget{10, 1e-9}, 100, Budget{1000, 1}},
	} {
		got := Group(c.b, c.k)
		if math.Abs(got.Epsilon-c.want.Epsilon) > 1e-12 || got.Epsilon < c.want.Epsilon ||
			math.Abs(got.Delta-c.want.Delta) > 1e-11*c.want.Delta || got.Delta < c.want.Delta {
			t.Errorf("%d of %+v: %+v, want %+v", c.k, c.b, got, c.want)
		}
	}
	const mu = .3
	for k := 2; k < 6; k++ {
		b := Budget{Epsilon: 1, Delta: GDPDelta(mu, 1)}
		if g := Group(b, k); GDPDelta(float64(k)*mu, g.Epsilon) > g.Delta {
			t.Errorf("a group of %d spends more than %+v", k, g)
		}
	}
	stattest.Panics(t, func() { Group(Budget{Epsilon: 1}, 0) }, "a group of nobody")
}

// TestLifetime is the lecture's budget of a life: 10,000 releases of ε₀ = 1/801 with δ′ = e⁻³² by
// advanced composition, ε₀·√(2k ln(1/δ′)) + kε₀(e^ε₀ − 1), are .9987 + .0156 = 1.014. Without the
// ε₀ of the second term, as a source prints it, they would be 13.5, more than by adding up.
func TestLifetime(t *testing.T) {
	const k, each = 10_000, 1. / 801
	first, second := each*math.Sqrt(2*k*32), k*each*math.Expm1(each)
	if math.Abs(first-.99875) > 1e-5 || math.Abs(second-.015596) > 1e-6 {
		t.Errorf("%v + %v", first, second)
	}
	added, err := Composition{{Event: Laplace{each}, Count: k}}.Epsilon(0, AddRemove)
	if err != nil || math.Abs(added.Epsilon-12.484) > 1e-3 {
		t.Errorf("added up: %v, %v", added.Epsilon, err)
	}
	if misprint := first + k*math.Expm1(each); misprint < added.Epsilon {
		t.Errorf("the misprint makes sense: %v", misprint)
	}
}
