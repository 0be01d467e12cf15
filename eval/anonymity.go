package eval

import (
	"fmt"
	"math"
	"slices"

	"github.com/decoy-dp/decoy/table"
)

// KAnonymity groups rows by the columns that an outsider might know, and returns how many the
// smallest group has and the share of rows that are alone in theirs. A table is k-anonymous if
// every row shares them with at least k−1 others.
//
// Name KAnonymity. Alias k-anonymization (synthcity), k-anonymity. Range 1 to
// the number of rows; goal: none for synthetic rows, which belong to nobody;
// read it for the real table, and beside [LinkageRisk]. Source: Sweeney 2002,
// International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10(5).
//
// It fails without a quasi-identifier and for unknown columns.
func KAnonymity(t *table.Table, quasi []string) (k int, alone float64, err error) {
	cols, err := findQuasi(quasi, t)
	if err != nil {
		return 0, 0, err
	}
	sizes := countClasses(cols, t)[0]
	for _, n := range sizes {
		alone += indicator(n == 1) / float64(t.Rows())
	}
	return int(slices.Min(sizes)), alone, nil
}

// LinkageRisk is the risk that a real row is linked to a synthetic one by its quasi-identifiers: an
// outsider looks up a person's, and where they occur, one of the f real people who share them is
// meant. It is the mean over all real rows of 1/f, or of 0 where they do not occur; the ceiling is
// that of publishing the real quasi-identifiers, where all occur. Compare the training table with a
// holdout: only what exceeds the holdout's risk comes from the rows that the synthesizer saw.
//
// Name LinkageRisk. Alias identity disclosure risk (synthpop's replicated uniques, El Emam),
// linkability (anonymeter) by attack. Range 0 to 1; goal: at most the holdout's. Source: El Emam,
// Mosquera & Bass 2020, J Med Internet Res 22(11) e23139, with the real table as the population.
func LinkageRisk(real, synthetic *table.Table, quasi []string) (risk, ceiling float64, err error) {
	cols, err := findQuasi(quasi, real, synthetic)
	if err != nil {
		return 0, 0, err
	}
	count, n := countClasses(cols, real, synthetic), float64(real.Rows())
	for class, f := range count[0] {
		ceiling += indicator(f > 0) / n // f rows, each with 1/f
		risk += indicator(f > 0 && count[1][class] > 0) / n
	}
	return risk, ceiling, nil
}

// findQuasi are the positions of quasi-identifiers in tables of the same columns.
func findQuasi(quasi []string, tables ...*table.Table) ([]int, error) {
	if _, err := compatible(tables...); err != nil {
		return nil, err
	}
	if len(quasi) == 0 {
		return nil, fmt.Errorf("eval: no quasi-identifier is named: %w", ErrColumn)
	}
	return find(tables[0].Schema(), quasi)
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
	// of each person: the distance to the nearest row, the values as near, and whether one is right
	type guess struct{ distance, values, right float64 }
	guesses := slices.Repeat([]guess{{distance: math.Inf(1)}}, real.Rows())
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
			if nearest[row] < g.distance {
				*g = guess{distance: nearest[row]}
			}
			if nearest[row] == g.distance {
				g.values++
				g.right += indicator(truth == code)
			}
		})
	}
	right := 0.
	for _, g := range guesses {
		right += g.right / g.values
	}
	return right / float64(len(guesses)), nil
}
