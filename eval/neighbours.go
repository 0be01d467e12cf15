package eval

import (
	"math"
	"math/rand/v2"

	gemm "github.com/decoy-dp/decoy/internal/matrix"
)

// Nearest returns the distances from every point to the nearest and the second nearest of the
// reference points; the second is +Inf where there is only one. It is exact, ties included, and
// compares all pairs.
func Nearest(points, reference *Points) (first, second []float64, err error) {
	if err := sameSpace(points, reference); err != nil {
		return nil, nil, err
	}
	first, second = nearest(points, reference, false)
	return first, second, nil
}

// others are the distances from every point to the nearest other one, +Inf if there is no other.
func (p *Points) others() []float64 {
	p.once.Do(func() { p.nearestOther, _ = nearest(p, p, true) })
	return p.nearestOther
}

// A product of blockRows embedded points with blockCols others stays in the second-level cache.
const blockRows, blockCols = 48, 2048

// nearest is Nearest for sets of one space; own says that they are one set, in which a point is not
// its own neighbour. A matrix product of embedded points rules out most pairs; the few others are
// measured.
func nearest(points, reference *Points, own bool) (first, second []float64) {
	first, second = make([]float64, points.n), make([]float64, points.n)
	e, asIs := newEmbedding(points, reference), allColumns(points.n)
	// in an order in which points come ever closer, every pair would have to be measured
	order := rand.New(rand.NewPCG(1, 1)).Perm(reference.n)
	a, b := e.rows(points, asIs, true), e.rows(reference, order, false)
	inParallel((points.n+blockRows-1)/blockRows, func() func(int) {
		product := make([]float32, blockRows*blockCols)
		return func(at int) {
			from := at * blockRows
			rows := min(blockRows, points.n-from)
			for i := from; i < from+rows; i++ {
				first[i], second[i] = math.Inf(1), math.Inf(1)
			}
			for start := 0; start < reference.n; start += blockCols {
				cols := min(blockCols, reference.n-start)
				block := gemm.Dense(rows, cols, product[:rows*cols])
				gemm.MulTo(block, 1, part(a, from, rows), part(b, start, cols).T(), 0)
				for i := range rows {
					x, one, two := points.row(from+i), &first[from+i], &second[from+i]
					below := least(*two)
					for k, half := range block.Row(i) {
						j := order[start+k]
						if half <= below || own && j == from+i {
							continue
						}
						switch d := points.space.between(x, reference.row(j)); {
						case d < *one:
							*one, *two = d, *one
						case d < *two:
							*two = d
						default:
							continue
						}
						below = least(*two)
					}
				}
			}
			for i := from; i < from+rows; i++ {
				first[i], second[i] = points.space.scale(first[i]), points.space.scale(second[i])
			}
		}
	})
	return first, second
}

// least is the product that a pair must exceed to be nearer than between says: −½ of it, rounded
// down.
func least(between float64) float32 { return -roundUp(between / 2) }

// part views n rows of a matrix.
func part(m gemm.Matrix, from, n int) gemm.Matrix {
	return gemm.Dense(n, m.Cols, m.Data[from*m.Cols:(from+n)*m.Cols])
}
