package synth

import (
	"math"

	"github.com/decoy-dp/decoy/gan"
	"github.com/decoy-dp/decoy/internal/matrix"
)

// predictor is what mode residual takes off the gradients of the first layer's weights and, with
// one hidden layer, the last's: shaped like the first's; nil for nothing.
type predictor struct{ weights, output []float64 }

// takeOff subtracts from a mean gradient what the mean inputs predict of it.
func (p predictor) takeOff(gradient, inputs []float64) {
	if p.weights == nil {
		return
	}
	h := len(p.weights) / len(inputs)
	for i, x := range inputs {
		for j := range h {
			gradient[i*h+j] -= p.weights[i*h+j] * x
			gradient[len(p.weights)+h+j] -= p.output[i*h+j] * x
		}
	}
}

// groups is how many groups of the fakes the variance of rows is estimated from.
const groups = 16

// asSeen adds to the standard deviations of the mean gradient and inputs that of the half batch of
// generated rows which the replay compares with them. Else whatever is known better than a batch
// can show would outweigh all other measurements with the batch's own noise. The variance is that
// of the means of groups of generated rows.
func (t *wganTraining) asSeen(gradient, inputs []float32, p predictor) {
	x := t.fake.Forward(t.u)
	const each = fakes / groups
	tutor := gan.NewTutor(t.critic, each)
	n := len(gradient)
	sum, square, group := make([]float64, n+x.Cols), make([]float64, n+x.Cols),
		make([]float64, n+x.Cols)
	for g := range groups {
		part := matrix.Dense(each, x.Cols, x.Data[g*each*x.Cols:(g+1)*each*x.Cols])
		got, _ := tutor.Gradient(part)
		for k, v := range got {
			group[k] = float64(v)
		}
		mean := group[n:]
		clear(mean)
		for i := range each {
			for c, v := range part.Row(i) {
				mean[c] += float64(v) / each
			}
		}
		p.takeOff(group[:n], mean)
		for k, v := range group {
			sum[k] += v
			square[k] += v * v
		}
	}
	const half = batch / 2.
	raise := func(sds []float32, from int) {
		for k, sd := range sds {
			mean := sum[from+k] / groups
			ofRow := max(0, square[from+k]/groups-mean*mean) * each * groups / (groups - 1)
			sds[k] = float32(math.Sqrt(float64(sd)*float64(sd) + ofRow/half))
		}
	}
	raise(gradient, 0)
	raise(inputs, n)
}
