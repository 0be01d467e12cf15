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
// # A reservation is a fixed multiset
//
// A run reserves a composition before its first call and then makes those calls, each at most once.
// Which query it makes, and which of the remaining events it uses next, may depend on everything
// released so far. The cost of the multiset holds all the same:
//
// Claim. Let W(E) be the largest profile, at every ε′, of programs that make the calls of the
// multiset E in an order of their choice, and let ⊗E be the product of the dominating pairs of E.
// Then W(E) ≤ δ(⊗E).
//
// Proof, by induction on |E|. A program first calls some e in E. Given the outcome the rest of the
// program makes the calls of E∖{e}, whichever e was, and by induction its profile is at most that
// of ⊗(E∖{e}): one pair, the same for all outcomes. By the composition theorem the profile of the
// program is at most that of pair(e) ⊗ (⊗(E∖{e})) = ⊗E, and this does not depend on e, since
// products commute. (A first choice drawn at random is a mixture, and the profile of a mixture is
// at most the largest.) A program that leaves calls out costs no more. ∎
//
// A [GDPFilter] is a budget of which any number of Gaussian-DP calls may be taken, chosen on the
// way: docs/claims/gdpfilter.md extends the proof to it.
//
// Exponential events have no single pair that is tight in composition; the argument for them is in
// pld/boundedrange.go.
//
// # Several runs on one table
//
// The claim is about one multiset, fixed before the first output. Whether to open another run, and
// with which budget, is chosen after seeing the earlier ones, and then the sum of the events' costs
// is no longer a fixed number: bounds like advanced composition or the PLD of all runs together
// need not hold at a stopping time. What holds is a privacy filter: a rule that allows the next run
// only if a total stays within a limit fixed at the start. Basic composition, Σε and Σδ, is one
// (Rogers, Roth, Ullman, Vadhan 2016, https://arxiv.org/abs/1605.08294), and so is zCDP, Σρ
// (Feldman & Zrnic 2021, https://arxiv.org/abs/2008.11193; Whitehouse, Ramdas, Rogers, Wu 2023,
// https://arxiv.org/abs/2203.05481). Hence the rules of package ledger.
package accountant
