package logistic

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// OutputEvent is the event of [Output] at standard deviation sigma: Gaussian with the distance of
// two minimisers, (Δ + 2γ)/λ, Δ that of [GradientEvent] and γ = 2⁻¹³·√m how far from zero the
// gradients at them may be.
func OutputEvent(nb privacy.Neighbours, p Problem, lambda, sigma float64) accountant.Event {
	distance := access.Up(p.sensitivity(nb)+2*p.gap(), lambda)
	return accountant.Gaussian{NoiseMultiplier: access.Down(sigma, distance)}
}

// Output returns the minimiser of the summed logistic loss + lambda/2·‖w‖², for two classes, plus
// noise round(N(0, sigma²)) on a grid of 2⁻⁴⁰ in each coordinate: output perturbation (Chaudhuri,
// Monteleoni, Sarwate 2011, algorithm 1, with Gaussian noise and for neighbours that add a row;
// docs/claims/perturbation.md). The table must have at most [Problem.RowLimit] rows. Event:
// [OutputEvent].
func Output(s *privacy.Session, p Problem, lambda, sigma float64) ([]float64, error) {
	return p.perturbed(s, lambda, 0, sigma, "logistic output",
		OutputEvent(s.Neighbours(), p, lambda, sigma))
}

// Objective is what [Perturbed] adds: N(0, Linear²) to each coefficient of a linear term of the
// objective, and N(0, Weights²) to each coordinate of what is about its minimiser.
type Objective struct{ Linear, Weights float64 }

// NewObjective finds the noise of an (epsilon, delta)-DP call at a penalty lambda. Errors wrap
// accountant.ErrUnbounded if lambda is too small for any noise: then ln(1 + m/4λ), by which the
// curvature of one row changes densities, takes more than half of epsilon.
//
// One row is added (docs/claims/perturbation.md), for a budget that group privacy leaves for each
// of k rows, 2k under replace-one. A tenth of it hides that minimisers are not exact.
func NewObjective(
	nb privacy.Neighbours, p Problem, sizes []int, lambda float64, b accountant.Budget,
) (Objective, error) {
	rows := float64(max(1, nb.MaxRowsPerUnit))
	if nb.Adjacency == accountant.ReplaceOne {
		rows *= 2
	}
	m := p.squared()
	// (ε, δ) of a row: rows of them make (rows·ε, δ·(e^{rows·ε} − 1)/(e^ε − 1)).
	epsilon := b.Epsilon / rows * (1 - 1e-9)
	delta := b.Delta * math.Expm1(epsilon) / math.Expm1(b.Epsilon) * (1 - 1e-9)
	curvature := math.Log1p(m / 4 / lambda)
	if !(lambda > 0) || curvature > epsilon/2 || b.Delta == 0 {
		return Objective{}, fmt.Errorf(
			"privacy: objective perturbation: epsilon %v, delta %v and a penalty of %v leave no room "+
				"for noise: %w", b.Epsilon, b.Delta, lambda, accountant.ErrUnbounded)
	}
	// Between the result and that of an exact minimiser: (ε₂, δ₂), on either side.
	second := epsilon / 20
	delta2 := delta / (10 * (1 + math.Exp(epsilon)))
	first := epsilon - 2*second
	delta1 := (delta - (1+math.Exp(first+second))*delta2) * math.Exp(-second) * (1 - 1e-9)
	mu1 := largest(func(mu float64) bool {
		rest := first - curvature
		return rest >= mu*mu/2 && 2*accountant.GDPDelta(mu, rest) <= delta1
	})
	mu2 := largest(func(mu float64) bool { return accountant.GDPDelta(mu, second) <= delta2 })
	if mu1 == 0 || mu2 == 0 {
		return Objective{}, fmt.Errorf("privacy: objective perturbation: no noise is enough at %+v: %w",
			b, accountant.ErrUnbounded)
	}
	// the linear term is rounded to its grid, which moves a minimiser as a gradient would
	far := p.gap() + math.Sqrt(float64(p.Cells(sizes)))*math.Ldexp(1, -linearBits-1)
	return Objective{Linear: math.Sqrt(m) / mu1 * (1 + 1e-12),
		Weights: far / lambda / mu2 * (1 + 1e-12)}, nil
}

// largest is an x in [1e-9, 1e3] up to which ok holds, for an ok that fails from some point on, to
// a part in 2^50; 0 if there is none.
func largest(ok func(float64) bool) float64 {
	lo, hi := 1e-9, 1e3
	if !ok(lo) {
		return 0
	}
	for range 100 {
		if mid := math.Sqrt(lo * hi); ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// PerturbedEvent is the event of [Perturbed].
func PerturbedEvent(b accountant.Budget) accountant.Event {
	return accountant.Approx(b)
}

// Perturbed returns about the minimiser of the summed logistic loss + lambda/2·‖w‖² + b·w, for two
// classes and a secret b: objective perturbation with approximate minima (Kifer, Smith, Thakurta
// 2012; Iyengar et al. 2019; docs/claims/perturbation.md), with the noise of [NewObjective]. The
// table must have at most [Problem.RowLimit] rows. Event: [PerturbedEvent].
func Perturbed(
	s *privacy.Session, p Problem, lambda float64, b accountant.Budget,
) ([]float64, error) {
	if err := p.check(s.Schema().Sizes()); err != nil {
		return nil, err
	}
	o, err := NewObjective(s.Neighbours(), p, s.Schema().Sizes(), lambda, b)
	if err != nil {
		return nil, err
	}
	return p.perturbed(s, lambda, o.Linear, o.Weights, "logistic objective", PerturbedEvent(b))
}

// linearBits is the grid of the linear term.
const linearBits = 24

// perturbed charges, minimises with a linear term of noise linear (0: none), and adds noise to the
// weights.
func (p Problem) perturbed(
	s *privacy.Session, lambda, linear, weights float64, what string, event accountant.Event,
) ([]float64, error) {
	sizes := s.Schema().Sizes()
	fail := func(err error) ([]float64, error) {
		return nil, fmt.Errorf("privacy: %s: %w", what, err)
	}
	if err := p.check(sizes); err != nil {
		return nil, err
	}
	n := p.Cells(sizes)
	switch {
	case p.Outputs() != 1:
		return fail(fmt.Errorf("%d classes, it takes two", p.Outputs()))
	case n > maxWeights:
		return fail(fmt.Errorf("%d weights, at most %d are possible", n, maxWeights))
	case !access.Positive(lambda):
		return fail(fmt.Errorf("penalty %v must be positive and finite", lambda))
	}
	g, err := noise.NewRoundedGaussian(math.Ldexp(weights, weightBits))
	if err != nil {
		return fail(fmt.Errorf("noise %v of weights: %w", weights, err))
	}
	tilt := g // of the linear term
	if linear > 0 {
		if tilt, err = noise.NewRoundedGaussian(math.Ldexp(linear, linearBits)); err != nil {
			return fail(fmt.Errorf("noise %v of the objective: %w", linear, err))
		}
	}
	c := access.Call{What: what, Of: p.ask(what).Floats(lambda, linear, weights),
		Cost: access.Once(event)}
	out, err := access.Runner(s).Ints(c, n, func(rows access.Rows) ([]int64, error) {
		var b []float64
		if linear > 0 {
			b = make([]float64, n)
			for i := range b {
				b[i] = math.Ldexp(float64(tilt.Sample(rows.Source)), -linearBits)
			}
		}
		w, _ := p.minimise(rows.Table(), lambda, b)
		g.AddTo(w, rows.Source)
		return w, nil
	})
	if err != nil {
		return nil, err
	}
	w := make([]float64, n)
	for i, x := range out {
		w[i] = math.Ldexp(float64(x), -weightBits)
	}
	return w, nil
}
