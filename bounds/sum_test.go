package bounds

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// everyConfig is one configuration a mode, for tests of what all modes share.
func everyConfig() (out []Config) {
	for _, mode := range append([]Mode{Ball(1)}, unclipped...) {
		out = append(out, Config{Mode: mode, Adjacency: accountant.AddRemove})
	}
	return out
}

// batchSum is the exact sum of some random rows, and their mean gradient and input.
func batchSum(c critic, cert *Certificate, rows int) (s Sum, inputs, gradient []float64) {
	u := rand.New(rand.NewPCG(9, 9))
	inputs, gradient = make([]float64, cert.sizes[0]), make([]float64, cert.Parameters())
	weight := int64(1 / cert.weightStep())
	for range rows {
		p := c.run(randomRow(u, c.in), pairwise)
		p.addTo(&s, cert, weight)
		for i, x := range p.x[0] {
			inputs[i] += x / float64(rows)
		}
		for k, g := range p.gradient() {
			gradient[k] += g / float64(rows)
		}
	}
	return s, inputs, gradient
}

// Without noise, decoding gives back the sum exactly, when the public row count is the true one.
func TestDecodeInvertsEncode(t *testing.T) {
	for _, c := range critics(t) {
		for _, config := range everyConfig() {
			cert := certify(t, c, config)
			s, inputs, gradient := batchSum(c, cert, 5)
			v := make([]int64, cert.Coordinates())
			cert.EncodeTo(v, s)
			got, gotInputs := make([]float64, cert.Parameters()), make([]float64, cert.Inputs())
			cert.DecodeTo(got, gotInputs, v, 5)
			for k := range got {
				if math.Abs(got[k]-5*gradient[k]) > 1e-9*(1+math.Abs(got[k])) {
					t.Fatalf("%s, %v: parameter %d decodes to %v, sum %v", c.name, config.Mode, k,
						got[k], 5*gradient[k])
				}
			}
			for i := range gotInputs {
				if math.Abs(gotInputs[i]-5*inputs[i]) > 1e-9 {
					t.Fatalf("%s, %v: input %d decodes to %v, sum %v", c.name, config.Mode, i,
						gotInputs[i], 5*inputs[i])
				}
			}
			again := make([]float64, cert.Parameters())
			cert.DecodeTo(again, nil, v, 5)
			if !slices.Equal(got, again) {
				t.Errorf("%s, %v: decoding without inputs differs", c.name, config.Mode)
			}
		}
	}
}

// A sum that wraps around gives the same released integers as one that does not: everything is
// linear modulo 2⁶⁴.
func TestEncodeWraps(t *testing.T) {
	c := critics(t)[1]
	cert := certify(t, c, Config{Mode: Residual, Adjacency: accountant.AddRemove})
	s, _, _ := batchSum(c, cert, 3)
	v, w := make([]int64, cert.Coordinates()), make([]int64, cert.Coordinates())
	cert.EncodeTo(v, s)
	for k := range s.Gradient {
		s.Gradient[k] += math.MaxInt64
	}
	cert.EncodeTo(w, s)
	for k := range v[cert.Inputs():] {
		k += cert.Inputs()
		if offset := int64(math.MaxInt64); w[k] != v[k]+offset {
			t.Fatalf("coordinate %d: %d and %d", k, v[k], w[k])
		}
	}
}

func TestShapesPanic(t *testing.T) {
	c := critics(t)[1]
	cert := certify(t, c, Config{Mode: Residual, Adjacency: accountant.AddRemove})
	n, p, in := cert.Coordinates(), cert.Parameters(), cert.Inputs()
	ints := func(n int) []int64 { return make([]int64, n) }
	floats := func(n int) []float64 { return make([]float64, n) }
	for name, call := range map[string]func(){
		"scales": func() { cert.ScalesTo(floats(n-1), 1) },
		"encode dst": func() {
			cert.EncodeTo(ints(n-1),
				Sum{Gradient: ints(p), Inputs: ints(in)})
		},
		"encode gradient": func() {
			cert.EncodeTo(ints(n), Sum{Gradient: ints(p + 1),
				Inputs: ints(in)})
		},
		"encode inputs":   func() { cert.EncodeTo(ints(n), Sum{Gradient: ints(p)}) },
		"decode released": func() { cert.DecodeTo(floats(p), nil, ints(n-1), 1) },
		"decode gradient": func() { cert.DecodeTo(floats(n), nil, ints(n), 1) },
		"decode inputs":   func() { cert.DecodeTo(floats(p), floats(1), ints(n), 1) },
	} {
		stattest.Panics(t, call, "%s", name)
	}
}

// TestPredictorIsWhatEncodeTakesOff: a batch encoded by hand, with PredictorTo and Centre.
func TestPredictorIsWhatEncodeTakesOff(t *testing.T) {
	for _, c := range critics(t) {
		for _, config := range everyConfig() {
			cert := certify(t, c, config)
			s, inputs, gradient := batchSum(c, cert, 4)
			v := make([]int64, cert.Coordinates())
			cert.EncodeTo(v, s)
			n, h := cert.sizes[0], cert.sizes[1]
			m, l := make([]float64, n*h), make([]float64, n*h)
			cert.PredictorTo(m, l)
			want := append(append([]float64(nil), inputs[:cert.Inputs()]...), gradient...)
			for i := range n {
				for j := range h {
					want[cert.Inputs()+i*h+j] -= m[i*h+j] * inputs[i]
					if len(cert.sizes) == 3 {
						want[cert.Inputs()+n*h+h+j] -= l[i*h+j] * inputs[i]
					}
				}
			}
			for k, mu := range cert.Centre() {
				got := float64(v[k]) * cert.Grid() / 4
				if math.Abs(got-want[k]+mu) > 1e-9*(1+math.Abs(got)) {
					t.Fatalf("%s, %v: coordinate %d is %v, want %v", c.name, config.Mode, k, got,
						want[k]-mu)
				}
			}
			if none := slices.Max(m) == 0 && slices.Min(m) == 0; none &&
				config.Mode == Residual && c.name != "all weights zero" ||
				!none && config.Mode != Residual {
				t.Errorf("%s, %v: predictor %v", c.name, config.Mode, m)
			}
		}
	}
}
