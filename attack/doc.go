// Package attack tries to prove privacy claims wrong: audits that turn runs of a method into a
// lower bound on its ε, and membership attacks against methods and synthetic tables.
//
// A guarantee of differential privacy is a statement about every pair of neighbouring tables and
// every event. No number of runs proves it; one pair of tables and one event, counted often enough,
// can refute it. Everything here has that one direction: a bound above the claim refutes the claim
// at the stated confidence, a bound below it proves nothing.
//
// The way through it: [Neighbours] builds worst-case neighbouring tables from a public schema,
// [ManyRun] runs a [Mechanism] on both and bounds its ε from what it released; [Method] and [Gate]
// are the mechanisms. [OneRun] does it from one run with many canaries. [LTU] and [Shadow] are
// membership attacks with the same bounds behind them.
//
// The package runs methods on tables that it builds, or that the caller declares to be public or
// test data by passing them as a table.Table. It is not for private tables: the attacks look at
// rows without protection.
//
// Every confidence bound here is exact or conservative at every number of runs: binomial bounds are
// those of Clopper and Pearson, and what is looked at more than once is paid for by Bonferroni's
// inequality. Only what is named Gaussian assumes more.
package attack
