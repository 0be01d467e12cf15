package privacy

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy/internal/access"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/table"
)

// Rows is a private table that only the gate can read. What is read stands behind functions, so
// that no way of printing or encoding it, alone or inside another value, shows a row. Nothing is
// read before a [Session] is opened on it.
type Rows struct {
	schema *schema.Schema
	path   string                                         // of a file
	table  func(begin func() error) (*table.Table, error) // in its place
	source access.Load                                    // in place of both, for rows in another form

	fingerprint string // of the source's schema
}

// File names a private file (.csv, .parquet, "-" for CSV on standard input) to be read by [Open],
// leniently whatever the schema says.
func File(path string, s *schema.Schema) *Rows { return &Rows{schema: s.Clone(), path: path} }

// Schema is a copy of the public schema of the rows.
func (r *Rows) Schema() *schema.Schema { return r.schema.Clone() }

// Format says nothing about the rows, whatever the verb.
func (r *Rows) Format(f fmt.State, _ rune) { fmt.Fprint(f, "privacy.Rows(private)") }

// MarshalText refuses.
func (r *Rows) MarshalText() ([]byte, error) { return nil, access.ErrPrivate }

// boundUnits returns, in increasing order, the rows to keep: a uniformly random subset of k rows
// for each unit with more than k, all rows of the others. What is kept of one unit does not depend
// on any other unit.
func boundUnits(units []uint32, k int, src *noise.Source) []int {
	order := make([]int, len(units))
	for i := range order {
		order[i] = i
	}
	src.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	seen := make(map[uint32]int)
	keep := order[:0]
	for _, row := range order {
		if u := units[row]; seen[u] < k {
			seen[u]++
			keep = append(keep, row)
		}
	}
	slices.Sort(keep)
	return keep
}
