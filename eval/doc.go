// Package eval measures how useful and how private synthetic rows are.
//
// Every metric is a pure function of two or three tables (or of scores and labels, or of points):
// it reads no file, prints nothing, keeps nothing and knows no privacy budget. [Metrics] lists all
// of them with the names that other tools use. One call measures them all: Compute in package
// eval/report.
//
// What a metric returns is not private, unless its tables are public: it depends on every row of a
// private table. So it must not be published, nor be fed back into a method, nor be used to choose
// settings on private rows.
//
// The tables that are compared must have the same columns (same names, kinds and codes); one that
// does not match is an error that wraps [ErrTables]. Everything is computed on codes: a numeric
// column counts at the resolution of its public bins, and missing is a code of its own unless a
// metric says otherwise. Randomness, where there is any (subsamples, bootstrap, trees), is public
// and starts from a seed, so that a figure can be computed again.
package eval
