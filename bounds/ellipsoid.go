package bounds

import "math"

// ellipsoid collects what is known of a row's released vector v, unit by unit, and finds the
// scales.
//
// A unit is a set of coordinates of which the row has a bounded part: with c_k = d_k/a on the
// unit's coordinates k,
//
//	Σ_{k in unit} (v_k/c_k)² ≤ q·a²   for every row,       so   Σ_k (v_k/c_k)² ≤ Σ_units q_u·a_u².
//
// Among all a with Σ q_u·a_u² ≤ 1 the total variance Σ_k w_k·c_k² = Σ_u e_u²/a_u², e_u² = Σ_{k in
// u} w_k·d_k², w_k the weight of a coordinate's variance, is least (Cauchy and Schwarz) for
//
//	a_u² = e_u/(√q_u·S),   S = Σ_u e_u·√q_u,   and is S².
//
// Under replace-one the same is done with q for the difference of two rows, and norm stays the q of
// one row.
type ellipsoid struct {
	grid    float64
	half    float64 // 1/(2·grid)
	replace bool
	scales  []float64 // d_k, then c_k
	factor  float64   // by which the scales are multiplied in the end
	centre  []int64   // μ_k in steps of grid
	units   []unit
	// ranges of coordinates that are units of their own, with weight 1, d = half-width, q = 1
	// (replace-one 4)
	singles []span
}

// span is the coordinates from, from+1, ... up to to.
type span struct {
	from, to int
	sum      float64 // of their d
}

// unit is the coordinates first, first+stride, ... (count of them).
type unit struct {
	first, stride, count int
	e, q, norm           float64 // norm is Q of one row, also under replace-one; norm ≤ Q
}

// halve returns the half-width and the centre, in steps of the grid, of a coordinate that lies in
// [lo, hi], with ends on the grid. The half-width is at least one step, so that no scale is
// zero, and counts that the centre is on the grid: it is rounded down, so the upper end is the
// farther.
func (e *ellipsoid) halve(lo, hi float64) (d float64, centre int64) {
	t := math.Floor((lo + hi) * e.half)
	return max(hi-t*e.grid, e.grid), int64(t)
}

// solve turns d into c times factor. It reports S times factor, the root of the total variance, and
// the greatest norm of one row.
func (e *ellipsoid) solve() (size, norm float64) {
	q := 1.
	if e.replace {
		q = 4
	}
	for _, u := range e.units {
		size += u.e * math.Sqrt(u.q)
	}
	for _, s := range e.singles {
		size += s.sum * math.Sqrt(q)
	}
	for _, u := range e.units {
		g := e.factor * math.Sqrt(math.Sqrt(u.q)*size/u.e)
		for r, k := 0, u.first; r < u.count; r, k = r+1, k+u.stride {
			e.scales[k] *= g
		}
		norm += u.norm * u.e / (math.Sqrt(u.q) * size)
	}
	// The root of d/S, a number from 2⁻⁸⁰ to 1, is taken in float32, which is twice as fast: both
	// roundings are below 2⁻²³ together.
	inverse, root := 1/size, (1+0x1p-22)*e.factor*size*math.Sqrt(math.Sqrt(q))
	for _, s := range e.singles {
		scales := e.scales[s.from:s.to]
		for k, d := range scales {
			scales[k] = root * float64(float32(math.Sqrt(float64(float32(d*inverse)))))
		}
		norm += s.sum / (math.Sqrt(q) * size)
	}
	return e.factor * size, math.Sqrt(norm)
}
