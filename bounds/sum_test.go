package bounds

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
)

// everyConfig is one configuration a mode, for tests of what all modes share.
func everyConfig() (out []Config) {
	for mode := Blocks; mode <= Ball; mode++ {
		c := Config{Mode: mode, Adjacency: accountant.AddRemove}
		if mode == Ball {
			c.Radius = 1
		}
		out = append(out, c)
	}
	return out
}

// batchSum is the exact sum of some random rows, and their mean gradient and input.
func batchSum(c critic, cert *Certificate, rows int) (s Sum, inputs, gradient []float64) {
	u := rand.New(rand.NewPCG(9, 9))
	inputs, gradient = make([]float64, cert.sizes[0]), make([]float64, cert.Parameters())
	weight := int64(1 / cert.WeightStep())
	for range rows {
		p := c.run(randomRow(u, c.in, c.factor), pairwise)
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

// EncodeMeanTo is EncodeTo of the sum, divided by the rows.
func TestEncodeMean(t *testing.T) {
	for _, c := range critics(t) {
		for _, config := range everyConfig() {
			cert := certify(t, c, config)
			s, inputs, gradient := batchSum(c, cert, 4)
			v, mean := make([]int64, cert.Coordinates()), make([]float64, cert.Coordinates())
			cert.EncodeTo(v, s)
			cert.EncodeMeanTo(mean, inputs, gradient)
			for k := range v {
				if want := float64(
					v[k]) * cert.Grid() / 4; math.Abs(mean[k]-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("%s, %v: coordinate %d of the mean is %v, of the sum %v", c.name,
						config.Mode, k, mean[k], want)
				}
			}
		}
	}
}

// ⟨e, A(x, g)⟩ = ⟨Aᵀe, (x, g)⟩ for the linear part A of EncodeMeanTo.
func TestPullMeanIsTheTranspose(t *testing.T) {
	u := rand.New(rand.NewPCG(8, 8))
	normals := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = u.NormFloat64()
		}
		return x
	}
	dot := func(a, b []float64) (sum float64) {
		for i := range a {
			sum += a[i] * b[i]
		}
		return sum
	}
	for _, c := range critics(t) {
		for _, config := range everyConfig() {
			cert := certify(t, c, config)
			x, g, e := normals(cert.Inputs()), normals(cert.Parameters()),
				normals(cert.Coordinates())
			image, origin := make([]float64, cert.Coordinates()),
				make([]float64, cert.Coordinates())
			cert.EncodeMeanTo(image, x, g)
			cert.EncodeMeanTo(origin, make([]float64, len(x)), make([]float64, len(g)))
			px, pg := make([]float64, len(x)), make([]float64, len(g))
			cert.PullMeanTo(px, pg, e)
			left, right := dot(e, image)-dot(e, origin), dot(px, x)+dot(pg, g)
			if math.Abs(left-right) > 1e-9*(1+math.Abs(left)) {
				t.Errorf("%s, %v: ⟨e, Av⟩ = %v, ⟨Aᵀe, v⟩ = %v", c.name, config.Mode, left, right)
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

// A float64 accumulator of ExactRows rows is exact: the largest contribution, that many times,
// stays below 2⁵³ steps.
func TestExactRows(t *testing.T) {
	u := rand.New(rand.NewPCG(7, 7))
	for _, c := range critics(t) {
		for _, config := range everyConfig() {
			cert := certify(t, c, config)
			for i := range 50 {
				for _, g := range c.run(randomRow(u, c.in, c.factor), order(i)%orders).gradient() {
					if steps := math.Abs(
						g) / cert.Grid() * float64(cert.ExactRows()); steps > 1<<53 {
						t.Fatalf("%s, %v: %d rows of %v are %v steps", c.name, config.Mode,
							cert.ExactRows(), g, steps)
					}
				}
			}
			if cert.ExactRows() < 10 {
				t.Errorf("%s, %v: %d rows", c.name, config.Mode, cert.ExactRows())
			}
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
		"encode inputs":    func() { cert.EncodeTo(ints(n), Sum{Gradient: ints(p)}) },
		"decode released":  func() { cert.DecodeTo(floats(p), nil, ints(n-1), 1) },
		"decode gradient":  func() { cert.DecodeTo(floats(n), nil, ints(n), 1) },
		"decode inputs":    func() { cert.DecodeTo(floats(p), floats(1), ints(n), 1) },
		"mean dst":         func() { cert.EncodeMeanTo(floats(p), floats(in), floats(p)) },
		"mean gradient":    func() { cert.EncodeMeanTo(floats(n), floats(in), floats(n)) },
		"mean inputs":      func() { cert.EncodeMeanTo(floats(n), nil, floats(p)) },
		"pull encoded":     func() { cert.PullMeanTo(floats(in), floats(p), floats(p)) },
		"pull gradient":    func() { cert.PullMeanTo(floats(in), floats(n), floats(n)) },
		"pull inputs":      func() { cert.PullMeanTo(nil, floats(p), floats(n)) },
		"clipper":          func() { NewClipper(cert) },
		"penalty gradient": func() { _, _ = PenaltyNorms(Network[float64]{}, math.NaN()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}
