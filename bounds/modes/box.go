// Package modes has other ways than the default of package bounds to the noise that a critic's
// gradient needs, to compare with and for rows that are clipped.
package modes

import (
	"fmt"
	"math"

	"github.com/decoy-dp/decoy/bounds/internal/ellipsoid"
)

// Box is the best noise for a box, c_k² = w_k·Σw for half-widths w_k (arXiv 2302.03511), one-hot
// cells taken as independent numbers in [0, 1].
var Box = ellipsoid.NewMode("box", true, false, (*ellipsoid.Ellipsoid).Solve, nil)

// Thesis is the non-spherical noise of Pedersen's thesis (RPI 2022, hdl 20.500.13015/6261) for the
// same box: scales √K·(b_k − a_k) for K parameters in [a_k, b_k]. As published it is up to twice
// what add/remove needs.
var Thesis = ellipsoid.NewMode("thesis", true, false, thesis, nil)

// thesis sets the scales to √K times the widths. Every coordinate is a unit of its own, as blocks
// are taken apart.
func thesis(e *ellipsoid.Ellipsoid) (total, norm float64) {
	root, sum := math.Sqrt(float64(len(e.Scales))), 0.
	for k := range e.Scales {
		e.Scales[k] *= 2 * root * e.Factor
		sum += e.Scales[k] * e.Scales[k]
	}
	return math.Sqrt(sum), 1
}

// Of is the mode of that name: residual, which is the default, box, thesis or ball, of the radius.
func Of(name string, radius float64) (*ellipsoid.Mode, error) {
	switch name {
	case "residual":
		return ellipsoid.Residual, nil
	case "box":
		return Box, nil
	case "thesis":
		return Thesis, nil
	case "ball":
		return Ball(radius), nil
	}
	return nil, fmt.Errorf("the mode must be residual, box, thesis or ball")
}
