// Package gan holds the networks of decoy's generative models: a generator of rows, a critic of
// rows, and the memory of what a private critic measured. It is plain numerics: it knows no budget,
// adds no noise and cannot see the gate to private rows.
//
// A row is one block of one-hot cells per column, one cell a code ([Encoder]). The [Generator]
// draws a row from latent noise; every row it draws is valid. The [Critic] scores a row, and its
// gradient summed over private rows, with noise added by the gate, is a measurement: noisy means of
// known functions of a row. [Replay] keeps the measurements, and the generator is trained to agree
// with all of them at once; that is post-processing and costs no budget.
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
