package bounds

import (
	"errors"
	"math"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// The gradient of the size is its finite difference, away from kinks, for undecided, decided and
// refined units, scalars and blocks.
func TestSizeGradientAgainstFiniteDifferences(t *testing.T) {
	in := mixed(t)
	for _, c := range []struct {
		name string
		n    Network[float64]
	}{
		{"leaky", randomNetwork[float64](in, .2, 1, 6)},
		{"relu", randomNetwork[float64](in, 0, 2, 6)},
		{"decided", biased(randomNetwork[float64](in, .2, 3, 8))},
	} {
		for _, adjacency := range adjacencies {
			for _, mode := range []Mode{Blocks, Residual} {
				config := Config{Mode: mode, Adjacency: adjacency, Factor: 0x1p-23}
				size := func() float64 {
					cert, err := Certify(c.n, in, config)
					if err != nil {
						t.Fatal(err)
					}
					return cert.TotalStd()
				}
				gradient := randomNetwork[float64](in, .2, 9, len(c.n.Layers[0].Bias))
				s, err := SizeGradientTo(gradient, c.n, in, config)
				if err != nil {
					t.Fatal(err)
				}
				if want := size(); math.Abs(s-want) > 1e-6*want {
					t.Errorf("%s, %v: size %v, certificate %v", c.name, mode, s, want)
				}
				wrong, all := 0, 0
				for l := range c.n.Layers {
					for _, part := range [][2][]float64{{c.n.Layers[l].Weights,
						gradient.Layers[l].Weights}, {c.n.Layers[l].Bias,
						gradient.Layers[l].Bias}} {
						for i := range part[0] {
							all++
							want := wideDifference(&part[0][i], size)
							if math.Abs(part[1][i]-want) > .01*math.Abs(want)+.02 {
								wrong++
								t.Logf(
									"%s, %v, %v: layer %d, %d: derivative %v, finite difference %v",
									c.name, adjacency, mode, l+1, i, part[1][i], want)
							}
						}
					}
				}
				if wrong > 0 {
					t.Errorf("%s, %v, %v: %d of %d derivatives differ", c.name, adjacency, mode,
						wrong, all)
				}
			}
		}
	}
}

// wideDifference steps far enough to see past the grid.
func wideDifference(x *float64, f func() float64) float64 {
	const step = 5e-4
	kept := *x
	*x = kept + step
	up := f()
	*x = kept - step
	down := f()
	*x = kept
	return (up - down) / (2 * step)
}

// A step down the gradient shrinks the certificate: what the penalty is for.
func TestSizeDescends(t *testing.T) {
	in := oneHot(t, adult...)
	for _, mode := range []Mode{Blocks, Residual} {
		n := randomNetwork[float32](in, .2, 1, 64)
		gradient := randomNetwork[float32](in, .2, 2, 64)
		config := Config{Mode: mode, Adjacency: accountant.AddRemove}
		first := 0.
		for step := range 20 {
			s, err := SizeGradientTo(gradient, n, in, config)
			if err != nil {
				t.Fatal(err)
			}
			if step == 0 {
				first = s
			} else if step == 19 && s > .9*first {
				t.Errorf("%v: from %v to %v in 20 steps", mode, first, s)
			}
			for l := range n.Layers {
				for i, g := range gradient.Layers[l].Weights {
					n.Layers[l].Weights[i] -= 1e-4 * g
				}
			}
		}
	}
}

func TestSizeGradientRefusals(t *testing.T) {
	in := oneHot(t, 3, 2)
	one, two := randomNetwork[float64](in, .2, 1, 4), randomNetwork[float64](in, .2, 1, 4, 4)
	for name, call := range map[string]func() error{
		"two hidden layers": func() error {
			_, err := SizeGradientTo(two, two, in, Config{Adjacency: accountant.AddRemove})
			return err
		},
		"mode box": func() error {
			_, err := SizeGradientTo(one, one, in, Config{Mode: Box,
				Adjacency: accountant.AddRemove})
			return err
		},
		"other shape": func() error {
			_, err := SizeGradientTo(randomNetwork[float64](in, .2, 1, 5), one, in,
				Config{Adjacency: accountant.AddRemove})
			return err
		},
		"no adjacency": func() error {
			_, err := SizeGradientTo(one, one, in,
				Config{})
			return err
		},
	} {
		if err := call(); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	huge := scaled(randomNetwork[float64](in, .2, 1, 4), 1e6)
	if _, err := SizeGradientTo(one, huge, in,
		Config{Adjacency: accountant.AddRemove}); !errors.Is(err, ErrNetwork) {
		t.Errorf("large weights: %v", err)
	}
	short := randomNetwork[float64](in, .2, 1, 4)
	short.Layers[0].Weights = short.Layers[0].Weights[1:]
	if _, err := SizeGradientTo(one, short, in,
		Config{Adjacency: accountant.AddRemove}); !errors.Is(err, ErrNetwork) {
		t.Errorf("short weights: %v", err)
	}
}
