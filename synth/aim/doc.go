// Package aim is the AIM method (McKenna, Mullins, Sheldon, Miklau, "AIM: An Adaptive and Iterative
// Mechanism for Differentially Private Synthetic Data", VLDB 2022, arXiv 2201.12677): measure every
// one-way marginal, then, round by round, choose the marginal of the workload that the model so far
// explains worst, beyond what noise would do to it, and measure that; estimate a graphical model
// from all measurements.
//
// With Config.Published the rounds are those of the paper: 16d of them at most, a tenth of each for
// the choice, noise halved when a round changed less than its noise, zCDP accounting, the last
// round spends the rest. Without it:
//
//   - the whole budget is one Gaussian pool (accountant.Pool), exact where zCDP is not;
//   - columns of many codes are smoothed (marginal.Smooth), and one-way marginals get a share of
//     the budget that grows with their noise;
//   - a marginal may be chosen at several resolutions: with its columns' codes merged into 4 to 32
//     runs of about equal mass, where full detail would drown;
//   - rounds are fewer and noise falls faster; estimates that a round hardly moves are not
//     computed anew in it;
//   - marginals with a target column weigh more and have a part of the budget of their own.
//
// Constraints of the user become zero cells of the model. Everything after a measurement is
// post-processing.
package aim
