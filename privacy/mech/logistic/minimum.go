package logistic

import (
	"context"
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

// Perturbation says where noise goes in [Minimum]. It is a value, and all of it is public.
type Perturbation struct {
	Penalty float64 // Λ > 0: Λ/2·‖w‖² is added to the summed loss
	// standard deviation of each coordinate of b, where b·w is added too (objective perturbation); 0:
	// no such term (output perturbation)
	Objective float64
	Output    float64 // standard deviation of what is added to each weight of the minimum
	Epsilon   float64 // with Objective, at which its event states δ
}

const (
	minimumBits = 42 // the grid of residuals
	minimumRows = 1 << 20
	linearBits  = 30             // the grid of b
	linearGap   = 1. / (1 << 18) // what that takes at most
	roundedUp   = 1 + 1e-12      // outweighs the rounding of a few operations
)

// Gap is how far from 0 a gradient may be at what noise is added to, in norm and in rows: no
// minimum is assumed to be exact. It has room for the rounding of b, ½·2^-linearBits in each of up
// to maxCells coordinates.
const Gap = 1./(1<<10) + linearGap

// MinimumEvent is the event of [Minimum] (docs/claims/logisticminimum.md): of output perturbation
// Gaussian, of objective perturbation Approx.
func MinimumEvent(nb privacy.Neighbours, p Problem, x Perturbation) accountant.Event {
	if x.Objective == 0 {
		moved := (p.sensitivity(nb) + 2*Gap) / x.Penalty
		return accountant.Gaussian{NoiseMultiplier: access.Down(x.Output, moved*roundedUp)}
	}
	return accountant.Approx{Epsilon: x.Epsilon, Delta: p.approxDelta(nb, x)}
}

// approxDelta is δ of objective perturbation at x.Epsilon, with K the rows that may differ, k those
// of a unit, and C the classes:
//
//	δ = Σ_j (K over j)·(C−1)^j·δ_GDP(√(j²μ² + ν²), ε − k(C−1)·ln(1 + κ/Λ)),  j from 0 to K
//
// μ is a row's gradient by the noise of b, ν what the minimum is off by twice by the other noise,
// and κ bounds the curvature of a row's loss: m/4 of two classes, m/C of each direction of more.
func (p Problem) approxDelta(nb privacy.Neighbours, x Perturbation) float64 {
	unit := max(1, nb.MaxRowsPerUnit)
	rows, others, curvature := unit, 1., float64(len(p.Columns))/4
	if nb.Adjacency == accountant.ReplaceOne {
		rows *= 2
	}
	if c := p.Outputs(); c > 1 {
		others, curvature = float64(c-1), float64(len(p.Columns))/float64(c)
	}
	mu := math.Sqrt(p.squared()) / x.Objective
	nu := 2 * Gap / (x.Penalty * x.Output)
	left := x.Epsilon - float64(unit)*others*math.Log1p(curvature/x.Penalty)*roundedUp
	sum, ways := 0., 0. // of ways the logarithm
	for j := range rows + 1 {
		if j > 0 {
			ways += math.Log(float64(rows-j+1)/float64(j)) + math.Log(others)
		}
		sum += math.Exp(ways) * accountant.GDPDelta(math.Hypot(float64(j)*mu, nu)*roundedUp, left)
	}
	return sum * (1 + 1e-9)
}

// Reachable returns an error for perturbations of n weights at which no minimum may be found on the
// grid of weights: a penalty Λ < 2⁻¹⁰ or Λ < Objective/64, whose b/Λ may be beyond it, or Λ√n >
// 2²⁸, of which a step moves a gradient by more than the gap.
func (x Perturbation) Reachable(n int) error {
	if !(x.Penalty >= 1./(1<<10)) || !(x.Penalty*64 >= x.Objective) ||
		!(x.Penalty*math.Sqrt(float64(n)) <= 1<<28) {
		return fmt.Errorf("a logistic regression: no minimum is found with penalty %.3g for "+
			"%d weights and objective noise %.3g", x.Penalty, n, x.Objective)
	}
	return nil
}

// Minimum returns the weights, output after output, at which the summed logistic loss of all rows,
// a penalty and maybe a random linear term are least, but for a gradient of norm 2⁻¹⁰, plus noise
// round(N(0, x.Output²)) on a grid of 2⁻⁴⁰ (docs/claims/logisticminimum.md). It takes about √n
// times as many passes over the rows as a gradient, and ends where ctx does: with its error, after
// which the session answers nothing more. Event: [MinimumEvent].
func Minimum(
	ctx context.Context, s *privacy.Session, p Problem, x Perturbation,
) ([]float64, error) {
	sizes := s.Schema().Sizes()
	p = p.clone() // before it is checked
	if err := p.check(sizes); err != nil {
		return nil, err
	}
	if !access.Positive(x.Penalty) || x.Objective != 0 && !access.Positive(x.Objective) ||
		!(x.Epsilon >= 0) {
		return nil, fmt.Errorf("a logistic regression: %+v must be positive", x)
	}
	output, err := noise.NewRoundedGaussian(math.Ldexp(x.Output, weightBits))
	if err != nil {
		return nil, fmt.Errorf("a logistic regression: output %v: %w", x.Output, err)
	}
	var linear *noise.RoundedGaussian
	if x.Objective > 0 {
		if linear, err = noise.NewRoundedGaussian(math.Ldexp(x.Objective, linearBits)); err != nil {
			return nil, fmt.Errorf("a logistic regression: objective %v: %w", x.Objective, err)
		}
	}
	n := p.Cells(sizes) * p.Outputs()
	if err := x.Reachable(n); err != nil {
		return nil, err
	}
	m := access.Call{Length: n, Noise: output}
	m.What, m.Of = "minimum of a logistic regression",
		p.ask("logistic minimum").Floats(x.Penalty, x.Objective, x.Output, x.Epsilon)
	m.Cost = access.Once(MinimumEvent(s.Neighbours(), p, x))
	quiet, stop := access.Deaf(ctx)
	defer stop()
	m.Exact = func(rows access.Rows) ([]int64, error) {
		b := make([]int64, n)
		if linear != nil {
			linear.AddTo(b, rows.Source)
		}
		return p.minimise(quiet, rows.Table(), x.Penalty, b)
	}
	sum, err := access.Numbers(s, m)
	if err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i, w := range sum {
		out[i] = math.Ldexp(float64(w), -weightBits)
	}
	return out, nil
}

// minimise returns weights, in steps of 2^-weightBits, at which the gradient of Σ ℓ(w; row) +
// Λ/2·‖w‖² + b·w has norm gap at most, b in steps of 2^-linearBits. It takes steps of Nesterov's
// method (Lectures on convex optimization, 2018, scheme 2.2.22 with constant momentum), as many as
// their theorem (2.2.3) asks for by the number of rows and public numbers, and more only if the
// gradient says that rounding has kept it from the gap: at n·√m·outputs ≥ 2³⁰ it always does, and
// the end of ctx is the only one.
func (p Problem) minimise(
	ctx context.Context, t *table.Table, penalty float64, b []int64,
) ([]int64, error) {
	const gap = Gap - linearGap
	n, m, outputs := float64(t.Rows()), float64(len(p.Columns)), float64(p.Outputs())
	smooth := n*m/4 + penalty
	if outputs > 1 {
		smooth += n * m / 4
	}
	// what the residuals' grid and floating point may have taken from a gradient
	rounding := math.Ldexp(n*math.Sqrt(m)*outputs, 2-minimumBits)
	norm := 0.
	for _, x := range b {
		norm = math.Hypot(norm, math.Ldexp(float64(x), -linearBits))
	}
	// F(0) − F(w*) is at most half of this, and so is Λ/2·‖w*‖²
	above := 2*n*math.Log(max(2, outputs)) + norm*norm/penalty
	root := math.Sqrt(penalty / smooth)
	steps := math.Log(1+2*smooth*above/(gap*gap)) / root
	w, look, gradient := make([]float64, len(b)), make([]float64, len(b)), make([]float64, len(b))
	at, sum := make([]int64, len(b)), make([]int64, len(b))
	for k := 0.; ctx.Err() == nil; k++ {
		for j, x := range look {
			at[j] = int64(math.Round(math.Ldexp(max(-maxWeight, min(maxWeight, x)), weightBits)))
			look[j] = math.Ldexp(float64(at[j]), -weightBits)
			gradient[j] = math.Ldexp(float64(b[j]), -linearBits) + float64(penalty*look[j])
		}
		for first := 0; first < t.Rows(); first += minimumRows { // in each of which a sum fits 63 bits
			clear(sum)
			p.sumTo(sum, t, first, min(t.Rows(), first+minimumRows), at, minimumBits)
			for j, x := range sum {
				gradient[j] += math.Ldexp(float64(x), -minimumBits)
			}
		}
		norm = 0
		for _, g := range gradient {
			norm += float64(g * g)
		}
		if k >= steps && math.Sqrt(norm)*roundedUp+rounding <= gap {
			return at, nil
		}
		for j, g := range gradient {
			next := look[j] - g/smooth
			look[j] = next + float64((1-root)/(1+root)*(next-w[j]))
			w[j] = next
		}
	}
	return nil, context.Cause(ctx)
}
