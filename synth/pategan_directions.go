package synth

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/decoy-dp/decoy/internal/matrix"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// Votes on directions are those of G-PATE (Long, Wang, Yang, Kailkhura, Zhang, Gunter, Li, NeurIPS
// 2021, arXiv 1906.09338). A teacher's opinion of a generated row is the gradient of its score with
// respect to the row. It is projected onto a few random directions, which are public; each
// coordinate is clipped and put into a bin, for which the teacher votes. Where the noisy count of a
// bin is half of the teachers, its middle is the coordinate that the generator follows. (The paper
// asks by Confident-GNMax: that is aggregator confident.)
const (
	directionBins = 10
	// of what a direction fades from round to round, as teachers change
	fieldKept = .8
)

// directionRange is where a coordinate is clipped, either side: twice its standard deviation, the
// gradient being of length 1 and the entries of the k directions of variance 1/k.
func directionRange(k int) float64 { return 2 / math.Sqrt(float64(k)) }

// randomDirections are k directions over the cells.
func randomDirections(k, cells int, u *rand.Rand) [][]float32 {
	out := make([][]float32, k)
	for j := range out {
		out[j] = make([]float32, cells)
		for c := range out[j] {
			out[j][c] = float32(u.NormFloat64() / math.Sqrt(float64(k)))
		}
	}
	return out
}

// directionsTo votes for the bin of each coordinate of the gradient at a row.
func (t *teacher) directionsTo(votes []uint8, row []int32, directions [][]float32) {
	slope := make([]float32, len(directions[0]))
	t.slopeTo(slope, row)
	reach := directionRange(len(directions))
	for j, direction := range directions {
		x := 0.0
		for c, s := range slope {
			x += float64(s * direction[c])
		}
		votes[j] = uint8(min(max((x/reach+1)/2, 0)*directionBins, directionBins-1))
	}
}

// slopeTo is the gradient of the score with respect to the cells of a row, of length 1 or 0. Of a
// column only differences between cells say something: their mean is taken off.
func (t *teacher) slopeTo(dst []float32, row []int32) {
	t.score(row)
	_, out, _ := t.tail(t.weights)
	for k := range len(t.offsets) - 1 {
		block := dst[t.offsets[k]:t.offsets[k+1]]
		for i := range block {
			w := t.weights[(t.offsets[k]+i)*(t.hidden+1):][:t.hidden+1]
			block[i] = w[t.hidden]
			for j, s := range t.units {
				if s > 0 {
					block[i] += out[j] * w[j]
				}
			}
		}
		middle := mean(block)
		for i := range block {
			block[i] -= middle
		}
	}
	if length := float32(math.Sqrt(square(dst))); length > 0 {
		for c := range dst {
			dst[c] /= length
		}
	}
}

// follow projects the coordinates that were answered back, and adds them to the field: a direction
// for rows of each code of the target. As directions are drawn anew each round, its expectation is
// the gradient's. It is post-processing.
func (t *pateTraining) follow(l *shown, votes vote.Tally) {
	target, k := t.column, len(l.directions)
	if t.field == nil {
		t.field = make([][]float32, t.offsets[target+1]-t.offsets[target])
		for y := range t.field {
			t.field[y] = make([]float32, t.encoder.Cells())
		}
	}
	for _, field := range t.field {
		for c := range field {
			field[c] *= fieldKept
		}
	}
	reach := directionRange(k)
	for q, answered := range votes.Answered {
		counts := votes.Counts[q*directionBins:][:directionBins]
		most := slices.Max(counts)
		if !answered || most < int64(t.teachers/2) {
			continue
		}
		t.trust = 1
		bin := slices.Index(counts, most)
		x := float32(((float64(bin)+.5)/directionBins*2 - 1) * reach)
		field := t.field[int(l.asked.row(q / k)[target])-t.offsets[target]]
		for c, d := range l.directions[q%k] {
			field[c] += x * d
		}
	}
}

// fieldTo is the direction for each row of hard cells.
func (t *pateTraining) fieldTo(dst, x matrix.Matrix) {
	first := t.offsets[t.column]
	for i := range x.Rows {
		for y, field := range t.field {
			if x.Row(i)[first+y] == 1 {
				copy(dst.Row(i), field)
			}
		}
	}
}
