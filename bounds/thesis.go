package bounds

import (
	"fmt"
	"math"
)

// This file has other ways than the default to the noise that a critic's gradient needs, to compare
// with and, in ball.go, for rows that are clipped.

// Box is the best noise for a box, c_k² = w_k·Σw for half-widths w_k (arXiv 2302.03511), one-hot
// cells taken as independent numbers in [0, 1].
func Box() Mode { return Mode{&way{name: "box", boxed: true, scale: (*ellipsoid).solve}} }

// Thesis is the non-spherical noise of Pedersen's thesis (RPI 2022, hdl 20.500.13015/6261) for the
// same box: scales √K·(b_k − a_k) for K parameters in [a_k, b_k]. As published it is up to twice
// what add/remove needs.
func Thesis() Mode { return Mode{&way{name: "thesis", boxed: true, scale: thesis}} }

// thesis sets the scales to √K times the widths. Every coordinate is a unit of its own, as blocks
// are taken apart.
func thesis(e *ellipsoid) (total, norm float64) {
	root, sum := math.Sqrt(float64(len(e.scales))), 0.
	for k := range e.scales {
		e.scales[k] *= 2 * root * e.factor
		sum += e.scales[k] * e.scales[k]
	}
	return math.Sqrt(sum), 1
}

// ModeNamed is the mode of that name: residual, which is the default, box, thesis or ball, of the
// radius.
func ModeNamed(name string, radius float64) (Mode, error) {
	switch name {
	case "residual":
		return Residual, nil
	case "box":
		return Box(), nil
	case "thesis":
		return Thesis(), nil
	case "ball":
		return Ball(radius), nil
	}
	return Residual, fmt.Errorf("the mode must be residual, box, thesis or ball")
}
