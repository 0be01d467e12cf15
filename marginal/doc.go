// Package marginal fits a graphical model to noisy marginals of a discrete
// table and samples rows from it.
//
// It sees only noisy measurements, never rows: whatever it does is
// post-processing and costs no privacy. It is the engine below MST, AIM and
// MWEM; choosing what to measure, and adding the noise, happens elsewhere.
package marginal
