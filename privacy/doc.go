// Package privacy is the gate: the only way from private rows to a number that may leave.
//
// # The promise
//
// A [Session] is opened on private [Rows] with a budget (ε, δ) and a plan, the multiset of
// mechanisms it may run. Opening it reserves the whole plan in the ledger (one atomic, fsynced
// append) before the first byte of the private file is read. Each mechanism then charges its event
// against that reservation, reads, adds exact noise, keeps the noisy answer in the run's journal,
// if it has one, and returns it. A run that was killed goes on from its journal: what was returned
// is never drawn again. What a session returned in total is (ε, δ)-differentially private for the
// neighbouring relation it was opened with.
//
// A [Query] is a value: a [Marginal] here, others in package query. [Session.Measure] and
// [Session.Select] take queries. All other mechanisms, with proofs of their own, are in the
// packages below: Laplace noise, distances, choices of a database, votes, sums of gradients,
// thresholds, tables of texts. They reach the one primitive through an internal package.
//
// # Neighbouring tables
//
// The privacy unit is a row or, with an id column in the schema, every row with the same id, of
// which the gate keeps a random max_rows_per_unit. Under [accountant.AddRemove] (the default) two
// tables are neighbours when one has the rows of one unit more than the other; under
// [accountant.ReplaceOne] when the rows of one unit differ. Callers never pass a sensitivity:
// [Neighbours] derives it from the relation, and the run and the plan share that derivation.
//
// # Threat model
//
// Covered: an honest programmer who makes mistakes, and a reader with unlimited time of everything
// that is released (model file, synthetic table, the model's ledger, the printed claim). Not
// covered: timing and memory side channels; a programmer who uses unsafe, reflection or a debugger
// to reach the rows; whoever can read the process, the private file, the ledger beside it or the
// journal of an unfinished run, which is as secret as the file.
//
// Errors about the data (a cell that the schema does not allow) go to the operator, who holds the
// file. They name a line and a column and never hold a cell; still, that an error came at all
// depends on the data, whatever the columns say of cells that are not allowed. Under a lenient
// schema ([schema.Schema].Lenient) there are none: no content of the rows, other than through
// noise, changes the error of a run or what it returns. A table without rows is a table.
package privacy
