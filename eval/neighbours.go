package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

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

// Quantiles sums up distances or ratios.
type Quantiles struct{ P05, Median, Mean float64 }

func quantilesOf(x []float64) Quantiles {
	sorted := slices.Sorted(slices.Values(x))
	return Quantiles{quantile(sorted, .05), quantile(sorted, .5), stat.Mean(x, nil)}
}

// ClosestResult is the distances of synthetic rows to the closest training rows
// and, as the yardstick, to the closest of as many holdout rows.
type ClosestResult struct {
	Train, Holdout Quantiles // DCR: distance to the closest record
	// NNDR: distance to the closest over distance to the second closest
	TrainRatio, HoldoutRatio         Quantiles
	TrainDistances, HoldoutDistances []float64 // DCR of every synthetic row
	// share of synthetic rows closer to a training row than to any holdout row, ties half
	CloserToTrain float64
	// training and holdout rows, after drawing a sample of the larger
	Rows int
}

// Closest measures the distances of synthetic rows to the closest record of the
// training table and of a holdout (DCR), and the ratio of the closest to the
// second closest (NNDR): copies have small distances and, near outliers, small
// ratios. Two records at the same place give the ratio 1, since neither stands out.
//
// Name DCR. Alias DCR (MOSTLY AI, SynthEval), Distance to Closest Record. Range 0 up; goal: that of
// a holdout of the same size. Name NNDR. Alias NNDR (MOSTLY AI, SynthEval). Range 0 to 1; goal:
// that of a holdout of the same size. Name DCRShare. Alias DCR share (MOSTLY AI), CloserToTrain
// here; SDMetrics' DCROverfittingProtection is 2·(1 − share), at most 1. Range 0 to 1; goal: .5.
// Source of all three: Platzer & Reutterer 2021, arXiv 2104.00635.
//
// The larger of the two real tables is cut to the size of the smaller by a draw
// from the public seed: in a larger one the closest row is closer. Both need two rows. Of holdout,
// which may be nil, nothing is measured then.
func Closest(train, holdout, synthetic *Points, seed uint64) (ClosestResult, error) {
	out := ClosestResult{Rows: train.n}
	for _, real := range []*Points{train, holdout} {
		if real == nil {
			continue
		}
		if out.Rows = min(out.Rows, real.n); out.Rows < 2 {
			return out, fmt.Errorf("closest records among %d rows, it takes 2: %w", real.n,
				ErrTables)
		}
		if err := sameSpace(real, synthetic); err != nil {
			return out, err
		}
	}
	distances := func(real *Points) ([]float64, Quantiles, Quantiles) {
		first, second := nearest(synthetic, real.sample(out.Rows, seed), false)
		ratios := slices.Repeat([]float64{1}, len(first))
		for i, d := range first {
			if second[i] > 0 {
				ratios[i] = d / second[i]
			}
		}
		return first, quantilesOf(first), quantilesOf(ratios)
	}
	out.TrainDistances, out.Train, out.TrainRatio = distances(train)
	if holdout == nil {
		return out, nil
	}
	out.HoldoutDistances, out.Holdout, out.HoldoutRatio = distances(holdout)
	for i, d := range out.TrainDistances {
		h := out.HoldoutDistances[i]
		out.CloserToTrain += (indicator(d < h) + indicator(d <= h)) / 2
	}
	out.CloserToTrain /= float64(synthetic.n)
	return out, nil
}

// Terms is a nearest-neighbour adversarial accuracy and the two terms that it is the mean of.
type Terms struct {
	// share of real rows farther from the synthetic ones than from the other real ones
	Real float64 `json:"real"`
	// share of synthetic rows farther from the real ones than from the other synthetic ones
	Synthetic float64 `json:"synthetic"`
	Mean      float64 `json:"mean"`
	// standard error of the mean, on the wide side
	StdErr float64 `json:"std_err"`
	Rows   int     `json:"-"` // of each table, after drawing a sample of the larger
}

// dependence is by how much the standard error of the mean exceeds that of
// independent rows, at most: neighbours share neighbours. The ratio was 1.08 to
// 1.50 in 300 simulated pairs of samples for each of 12 settings (100 and 1500
// rows; 1 to 20 normal coordinates; coarse and fine categories).
const dependence = 1.5

// NNAA is the nearest-neighbour adversarial accuracy: how often an adversary who asks "is this row
// nearer to its own table?" is right. Let d_TS(i) be the distance of real row i to the nearest
// synthetic one and d_TT(i) to the nearest other real one, d_ST and d_SS likewise. Then
//
//	½·[mean 1(d_TS > d_TT) + mean 1(d_ST > d_SS)],
//
// where d_TS and d_ST are averaged over leaving out each one row of the other table, so that both
// distances are to the nearest of n−1 rows, and is the mean of that with > and with ≥: for discrete
// or mixed data, where distances tie. Under equal distributions each term has expectation ½, as
// those of the original form, without leaving out and with > alone, do not on coarse data.
//
// Name NNAA. Alias nnaa (SynthEval), AdversarialAccuracy. Range 0 to 1; goal: .5. Below it,
// synthetic rows sit closer to real rows than real rows do (copying); above, the tables differ.
// Source: Yale et al. 2020, Neurocomputing 416; leaving out, and ties: J. Pedersen, RPI 2022 (hdl
// 20.500.13015/6261), definitions 4.1.1 and 4.5.
//
// The terms compare best at equal sizes, so a larger table is cut to the smaller
// one's rows by a draw from the public seed. Both need at least two rows.
func NNAA(real, synthetic *Points, seed uint64) (Terms, error) {
	out, err := accuracies(seed, synthetic, real)
	if err != nil {
		return Terms{}, err
	}
	return out[0], nil
}

// PrivacyLossResult compares synthetic rows with the rows they were made from
// and with others from the same population.
type PrivacyLossResult struct {
	Train   Terms   `json:"-"` // NNAA against synthetic rows
	Holdout Terms   `json:"-"`
	Loss    float64 `json:"value"`
	StdErr  float64 `json:"std_err"` // on the wide side
}

// PrivacyLoss is NNAA(holdout, synthetic) − NNAA(train, synthetic): how much more alike the
// synthetic rows are to the training rows than to other rows of the same population.
//
// Name PrivacyLoss. Alias priv_loss_nnaa (SynthEval). Range −1 to 1; goal: 0 or below; a copy of
// the training table gives about .5. Source: Yale et al. 2020; math as in [NNAA]. All three tables
// are cut to the rows of the smallest by draws from the public seed.
func PrivacyLoss(train, holdout, synthetic *Points, seed uint64) (PrivacyLossResult, error) {
	of, err := accuracies(seed, synthetic, train, holdout)
	if err != nil {
		return PrivacyLossResult{}, err
	}
	return PrivacyLossResult{Train: of[0], Holdout: of[1], Loss: of[1].Mean - of[0].Mean,
		StdErr: math.Hypot(of[1].StdErr, of[0].StdErr)}, nil
}

// accuracies are NNAA of each real table, all cut to the rows of the smallest.
func accuracies(seed uint64, synthetic *Points, real ...*Points) (out []Terms, err error) {
	n := synthetic.n
	for _, p := range append(real, synthetic) {
		if n = min(n, p.n); n < 2 {
			return nil, fmt.Errorf("adversarial accuracy of a table of %d rows, it takes 2: %w",
				p.n, ErrTables)
		}
		if err := sameSpace(synthetic, p); err != nil {
			return nil, err
		}
	}
	synthetic = synthetic.sample(n, seed)
	for _, p := range real {
		p = p.sample(n, seed)
		r, rErr := farther(p, synthetic)
		s, sErr := farther(synthetic, p)
		out = append(out, Terms{r, s, (r + s) / 2, dependence * math.Hypot(rErr, sErr) / 2, n})
	}
	return out, nil
}

// farther is the share of the points that are farther from the other set, less each one of its
// points, than from the nearest other of their own, ties half, and its standard error.
func farther(points, other *Points) (share, stderr float64) {
	first, second := nearest(points, other, false)
	n := float64(other.n)
	each := make([]float64, points.n)
	for i, d := range points.others() {
		above := (n-1)/n*indicator(first[i] > d) + indicator(second[i] > d)/n
		atLeast := (n-1)/n*indicator(first[i] >= d) + indicator(second[i] >= d)/n
		each[i] = (above + atLeast) / 2
	}
	share, stderr = moments(each)
	return share, stderr / math.Sqrt(float64(points.n))
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
