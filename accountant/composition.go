package accountant

import "errors"

var errTODO = errors.New("accountant: not implemented")

// Charge is Count calls of one event.
type Charge struct {
	Event Event
	Count int // ≥ 1
}

// Composition is a multiset of events.
// In JSON: [{"event":"gaussian","noise_multiplier":3.7,"count":15}, ...]; an unknown key or event is an error.
type Composition []Charge

// Bound is a proven upper bound on the cost of a composition.
type Bound struct {
	Epsilon, Delta float64
	Method         string  // "gdp", "pld", "rdp", "zcdp" or "basic"
	Slack          float64 // Epsilon − Slack ≤ true ε ≤ Epsilon; +Inf where no lower bound is known
}

// Epsilon returns the best bound on ε at delta.
func (c Composition) Epsilon(delta float64, adj Adjacency) (Bound, error) { return Bound{}, errTODO }

// Delta returns the best bound on δ at epsilon.
func (c Composition) Delta(epsilon float64, adj Adjacency) (Bound, error) { return Bound{}, errTODO }

// Rho returns ρ such that the composition is ρ-zCDP, or ErrNoRho.
func (c Composition) Rho() (float64, error) { return 0, errTODO }

// Calibrate returns the smallest scale at which the composition is within the budget; at must be monotone (a larger scale costs less).
func Calibrate(b Budget, adj Adjacency, at func(scale float64) Composition) (float64, error) {
	return 0, errTODO
}

// GaussianSigma returns the smallest σ at which the Gaussian mechanism on a vector of this Euclidean sensitivity is within the budget.
func GaussianSigma(b Budget, sensitivity float64) (float64, error) { return 0, errTODO }
