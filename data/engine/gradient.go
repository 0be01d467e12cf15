package engine

import "encoding/json"

// GradientKind is that of the questions that [Gradient] makes.
const GradientKind = "gradient"

// Gradient asks for the sum of a critic's gradients, as critic.Critic.AddSumTo adds them, W¹, b¹,
// W², ..., and then for that of its inputs.
type Gradient struct {
	Slope      float32   `json:"slope"`
	Units      []int     `json:"units"`      // of each layer, the last 1
	Parameters []float32 `json:"parameters"` // W¹, b¹, W², ..., each row-major
	Factor     float64   `json:"factor"`
	Inputs     int       `json:"inputs"` // numbers of the inputs' sum: 0 if that is not asked for
}

// Question is the question. It panics on weights that are not finite.
func (g Gradient) Question() Question {
	of, err := json.Marshal(g)
	if err != nil {
		panic("engine: " + err.Error())
	}
	return Question{Kind: GradientKind, Of: of, Length: len(g.Parameters) + g.Inputs}
}
