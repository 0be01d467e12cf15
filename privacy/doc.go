// Package privacy is the gate: the only way from private rows to a number that may leave.
//
// # The promise
//
// A [Session] is opened on private [Rows] with a budget (ε, δ) and a plan, the multiset of
// mechanisms it may run, which it reserves in the ledger before it reads. What a session returned
// in total is (ε, δ)-differentially private for the neighbouring relation it was opened with
// (docs/claims/session.md).
//
// A [Query] is a value of this package: a [Marginal], a count of rows under a condition, scores.
// [Session.Measure] and [Session.Select] take queries; Laplace noise, distances and choices of a
// database are here, too. Votes, sums of gradients, thresholds and tables of texts, with proofs of
// their own, are in the packages of privacy/mech. All reach the one primitive, from there through
// an internal package.
//
// # Neighbouring tables
//
// The privacy unit is a row or, with an id column in the schema, every row with the same id, of
// which the gate keeps a random max_rows_per_unit. Callers never pass a sensitivity: [Neighbours]
// derives it from the relation ([accountant.Adjacency]), and the run and the plan share that
// derivation.
//
// # Threat model
//
// Covered: an honest programmer who makes mistakes, and a reader with unlimited time of everything
// that is released (model file, synthetic table, the model's ledger, the printed claim). Not
// covered: timing and memory side channels; a programmer who uses unsafe, reflection, a debugger
// or a module below this one's path to reach the rows; whoever can read the process, the private
// file, the ledger beside it or the journal of an unfinished run, which is as secret as the file.
//
// There are no errors about rows: a private file is read leniently, whatever its schema says
// ([schema.Schema.ForPrivate]), and no content of the rows, other than through noise, changes the
// error of a run or what it returns. A table without rows is a table.
package privacy
