package wgan

import (
	"math"

	"github.com/decoy-dp/decoy/gan"
)

// keepWeights is what is left of the random weights of the generator's last layer at its start.
const keepWeights = .5

// warm starts the generator from the marginals, and makes measurements of them: of the inputs, and
// with a target of its joint tables.
func (t *training) warm(tables [][]int64) error {
	// of each column, by its code and the target's; nil for the target
	joint := make([][][]float64, len(t.schema.Columns))
	codes := 1
	if t.target >= 0 {
		codes = t.schema.Sizes()[t.target]
	}
	prior := make([]float64, codes)
	for i, counts := range tables {
		k := t.columns(i)[0]
		for at := 0; at < len(counts); at += codes {
			row := make([]float64, codes)
			for y, x := range counts[at : at+codes] {
				row[y] = float64(x) / t.rows
				prior[y] += row[y]
			}
			joint[k] = append(joint[k], row)
		}
	}
	normalise(prior)
	t.measureInputs(joint)
	t.foldInputs()
	given := make([][]float64, codes)
	for y := range given {
		for k, m := range t.schema.Sizes() {
			given[y] = append(given[y], conditional(joint[k], y, m, k == t.target)...)
		}
	}
	if t.target < 0 {
		t.generator.SetMarginals(given[0], keepWeights)
		return nil
	}
	if 2*(codes-1) <= t.cfg.GeneratorUnits {
		t.generator.SetConditionals(prior, given, keepWeights)
	} else {
		t.generator.SetMarginals(mixture(prior, given), keepWeights)
	}
	return t.measureTables(joint, codes)
}

// measureInputs makes a measurement of the mean input, for certificates that have none of their
// own.
func (t *training) measureInputs(joint [][][]float64) {
	sizes := t.schema.Sizes()
	codes := 1
	if t.target >= 0 {
		codes = sizes[t.target]
	}
	sd := t.table / t.rows * math.Sqrt(float64(codes))
	for k, m := range sizes {
		for c := range m {
			if joint[k] == nil {
				t.inputs, t.inputSDs = append(t.inputs, 0), append(t.inputSDs, float32(math.Inf(1)))
				continue
			}
			mean := 0.
			for _, x := range joint[k][c] {
				mean += x
			}
			t.inputs, t.inputSDs = append(t.inputs, float32(mean)),
				append(t.inputSDs, t.deviation(sd, mean, 0))
		}
	}
}

// measureTables puts the joint tables into the history.
func (t *training) measureTables(joint [][][]float64, codes int) error {
	out := gan.Tables{Target: t.target, Weight: float32(t.cfg.TableWeight)}
	some := false
	for k, m := range t.schema.Sizes() {
		for c := range m {
			for y := range codes {
				mean, sd := 0., float32(math.Inf(1))
				if joint[k] != nil {
					mean, some = joint[k][c][y], true
					sd = t.deviation(t.table/t.rows, mean, 0)
				}
				out.Means, out.SDs = append(out.Means, float32(mean)), append(out.SDs, sd)
			}
		}
	}
	if !some {
		return nil
	}
	return t.history.SetTables(out)
}

// conditional is the distribution of a column of m codes given that the target has code y: from its
// noisy joint table, and certain for the target itself.
func conditional(joint [][]float64, y, m int, target bool) []float64 {
	p := make([]float64, m)
	for c := range p {
		switch {
		case target && c == y:
			p[c] = 1
		case !target && joint != nil:
			p[c] = max(joint[c][y], 0)
		}
	}
	return normalise(p)
}

func mixture(prior []float64, given [][]float64) []float64 {
	out := make([]float64, len(given[0]))
	for y, p := range prior {
		for c, x := range given[y] {
			out[c] += p * x
		}
	}
	return out
}

// normalise makes p a distribution: negative numbers are 0, and without a positive one it is
// uniform.
func normalise(p []float64) []float64 {
	sum := 0.
	for i := range p {
		p[i] = max(p[i], 0)
		sum += p[i]
	}
	for i := range p {
		if sum > 0 {
			p[i] /= sum
		} else {
			p[i] = 1 / float64(len(p))
		}
	}
	return p
}
