package eval

import (
	"github.com/decoy-dp/decoy/table"
)

// IdenticalMatchShare is the share of synthetic rows that equal some reference
// row in every code. Take it against the training table and against a holdout:
// only the excess over the holdout speaks of copying.
//
// Name IdenticalMatchShare. Alias IMS (MOSTLY AI), exact_match (SynthEval), 1 − NewRowSynthesis
// (SDMetrics, where numbers match if they differ by 1 %; here, if they are in the same public bin).
// Range 0 to 1; goal: at most the share against a holdout of the same size.
// Source: Platzer & Reutterer 2021, arXiv 2104.00635.
func IdenticalMatchShare(reference, synthetic *table.Table) (float64, error) {
	return shareOfClasses(synthetic, reference, func(_, inReference int64) bool {
		return inReference > 0
	})
}

// UniqueExactMatches is the share of real rows that are unlike all other real
// rows and have an equal synthetic row: the people whom a copied row would point at.
//
// Name UniqueExactMatches. Alias Unique Exact Matches (SDNist), in percent there. Range 0 to 1;
// goal: 0. Source: NIST, SDNist v2 report, "Unique Exact Matches".
func UniqueExactMatches(real, synthetic *table.Table) (float64, error) {
	return shareOfClasses(real, synthetic, func(inReal, inSynthetic int64) bool {
		return inReal == 1 && inSynthetic > 0
	})
}

// shareOfClasses is the share of the rows of a table that are of a class for which it holds how
// many rows of it there are in the table and in another.
func shareOfClasses(t, other *table.Table, holds func(in, inOther int64) bool) (float64, error) {
	columns, err := compatible(t, other)
	if err != nil {
		return 0, err
	}
	count := countClasses(allColumns(len(columns)), t, other)
	rows := int64(0)
	for class, in := range count[0] {
		if holds(in, count[1][class]) {
			rows += in
		}
	}
	return float64(rows) / float64(t.Rows()), nil
}
