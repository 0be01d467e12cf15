// Package marginal fits a graphical model to noisy marginals of a discrete table and samples rows
// from it.
//
// It sees only noisy measurements, never rows: whatever it does is post-processing and costs no
// privacy. It is the engine below MST, AIM and MWEM; choosing what to measure, and adding the
// noise, happens elsewhere.
//
// The way through it: TreeCells says what a set of measurements would cost in memory; a Grouping
// merges codes too rare to measure; Fit turns Measurements into a Model; the Model answers
// (MarginalTo), draws rows (Sample) and is stored (MarshalBinary); Grouping.Expand turns groups
// back into codes, and Steering draws rows nearer to the model's pairs. A Tree of counts cuts a
// column into bins.
//
// Inside, from the bottom: plan (index arithmetic between a table and its marginals), graph
// (triangulation and junction tree), project, clique and propagate (belief propagation), posterior
// (counts given noisy ones), lbfgs and estimate (the fit).
//
// It is not for continuous columns, for structure learning, or for models whose junction tree is
// large: nothing is approximated, so what does not fit in memory is refused.
package marginal
