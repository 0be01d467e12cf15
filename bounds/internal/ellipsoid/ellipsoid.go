// Package ellipsoid finds the scales of a certificate of package bounds from what is known of a
// row's part of the released vector. Only packages below bounds/ can import it.
package ellipsoid

import "math"

// Ellipsoid collects what is known of a row's released vector v, unit by unit, and finds the
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
type Ellipsoid struct {
	Grid    float64
	Half    float64 // 1/(2·Grid)
	Replace bool
	Scales  []float64 // d_k, then c_k
	Factor  float64   // by which the scales are multiplied in the end
	Centre  []int64   // μ_k in steps of Grid
	Units   []Unit
	// ranges of coordinates that are units of their own, with weight 1, d = half-width, q = 1
	// (replace-one 4)
	Singles []Span
}

// Span is the coordinates From, From+1, ... up to To.
type Span struct {
	From, To int
	Sum      float64 // of their d
}

// Unit is the coordinates First, First+Stride, ... (Count of them).
type Unit struct {
	First, Stride, Count int
	E, Q, Norm           float64 // Norm is Q of one row, also under replace-one; Norm ≤ Q
}

// Halve returns the half-width and the centre, in steps of the grid, of a coordinate that lies in
// [lo, hi], with ends on the grid. The half-width is at least one step, so that no scale is
// zero, and counts that the centre is on the grid: it is rounded down, so the upper end is the
// farther.
func (e *Ellipsoid) Halve(lo, hi float64) (d float64, centre int64) {
	t := math.Floor((lo + hi) * e.Half)
	return max(hi-t*e.Grid, e.Grid), int64(t)
}

// Solve turns d into c times factor. It reports S times factor, the root of the total variance, and
// the greatest norm of one row.
func (e *Ellipsoid) Solve() (size, norm float64) {
	q := 1.
	if e.Replace {
		q = 4
	}
	for _, u := range e.Units {
		size += u.E * math.Sqrt(u.Q)
	}
	for _, s := range e.Singles {
		size += s.Sum * math.Sqrt(q)
	}
	for _, u := range e.Units {
		g := e.Factor * math.Sqrt(math.Sqrt(u.Q)*size/u.E)
		for r, k := 0, u.First; r < u.Count; r, k = r+1, k+u.Stride {
			e.Scales[k] *= g
		}
		norm += u.Norm * u.E / (math.Sqrt(u.Q) * size)
	}
	// The root of d/S, a number from 2⁻⁸⁰ to 1, is taken in float32, which is twice as fast: both
	// roundings are below 2⁻²³ together.
	inverse, root := 1/size, (1+0x1p-22)*e.Factor*size*math.Sqrt(math.Sqrt(q))
	for _, s := range e.Singles {
		scales := e.Scales[s.From:s.To]
		for k, d := range scales {
			scales[k] = root * float64(float32(math.Sqrt(float64(float32(d*inverse)))))
		}
		norm += s.Sum / (math.Sqrt(q) * size)
	}
	return e.Factor * size, math.Sqrt(norm)
}

// Mode is a way to the scales: of what it makes use, and how. It is immutable; nil is [Residual].
type Mode struct {
	name    string
	boxed   bool // one-hot cells are taken as independent numbers
	clipped bool // it holds for clipped rows only
	scale   func(e *Ellipsoid) (total, norm float64)
	err     error // what is wrong with its settings
}

// NewMode returns a mode. scale sets e.Scales and returns the root of the total variance and the
// greatest norm of one row.
func NewMode(
	name string, boxed, clipped bool, scale func(e *Ellipsoid) (total, norm float64), err error,
) *Mode {
	return &Mode{name, boxed, clipped, scale, err}
}

const residual = "residual"

// Residual is the default.
var Residual = NewMode(residual, false, false, (*Ellipsoid).Solve, nil)

func (m *Mode) or() *Mode {
	if m == nil {
		return Residual
	}
	return m
}

// Own is a copy that nobody else can write to.
func (m *Mode) Own() *Mode {
	own := *m.or()
	return &own
}

// String is the mode's name.
func (m *Mode) String() string { return m.or().name }

// Default reports whether it is the default.
func (m *Mode) Default() bool { return m.or().name == residual }

// Boxed reports whether one-hot cells are taken as independent numbers in [0, 1].
func (m *Mode) Boxed() bool { return m.or().boxed }

// Clipped reports whether certificates hold for clipped rows only.
func (m *Mode) Clipped() bool { return m.or().clipped }

// Err is what is wrong with its settings.
func (m *Mode) Err() error { return m.or().err }

// Scale sets the scales.
func (m *Mode) Scale(e *Ellipsoid) (total, norm float64) { return m.or().scale(e) }
