// Package publish buys an evaluation of a synthetic table with privacy budget, so that it may be
// published.
//
// [Run] asks a private table, through the gate, how far it is from a synthetic one: mean errors of
// one- and two-way marginals, the rate of a class, and the AUROC of a model that was trained on
// synthetic rows only. [Holdout] answers questions one after the other and pays only for those to
// which the synthetic table gives a wrong answer (Thresholdout). What either returns is (ε,
// δ)-differentially private for the table that was asked, and carries the ledger that proves it
// ([Result.Verify]).
//
// Ask rows that the synthesizer did not see, if there are any: on its training rows a method that
// copies looks best. The guarantee is for the table that is asked; that of the synthetic rows is
// another, and where both come from the same people the two add up in the ledger.
//
// It is not for choosing among many synthetic tables by asking again and again at a small ε each:
// every run costs.
package publish
