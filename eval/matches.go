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
	columns, err := compatible(reference, synthetic)
	if err != nil {
		return 0, err
	}
	groups, count := groupRows(allColumns(len(columns)), reference, synthetic)
	occurs := groupSizes(groups[0], count)
	matches := 0
	for _, g := range groups[1] {
		if occurs[g] > 0 {
			matches++
		}
	}
	return float64(matches) / float64(synthetic.Rows()), nil
}

// UniqueExactMatches is the share of real rows that are unlike all other real
// rows and have an equal synthetic row: the people whom a copied row would point at.
//
// Name UniqueExactMatches. Alias Unique Exact Matches (SDNist), in percent there. Range 0 to 1;
// goal: 0. Source: NIST, SDNist v2 report, "Unique Exact Matches".
func UniqueExactMatches(real, synthetic *table.Table) (float64, error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return 0, err
	}
	groups, count := groupRows(allColumns(len(columns)), real, synthetic)
	inReal, inSynthetic := groupSizes(groups[0], count), groupSizes(groups[1], count)
	matched := 0
	for g, n := range inReal {
		if n == 1 && inSynthetic[g] > 0 {
			matched++
		}
	}
	return float64(matched) / float64(real.Rows()), nil
}
