package privacy

import (
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/ledger"
	"github.com/decoy-dp/decoy/schema"
)

// Neighbours is the neighbouring relation of a session. Its methods give the accounting event of
// each mechanism of the gate at a noise scale; planners and the gate use the same methods, so what
// is planned is what is charged.
//
// Symbols: k = MaxRowsPerUnit (1 when a row is its own unit), Δ = sensitivity. Adding or removing
// one unit changes a vector of counts over disjoint cells by a vector a of non-negative integers
// with sum at most k, so Δ₁ = Δ₂ = k. Replacing one unit changes it by a − b with a and b of that
// kind: Δ₁ = 2k, Δ₂ = √2·k (largest when a and b are k rows in one cell each, in different cells).
// A single count changes by at most k under both.
type Neighbours struct {
	Adjacency      accountant.Adjacency
	MaxRowsPerUnit int // ≥ 1; 0 is read as 1
}

// NeighboursOf is the relation for tables of schema s. The zero adjacency is read as add/remove.
func NeighboursOf(s *schema.Schema, adj accountant.Adjacency) Neighbours {
	if adj == 0 {
		adj = accountant.AddRemove
	}
	nb := Neighbours{Adjacency: adj, MaxRowsPerUnit: 1}
	if s.Unit != "" && s.MaxRowsPerUnit > 1 {
		nb.MaxRowsPerUnit = s.MaxRowsPerUnit
	}
	return nb
}

// Units is the relation as a ledger has it, for an id column named unit.
func (nb Neighbours) Units(unit string) ledger.Units {
	return ledger.Units{Adjacency: nb.Adjacency, Unit: unit, MaxRowsPerUnit: nb.MaxRowsPerUnit}
}

// String is, for example, "add-remove, unit = up to 4 rows".
func (nb Neighbours) String() string {
	if nb.MaxRowsPerUnit <= 1 {
		return fmt.Sprintf("%v, unit = 1 row", nb.Adjacency)
	}
	return fmt.Sprintf("%v, unit = up to %d rows", nb.Adjacency, nb.MaxRowsPerUnit)
}
