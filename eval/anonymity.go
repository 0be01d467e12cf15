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

// AttributeInference is the share of real rows of which an attacker who knows all cells but the one
// in the secret column guesses that one right: as it is in the synthetic row that is nearest in the
// other columns by Gower's distance, and where several values are as near, one of them at random.
// Take it for the training table and for a holdout: whoever has the synthetic table can predict
// people who were never in it, and only what exceeds that comes from the rows that the synthesizer
// saw.
//
// Name AttributeInference. Alias attribute inference risk (anonymeter), where the control is the
// same, and the risk is the difference over one minus the holdout's. Range 0 to 1; goal: at most
// the holdout's. Source: Giomi, Boenisch, Wehmeyer, Tasnádi 2023, PoPETs 2023(2), arXiv 2211.10459.
//
// It takes a pass over all pairs of rows. It fails for an unknown column, and a table of one.
func AttributeInference(real, synthetic *table.Table, secret string) (float64, error) {
	columns, err := compatible(real, synthetic)
	if err != nil {
		return 0, err
	}
	secrets, err := find(real.Schema(), []string{secret})
	if err != nil {
		return 0, err
	}
	people, err := TablePoints(real, Gower, secret)
	if err != nil {
		return 0, err
	}
	all, err := TablePoints(synthetic, Gower, secret)
	if err != nil {
		return 0, err
	}
	rows := make([][]int, columns[secrets[0]].size) // synthetic ones with each code
	forEachCode(synthetic.Column(secrets[0]), func(row, code int) {
		rows[code] = append(rows[code], row)
	})
	type guess struct{ distance, values, right float64 }
	guesses := make([]guess, real.Rows())
	for code, with := range rows {
		if len(with) == 0 {
			continue
		}
		nearest, _, err := Nearest(people, all.choose(with))
		if err != nil {
			return 0, err
		}
		forEachCode(real.Column(secrets[0]), func(row, truth int) {
			g := &guesses[row]
			if d := nearest[row]; g.values == 0 || d < g.distance {
				*g = guess{distance: d}
			} else if d > g.distance {
				return
			}
			if g.values++; truth == code {
				g.right = 1
			}
		})
	}
	right := 0.
	for _, g := range guesses {
		right += g.right / g.values
	}
	return right / float64(len(guesses)), nil
}
