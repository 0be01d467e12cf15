package eval

import (
	"fmt"
	"slices"

	"github.com/decoy-dp/decoy/table"
)

// KAnonymityResult describes the classes of rows that share their quasi-identifiers.
type KAnonymityResult struct {
	K       int     // rows of the smallest class
	Classes int     // number of classes
	Median  int     // rows of the class that the median row is in
	Unique  float64 // share of rows that are alone in their class
}

// KAnonymity groups rows by the columns that an outsider might know. A table is
// k-anonymous if every row shares them with at least k−1 others.
//
// Name KAnonymity. Alias k-anonymization (synthcity), k-anonymity. Range 1 to
// the number of rows; goal: none for synthetic rows, which belong to nobody;
// read it for the real table, and beside [LinkageRisk]. Source: Sweeney 2002,
// International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5).
//
// It fails without a quasi-identifier and for unknown columns.
func KAnonymity(t *table.Table, quasi []string) (KAnonymityResult, error) {
	if _, err := compatible(t); err != nil {
		return KAnonymityResult{}, err
	}
	cols, err := findQuasi(t, quasi)
	if err != nil {
		return KAnonymityResult{}, err
	}
	groups, count := groupRows(cols, t)
	sizes := groupSizes(groups[0], count)
	slices.Sort(sizes)
	out := KAnonymityResult{K: sizes[0], Classes: count}
	rows := 0
	for _, n := range sizes {
		if n == 1 {
			out.Unique += 1 / float64(t.Rows())
		}
		if rows += n; out.Median == 0 && 2*rows >= t.Rows() {
			out.Median = n
		}
	}
	return out, nil
}

// LinkageResult is what an outsider who knows the quasi-identifiers of real
// people finds in a synthetic table.
type LinkageResult struct {
	// expected share of real rows linked right: mean of 1/f over real rows whose quasi-identifiers
	// occur in the synthetic table, 0 for the others; f real rows share them
	Risk  float64
	Found float64 // share of real rows whose quasi-identifiers occur in the synthetic table
	// share of real rows that are alone with theirs, and meet exactly one synthetic row
	UniqueFound float64
	// Risk if every real row were found: that of publishing the real quasi-identifiers
	Ceiling      float64
	LargestClass int // real rows of the largest class found
}

// LinkageRisk is the risk that a real row is linked to a synthetic one by its quasi-identifiers: an
// outsider looks up a person's, and where they occur, one of the f real people who share them is
// meant. Compare the training table with a holdout: only what exceeds the holdout's risk comes from
// the rows that the synthesizer saw.
//
// Name LinkageRisk. Alias identity disclosure risk (synthpop's replicated uniques, El Emam),
// linkability (anonymeter) by attack. Range 0 to 1; goal: at most the holdout's. Source: El Emam,
// Mosquera & Bass 2020, J Med Internet Res 22(11) e23139, with the real table as the population.
func LinkageRisk(real, synthetic *table.Table, quasi []string) (LinkageResult, error) {
	if _, err := compatible(real, synthetic); err != nil {
		return LinkageResult{}, err
	}
	cols, err := findQuasi(real, quasi)
	if err != nil {
		return LinkageResult{}, err
	}
	groups, count := groupRows(cols, real, synthetic)
	inReal, inSynthetic := groupSizes(groups[0], count), groupSizes(groups[1], count)
	var out LinkageResult
	n := float64(real.Rows())
	for g, f := range inReal {
		if f == 0 {
			continue
		}
		out.Ceiling += 1 / n // f rows, each with 1/f
		if inSynthetic[g] == 0 {
			continue
		}
		out.Risk += 1 / n
		out.Found += float64(f) / n
		out.LargestClass = max(out.LargestClass, f)
		if f == 1 && inSynthetic[g] == 1 {
			out.UniqueFound += 1 / n
		}
	}
	return out, nil
}

func findQuasi(t *table.Table, quasi []string) ([]int, error) {
	if len(quasi) == 0 {
		return nil, fmt.Errorf("eval: no quasi-identifier is named: %w", ErrColumn)
	}
	return find(t.Schema(), quasi)
}
