// Package gan holds what trains decoy's generative models without a look at a private row: a
// generator of rows, the gradients of a critic at generated rows, and the history of what a private
// critic measured. It is plain numerics: it knows no budget, adds no noise and cannot see the gate.
//
// A row is one block of one-hot cells per column, one cell a code ([critic.Encoder]). The
// [Generator] draws a row from latent noise; every row it draws is valid. A [critic.Critic] scores
// a row, and its gradient summed over private rows, with noise added by the gate, is a
// [Measurement]: noisy means of known functions of a row. [History] keeps the measurements, and the
// generator is trained to agree with all of them at once; that is post-processing and costs no
// budget.
//
// Trainings share nothing: several may run in parallel, one goroutine each. With the same seed,
// options and measurements, one kind of processor gives the same parameters bit by bit; another
// kind rounds differently.
//
// There are two ways to the gradients of what is public: [GeneratorGraph] and [CriticGraph] define
// the networks for Gorgonia, which derives them on its own, and [Pass] and [Tutor] are hand-written
// and several times as fast. Tests hold the two against each other. Sums over private rows are
// exact integers and hand-written.
package gan
