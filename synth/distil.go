package synth

import "github.com/decoy-dp/decoy/schema"

// distilled is the method of the model that the generator of wgan and pategan is distilled from.
func distilled(target string) *AIM {
	m, err := Checked(&AIM{Target: target})
	if err != nil {
		panic(err)
	}
	return m
}

func cellCount(s *schema.Schema) (cells int) {
	for _, n := range s.Sizes() {
		cells += n
	}
	return cells
}

// What generators are trained with.
const (
	batch         = 512  // generated rows that a step compares with measurements, or shows a student
	generatorRate = .001 // Adam's learning rate, which falls to a tenth
)
