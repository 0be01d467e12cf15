package eval

import (
	"math"
	"slices"

	"github.com/decoy-dp/decoy/table"
)

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
