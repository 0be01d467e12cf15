package nearest

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// product is Cross by matrix products.
func product(a, b Set, m Metric, both, second bool) (ab, ba Best) {
	s := search{metric: m, second: second, both: both, rows: pack(a, m, rowsPerTile, 1),
		cols: pack(b, m, colsPerTile, 0)}
	return s.run()
}

// productWithin is Self by matrix products.
func productWithin(a Set, m Metric, second bool) Best {
	s := search{metric: m, second: second, both: true, self: true, rows: pack(a, m, rowsPerTile, 1),
		cols: pack(a, m, colsPerTile, 0)}
	out, _ := s.run()
	return out
}

const (
	rowsPerTile = 6  // points of the first set in one tile of the product
	colsPerTile = 16 // points of the second set: two vectors of eight float32
	padding     = 48 // whole panels of either
	blockBytes  = 256 << 10
)

// panels is a set in the order in which tiles read it: for each run of width
// points, the first coordinate of all, the second of all, and so on, followed by
// two more coordinates whose product with those of the other set adds −½ of both
// squared norms. A tile of the product is then −½ of the squared distances.
type panels struct {
	n, depth, width int
	x               []float32
	order           []int // order[p] is the index of the point at place p
}

// pack lays out a set. Points are shuffled (with a fixed seed: the results do not depend on it): in
// an order in which they come ever closer, every pair would have to be measured. first is 1 for the
// set whose norm comes before the constant, 0 for the other.
func pack(s Set, m Metric, width, first int) panels {
	p := panels{n: s.N, depth: s.K + 2, width: width,
		order: rand.New(rand.NewPCG(uint64(s.N), 1)).Perm(s.N)}
	count := (s.N + width - 1) / width
	p.x = make([]float32, count*width*p.depth)
	// Let u = 2⁻²⁴ and R = ‖x‖² + ‖y‖². Rounding coordinates moves a squared distance by at most
	// 4.1·u·R, and the K+2 sums of the product err by at most γ·R, γ = (K+2)u/(1−(K+2)u). Taking
	// c·R/2 with c = 2γ + 5u off the norms covers both.
	const u = 1. / (1 << 24)
	terms := float64(p.depth) * u
	c := 2.02*terms/(1-terms) + 5*u
	for place := range count * width {
		at := place/width*width*p.depth + place%width
		if place >= s.N {
			p.x[at+(s.K+1-first)*width] = float32(math.Inf(-1)) // infinitely far from everything
			p.x[at+(s.K+first)*width] = 1
			continue
		}
		row := s.X[p.order[place]*s.K:][:s.K]
		norm := 0.0
		for k, x := range row {
			p.x[at+k*width] = x
			norm += float64(x) * float64(x)
		}
		half := -norm / 2
		if !m.Integral {
			half = half*(1-c) + 0x1p-120 // the last term covers underflow
		}
		p.x[at+(s.K+1-first)*width] = roundUp(half)
		p.x[at+(s.K+first)*width] = 1
	}
	return p
}

// search is one search; workers share it without changing it.
type search struct {
	metric             Metric
	second, both, self bool
	rows, cols         panels
}

// state is the best distances that one worker has seen, by place.
type state struct {
	first, second []float64
	// −½ of the distance that a pair must beat to matter, padded to whole panels
	threshold []float32
}

func newState(n int, wanted bool) state {
	s := state{first: make([]float64, n), second: make([]float64, n),
		threshold: make([]float32, (n+padding-1)/padding*padding)}
	for i := range s.first {
		s.first[i], s.second[i] = math.Inf(1), math.Inf(1)
	}
	for i := range s.threshold {
		s.threshold[i] = float32(math.Inf(1)) // nothing matters
		if wanted && i < n {
			s.threshold[i] = float32(math.Inf(-1)) // everything does
		}
	}
	return s
}

// offer counts a measured distance of the point at place p.
func (s *search) offer(st *state, p int, d float64) {
	worst := &st.first[p]
	if s.second {
		worst = &st.second[p]
	}
	if d >= *worst {
		return
	}
	if s.second && d < st.first[p] {
		st.second[p], st.first[p] = st.first[p], d
	} else {
		*worst = d
	}
	switch {
	case *worst == 0:
		st.threshold[p] = float32(math.Inf(1)) // no pair can be nearer
	case !math.IsInf(*worst, 1):
		st.threshold[p] = roundDown(-*worst / 2)
	}
}

// run searches with all processors. Each worker takes blocks of rows and keeps
// its own bests, which are merged in the end: every pair is seen once.
func (s *search) run() (rows, cols Best) {
	// row panels that fit the second-level cache
	block := max(1, blockBytes/(4*s.rows.width*s.rows.depth))
	panelCount := (s.rows.n + s.rows.width - 1) / s.rows.width
	blocks := (panelCount + block - 1) / block
	workers := max(1, min(runtime.GOMAXPROCS(0), blocks))
	rowStates, colStates := make([]state, workers), make([]state, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rowState := newState(s.rows.n, true)
			// rows and columns of one set are the same points at the same places
			colState := rowState
			if !s.self {
				colState = newState(s.cols.n, s.both)
			}
			for {
				k := int(next.Add(1)) - 1
				if k >= blocks {
					break
				}
				s.block(k*block, min(panelCount, (k+1)*block), &rowState, &colState)
			}
			rowStates[w], colStates[w] = rowState, colState
		})
	}
	wg.Wait()
	rows = s.merge(s.rows, rowStates)
	if !s.self && s.both {
		cols = s.merge(s.cols, colStates)
	}
	return rows, cols
}

// merge combines the bests of all workers, by index.
func (s *search) merge(p panels, states []state) Best {
	out := Best{First: make([]float64, p.n), Second: make([]float64, p.n)}
	for place, i := range p.order {
		out.First[i], out.Second[i] = math.Inf(1), math.Inf(1)
		for _, st := range states {
			out.insert(i, st.first[place])
			out.insert(i, st.second[place])
		}
	}
	if !s.second {
		out.Second = nil
	}
	return out
}

func (b *Best) insert(i int, d float64) {
	switch {
	case d < b.First[i]:
		b.First[i], b.Second[i] = d, b.First[i]
	case d < b.Second[i]:
		b.Second[i] = d
	}
}

// block compares row panels from to to-1 with all column panels; within one set,
// with those that hold a later point.
func (s *search) block(from, to int, rowState, colState *state) {
	depth := s.rows.depth
	rowSize, colSize := s.rows.width*depth, s.cols.width*depth
	start := 0
	if s.self {
		start = from * s.rows.width / s.cols.width
	}
	hits := new([rowsPerTile]uint32)
	for c := start; c*s.cols.width < s.cols.n; c++ {
		cols := s.cols.x[c*colSize:][:colSize]
		colAt := c * s.cols.width
		colThreshold := (*[colsPerTile]float32)(colState.threshold[colAt:])
		for r := from; r < to; r++ {
			rowAt := r * s.rows.width
			if s.self && rowAt >= colAt+s.cols.width {
				break
			}
			if tile(depth, s.rows.x[r*rowSize:][:rowSize], cols,
				(*[rowsPerTile]float32)(rowState.threshold[rowAt:]), colThreshold, hits) != 0 {
				s.measure(hits, rowAt, colAt, rowState, colState)
			}
		}
	}
}

// measure offers the pairs of a tile that its product could not rule out.
func (s *search) measure(hits *[rowsPerTile]uint32, rowAt, colAt int, rowState, colState *state) {
	for r, mask := range hits {
		for c := 0; mask != 0; c, mask = c+1, mask>>1 {
			if mask&1 == 0 {
				continue
			}
			i, j := rowAt+r, colAt+c
			if s.self && j <= i {
				continue
			}
			d := s.metric.Distance(s.rows.order[i], s.cols.order[j])
			s.offer(rowState, i, d)
			if s.both {
				s.offer(colState, j, d)
			}
		}
	}
}

// roundUp returns the smallest float32 that is at least x.
func roundUp(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

// roundDown returns the largest float32 that is at most x.
func roundDown(x float64) float32 { return -roundUp(-x) }
