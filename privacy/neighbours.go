package privacy

import (
	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/ledger"
)

// Neighbours is the neighbouring relation of a session. Its methods give the accounting event of
// each mechanism of the gate at a noise scale; planners and the gate use the same methods, so what
// is planned is what is charged.
//
// How far one unit moves counts is in [access.Kind.Sensitivity], and proved in
// docs/claims/measure.md.
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
