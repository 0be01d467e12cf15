package eval

import (
	"math"

	"github.com/decoy-dp/decoy/eval/internal/nearest"
)

// Nearest returns the distances from every point to the nearest and the second nearest of the
// reference points; the second is +Inf where there is only one. It is exact, ties included. Where a
// tree does not help (few coordinates, very many points) it compares all pairs: about .1 s for 10⁸
// pairs of 20 coordinates and .25 s for 100, on one processor with AVX2.
func Nearest(points, reference *Points) (first, second []float64, err error) {
	if err := sameSpace(points, reference); err != nil {
		return nil, nil, err
	}
	e := newEmbedding(points, reference)
	found, _ := nearest.Cross(e.set(points), e.set(reference), e.metric(points, reference), false,
		true)
	e.distances(points.space, found.First)
	e.distances(points.space, found.Second)
	return found.First, found.Second, nil
}

// nearestWithin returns the distance from every point to the nearest other one,
// +Inf if there is no other.
func nearestWithin(points *Points) []float64 {
	e := newEmbedding(points, points)
	found := nearest.Self(e.set(points), e.metric(points, points), false)
	e.distances(points.space, found.First)
	return found.First
}

// mutual is the nearest distances between two sets, both ways.
type mutual struct{ ab, ba nearest.Best }

func mutualNearest(a, b *Points) mutual {
	e := newEmbedding(a, b)
	ab, ba := nearest.Cross(e.set(a), e.set(b), e.metric(a, b), true, true)
	for _, found := range [][]float64{ab.First, ab.Second, ba.First, ba.Second} {
		e.distances(a.space, found)
	}
	return mutual{ab, ba}
}

// moments returns the mean and the standard error of the mean.
func moments(x []float64) (mean, standardError float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		standardError += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(standardError / (n * max(n-1, 1)))
}
