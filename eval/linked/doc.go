// Package linked compares synthetic linked tables, parents with their children in order, with the
// real ones: what no comparison of single tables sees.
//
// [Families] measures how far counts are off, as total variation distances between shares of the
// real and of the synthetic tables: 0 is equal, 1 is nothing in common. Columns are compared by at
// most sixteen groups of their codes ([eval.Groups], of the real tables). Beside each distance
// stands its floor: the mean where the real and the synthetic units, each with all of its rows, are
// dealt anew into two groups of the same sizes. [Predict] says what a model learns from
// histories.
//
// Nothing here is private: every figure depends on every real row, without noise.
package linked
