package bounds

import (
	"fmt"
	"math"
	"slices"
)

// Ball uses one-hot blocks too, with the largest scales cut down to what a row whose centred
// gradient has Euclidean norm at most radius > 0 needs. Its certificates hold for rows that were
// clipped in its norm: see [NewClipper].
func Ball(radius float64) Mode {
	var err error
	if !(radius > 0 && radius <= math.MaxFloat32) {
		err = fmt.Errorf("mode ball has radius %v, and needs one above 0", radius)
	}
	scale := func(e *ellipsoid) (total, norm float64) { return ball(e, radius) }
	return Mode{&way{name: "ball", clipped: true, scale: scale, err: err}}
}

// ball sets the scales for the units' bounds together with a Euclidean bound R of the whole, and
// reports the root of the total variance.
//
// Let unit u have m_u coordinates with norm at most v_u in all and y_u of a row's squared norm, y_u
// ≤ v_u², Σy_u ≤ R². With c_u² = t·min(v_u/√m_u, κ) on its coordinates
//
//	Σ_u y_u/c_u² = (1/t)·(Σ_u y_u/κ + Σ_{v_u/√m_u < κ} y_u·(√m_u/v_u − 1/κ))
//		≤ (1/t)·(R²/κ + Σ_{v_u/√m_u < κ} (√m_u·v_u − v_u²/κ)) = 1
//
// for t the last bracket. κ is the breakpoint v_u/√m_u with the least total variance t·Σ
// m_u·min(v_u/√m_u, κ); κ beyond all of them, with no R, is the ellipsoid of blocks alone. Whatever
// κ, clipping in the norm ‖v/c‖ makes the certificate true.
func ball(b *ellipsoid, radius float64) (total, norm float64) {
	type part struct{ width, m, v float64 }
	var parts []part
	for _, u := range b.units {
		m := float64(u.count)
		v := math.Sqrt(u.norm) * u.e / math.Sqrt(m)
		parts = append(parts, part{v / math.Sqrt(m), m, v})
	}
	for _, s := range b.singles {
		for _, d := range b.scales[s.from:s.to] {
			parts = append(parts, part{d, 1, d})
		}
	}
	slices.SortFunc(parts, func(a, b part) int {
		switch {
		case a.width < b.width:
			return -1
		case a.width > b.width:
			return 1
		}
		return 0
	})
	// above: coordinates at or beyond κ; sums of √m·v and v² below it
	var above, linear, square float64
	for _, p := range parts {
		above += p.m
		linear += math.Sqrt(p.m) * p.v
	}
	cap, t, least := math.Inf(1), linear, linear*linear
	linear = 0
	for _, p := range parts {
		bracket := radius*radius/p.width + linear - square/p.width
		if variance := bracket * (linear + above*p.width); variance < least {
			cap, t, least = p.width, bracket, variance
		}
		linear += math.Sqrt(p.m) * p.v
		square += p.v * p.v
		above -= p.m
	}
	norm = 1
	if b.replace { // a clipped row's norm is at most ½ then
		t, least, norm = 4*t, 4*least, .5
	}
	t, least = b.factor*b.factor*t, b.factor*b.factor*least
	for _, u := range b.units {
		v := math.Sqrt(u.norm) * u.e / math.Sqrt(float64(u.count))
		c := math.Sqrt(t * min(v/math.Sqrt(float64(u.count)), cap))
		for r, k := 0, u.first; r < u.count; r, k = r+1, k+u.stride {
			b.scales[k] = c
		}
	}
	for _, s := range b.singles {
		for k := s.from; k < s.to; k++ {
			b.scales[k] = math.Sqrt(t * min(b.scales[k], cap))
		}
	}
	return math.Sqrt(least), norm
}
