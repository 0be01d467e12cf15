package accountant

import (
	"errors"
	"fmt"
	"math"
)

var (
	// ErrBudget is wrapped by every refusal for want of budget.
	ErrBudget = errors.New("not enough privacy budget")
	// ErrBudgetRange is wrapped by every error about an ε or δ outside its range.
	ErrBudgetRange = errors.New("privacy budget out of range")
	// ErrEvent is wrapped by every error about an event, a count or an adjacency that the accountant
	// does not accept.
	ErrEvent = errors.New("invalid privacy event")
	// ErrNoFormula is returned by Composition.Epsilon for an event whose cost has no closed formula.
	ErrNoFormula = errors.New("no closed formula for the cost")
	// ErrUnbounded is returned when no finite ε exists at the asked δ.
	ErrUnbounded = errors.New("no finite epsilon at this delta")
)

// MaxDelta is the largest δ that a Budget may have.
const MaxDelta = 1e-3

// MinDelta is the smallest δ that buys anything; a smaller one is priced as 0, far above the
// underflow of any function of it.
const MinDelta = 1e-200

// Adjacency says which tables are neighbours. It is fixed when a session opens and is written in
// every ledger and model.
type Adjacency uint8

const (
	// AddRemove neighbours differ by adding or removing all rows of one privacy unit.
	AddRemove Adjacency = 1
	// ReplaceOne neighbours differ by the rows of one privacy unit; the number of units is the same.
	ReplaceOne Adjacency = 2
)

var adjacencies = [...]string{"no adjacency", "add-remove", "replace-one"}

// String returns "add-remove" or "replace-one".
func (a Adjacency) String() string {
	if a > ReplaceOne {
		a = 0
	}
	return adjacencies[a]
}

// MarshalText returns String; the zero Adjacency is an error.
func (a Adjacency) MarshalText() ([]byte, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return []byte(a.String()), nil
}

// UnmarshalText accepts "add-remove" and "replace-one" only.
func (a *Adjacency) UnmarshalText(text []byte) error {
	for *a = ReplaceOne; *a > 0 && string(text) != a.String(); *a-- {
	}
	return a.Validate()
}

// Validate reports an adjacency that is neither as ErrEvent.
func (a Adjacency) Validate() error {
	if a != AddRemove && a != ReplaceOne {
		return fmt.Errorf("adjacency must be add-remove or replace-one: %w", ErrEvent)
	}
	return nil
}

// Budget is an (ε, δ) pair: what a run may cost.
type Budget struct {
	Epsilon float64 `json:"epsilon"` // required, > 0, finite
	Delta   float64 `json:"delta"`   // 0 to MaxDelta; 0 asks for pure DP
}

// Validate reports an ε or δ out of range as ErrBudgetRange.
func (b Budget) Validate() error {
	if !(b.Epsilon > 0) || math.IsInf(b.Epsilon, 1) {
		return fmt.Errorf("epsilon %v must be positive and finite: %w", b.Epsilon,
			ErrBudgetRange)
	}
	if !(b.Delta >= 0 && b.Delta <= MaxDelta) {
		return fmt.Errorf("delta %v must be from 0 to %v: %w", b.Delta, MaxDelta,
			ErrBudgetRange)
	}
	return nil
}
