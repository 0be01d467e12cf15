// Package accountant says what a set of mechanism calls costs: ε and δ of differential privacy. It
// knows events, not data.
//
// An [Event] is one call of a mechanism with the numbers that decide its cost; the set of events is
// sealed. A [Composition] is a multiset of events and [Composition.Epsilon] bounds its cost; a
// [Reservation] is what is left of one while a run charges it. Package calibrate finds the noise
// that a [Budget] allows, package ledger records what runs reserved and charged.
//
// # What is proven
//
// A composition that costs (ε, δ) is (ε, δ)-DP under its [Adjacency]: for all neighbouring tables
// D, D′ and all sets S of transcripts, P(M(D) ∈ S) ≤ e^ε·P(M(D′) ∈ S) + δ. Every event stands for a
// dominating pair (P, Q) of distributions, whose hockey-stick divergence is at least that of the
// mechanism on any neighbours, at every order (Zhu, Dong, Wang 2022,
// https://arxiv.org/abs/2106.08567). Products of dominating pairs dominate adaptive composition
// (theorem 10 there).
//
// The cost of a composition is that of a fixed multiset of calls, whichever of them a run makes
// next or leaves out: docs/claims/session.md proves it, and what holds for several runs on one
// table. docs/claims/gdpfilter.md extends the proof to a [GDPFilter], of which any number of
// Gaussian-DP calls may be taken, pld/boundedrange.go to Exponential events, which have no single
// pair that is tight in composition.
package accountant
