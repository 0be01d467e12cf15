package mwem

import "math"

// fit goes over all measurements of the component, up to sweeps times, until no potential moves by
// more than tolerance. n is the number of rows.
//
// Symbols: y the measured rows of a part, σ the standard deviation of its noise, q its probability,
// θ its log potential, so that the density of a cell is ∝ exp Σ θ over the parts that it is in. The
// fit is the maximum of the entropy of n rows under a pull of the potentials to zero,
//
//	min_θ  n·log Z(θ) − Σ θ·y + ½ Σ r·θ²,  r = shrink·σ rows,
//
// by coordinate steps: d solves n·q(θ+d) + r·(θ+d) = y. At the solution a part misses its
// measurement by r·θ, a fraction of its noise: noise is not fitted as if it were data. (The update
// of the paper, exp(q(x)(m−q)/2n), is a short step in the same direction.)
func (c *component) fit(n, shrink float64, sweeps int) {
	const tolerance = 1e-4
	for _, m := range c.measured {
		if len(m.y) > 1 {
			continue
		}
		m.members = m.members[:0]
		for k, g := range m.group {
			if g >= 0 && c.size[k] > 0 {
				m.members = append(m.members, int32(k))
			}
		}
	}
	for range sweeps {
		moved := 0.0
		z := 1.0 // the masses sum to it
		for _, m := range c.measured {
			if len(m.y) == 1 {
				moved = max(moved, c.stepCount(m, n, shrink*m.sigma, &z))
			} else {
				c.normalise(z)
				moved, z = max(moved, c.stepTable(m, n, shrink*m.sigma)), 1
			}
		}
		c.normalise(z)
		if moved < tolerance {
			break
		}
	}
}

func (c *component) normalise(z float64) {
	if z == 1 {
		return
	}
	for k := range c.mass {
		c.mass[k] /= z
	}
}

// stepCount makes the coordinate step of a count and returns |d|. It touches the classes of the
// count only: the sum of all masses goes from z to another number.
func (c *component) stepCount(m *measured, n, r float64, z *float64) float64 {
	q := 0.0
	for _, k := range m.members {
		q += c.mass[k]
	}
	sum := q
	if q /= *z; !(q > 1e-300) || q >= 1 {
		return 0
	}
	d := solve(m.y[0], r, m.theta[0], func(d float64) (value, slope float64) {
		e := math.Exp(d)
		p := q * e / (1 - q + q*e)
		return n * p, n * p * (1 - p)
	})
	e := math.Exp(d)
	for _, k := range m.members {
		c.mass[k] *= e
	}
	*z += sum * (e - 1)
	m.theta[0] += d
	return math.Abs(d)
}

// stepTable makes the steps of all cells of a marginal at once, each as if the sum of all were
// free, then normalises.
func (c *component) stepTable(m *measured, n, r float64) float64 {
	q := make([]float64, len(m.y))
	for k, g := range m.group {
		if g >= 0 {
			q[g] += c.mass[k]
		}
	}
	moved := 0.0
	for g := range q {
		if !(q[g] > 1e-300) {
			q[g] = 1
			continue
		}
		at := q[g]
		d := solve(m.y[g], r, m.theta[g], func(d float64) (value, slope float64) {
			v := n * at * math.Exp(d)
			return v, v
		})
		m.theta[g] += d
		moved = max(moved, math.Abs(d)*math.Min(1, n*at/m.sigma))
		q[g] = math.Exp(d)
	}
	z := 0.0
	for k, g := range m.group {
		if g >= 0 {
			c.mass[k] *= q[g]
			z += c.mass[k]
		}
	}
	c.normalise(z)
	return moved
}

// solve finds d in [−8, 8] with value(d) + r·(theta+d) = y by Newton's method inside a bracket;
// value is increasing.
func solve(y, r, theta float64, value func(d float64) (v, slope float64)) float64 {
	lo, hi, d := -8.0, 8.0, 0.0
	for range 60 {
		v, slope := value(d)
		f := v + r*(theta+d) - y
		if f > 0 {
			hi = d
		} else {
			lo = d
		}
		next := d - f/(slope+r)
		if !(next > lo && next < hi) {
			next = (lo + hi) / 2
		}
		if math.Abs(next-d) < 1e-9 {
			return next
		}
		d = next
	}
	return d
}
