package bounds

import (
	"math"
)

// block records the units (block k, hidden unit j), each the gradients of the m weights from the
// block's cells into j.
//
// # What the block is worth
//
// Let cell r be active. Then the gradient of W_rj is δ_j and those of the other m−1 cells are 0.
// Let δ_j lie in [lo_r, hi_r] given that r is active, d_r = max(|lo_r|, |hi_r|), scales c_r =
// d_r/a, centres t_r. The unit's part of a row's squared norm is
//
//	((δ_j − t_r)/c_r)² + Σ_{p≠r} (t_p/c_p)² ≤ a²·q,
//	q = max_r (max(hi_r − t_r, t_r − lo_r)² − t_r²)/d_r² + Σ_p t_p²/d_p².
//
// Divided by d the contributions are corners of a simplex (one active cell), so its centroid is the
// best centre: with t_r = τ·d_r, τ = 1/m and lo_r ≥ −d_r(1 − 2/m), q = 1 − 1/m. In general 1 − 2τ +
// mτ² bounds q for every τ ≤ min_r |lo_r+hi_r|/(2d_r), and falls until τ = 1/m. What is used is q
// computed from the centres after they were put on the grid.
//
// The unit adds e·√q = √(Σ_r d_r²)·√q to the size S: at most √(m−1)·d in place of the m·d/2 of m
// independent half-widths, and never more (4(m−1) ≤ m²).
//
// Within a unit nothing is gained by favouring some cells: the bound is a maximum over cells, so
// each cell's c_r may as well be as small as d_r/a lets it, whatever its variance is worth.
//
// # Two rows
//
// With different active cells the two parts lie in different coordinates, (δ/c_r)² + (δ'/c_p)² ≤
// 2a²; with the same cell the difference is at most hi_r − lo_r. So replace-one has q = max(2,
// max_r (hi_r − lo_r)²/d_r²), and not 4. (A block of one cell has the second only.)
func (b *builder) block(k int) {
	field, h := b.in.fields[k], b.n.sizes[1]
	m := field.cells
	for j, delta := range b.r.delta[0] {
		first := b.first + field.offset*h + j
		if b.conditional && b.r.decides(k, j) {
			b.refined(k, j)
			continue
		}
		b.shift(&delta, field.offset, m, j)
		d, middle := max(delta.size(), b.grid), (delta.lo+delta.hi)/2
		t := math.Copysign(b.down(min(d/float64(m), math.Abs(middle))), middle)
		reach := max(delta.hi-t, t-delta.lo)
		norm := (reach*reach + float64(m-1)*t*t) / (d * d)
		width := (delta.hi - delta.lo) / d
		b.add(unit{first: first, stride: h, count: m, e: math.Sqrt(float64(m)) * d, norm: norm},
			width*width, d)
		b.scales[first], b.centre[first] = d, b.steps(t)
	}
	from, to := b.first+field.offset*h, b.first+(field.offset+m)*h
	for k := from + h; k < to; k += h {
		copy(b.scales[k:k+h], b.scales[from:])
		copy(b.centre[k:k+h], b.centre[from:])
	}
	for _, p := range b.patches {
		b.scales[p.k], b.centre[p.k] = p.scale, p.centre
	}
	b.patches = b.patches[:0]
}

// patch is a coordinate of a refined unit, written after the others.
type patch struct {
	k      int
	scale  float64
	centre int64
}

// refined records unit (block k, j) with an interval of δ_j for each cell: some cells decide the
// branch of unit j.
func (b *builder) refined(k, j int) {
	field, h := b.in.fields[k], b.n.sizes[1]
	m := field.cells
	deltas := make([]interval, m)
	tau, squares := 1/float64(m), 0.
	for c := range deltas {
		i := b.r.given(b.n, b.f, k, j, b.n.first(field.offset+c, j))
		b.shift(&i, field.offset+c, 1, j)
		deltas[c] = i
		if d := i.size(); d > 0 {
			tau = min(tau, math.Abs(i.lo+i.hi)/(2*d))
		}
	}
	u := unit{first: b.first + field.offset*h + j, stride: h, count: m}
	worst, centres, width, least := 0., 0., 0., math.Inf(1)
	for c, i := range deltas {
		d := max(i.size(), b.grid)
		t := math.Copysign(b.down(tau*i.size()), i.lo+i.hi)
		reach := max(i.hi-t, t-i.lo)
		worst = max(worst, (reach*reach-t*t)/(d*d))
		centres += t * t / (d * d)
		width = max(width, (i.hi-i.lo)/d)
		squares += d * d
		least = min(least, d)
		b.patches = append(b.patches, patch{u.first + c*h, d, b.steps(t)})
	}
	u.e, u.norm = math.Sqrt(squares), worst+centres
	b.add(u, width*width, least)
}

// add completes a block's unit. width is (hi−lo)²/d² at its largest; d, its least scale, sets a
// floor of one grid step for the part of a row.
func (b *builder) add(u unit, width, d float64) {
	u.norm = max(u.norm, b.grid*b.grid/(d*d))
	u.q = u.norm
	if b.replace {
		u.q = max(u.q, width)
		if u.count > 1 {
			u.q = max(u.q, 2)
		}
	}
	b.units = append(b.units, u)
}

// steps is a multiple of the grid in steps of it.
func (b *builder) steps(t float64) int64 { return int64(t / b.grid) }

// down rounds x ≥ 0 down to the grid.
func (b *builder) down(x float64) float64 { return b.grid * math.Floor(x/b.grid) }
