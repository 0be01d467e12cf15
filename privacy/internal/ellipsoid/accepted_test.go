package ellipsoid

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/table"
)

// TestCertifiedIsAccepted: what a certificate was given for, the critic computes and the noise
// covers. Shapes, weights of all sizes, factors, multipliers and scaled columns are at random.
func TestCertifiedIsAccepted(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	power := func(from, to int) float64 { return math.Ldexp(1, from+u.IntN(to-from+1)) }
	given, scaledOnes, coarse := 0, 0, 0
	for range 12000 {
		var sizes, hidden []int
		for range 1 + u.IntN(5) {
			sizes = append(sizes, 1+u.IntN(6))
		}
		for range 1 + u.IntN(3) {
			hidden = append(hidden, 1+u.IntN(8))
		}
		var fields []bounds.Field
		scaled, some := make([]bool, len(sizes)), u.IntN(3)
		for k, m := range sizes {
			fields = append(fields, bounds.Block(m))
			if some > 0 && m > 1 && u.IntN(2) == 0 {
				scaled[k], fields[k] = true, bounds.Scalar(0, 1)
			}
		}
		e, err := critic.NewEncoderOf(sizes)
		if err == nil && some < 2 { // with 1 of them of columns that are scaled, or none is
			e, err = e.Scaled(scaled)
		} else if err == nil {
			for k, m := range sizes {
				fields[k] = bounds.Block(m)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		c, err := critic.New(e, critic.Options{Hidden: hidden, Slope: float32(u.IntN(3)) / 2}, u)
		if err != nil {
			t.Fatal(err)
		}
		size := power(-40, 40)
		for i, w := range c.Parameters() {
			if u.IntN(10) == 0 {
				w *= float32(power(-40, 40))
			}
			c.Parameters()[i] = float32(size) * w
		}
		in, err := bounds.NewInput(fields...)
		if err != nil {
			t.Fatal(err)
		}
		config := bounds.Config{Adjacency: accountant.AddRemove, UnitRows: u.IntN(4),
			NoiseMultiplier: power(0, 40)}
		if u.IntN(2) == 0 {
			config.Adjacency = accountant.ReplaceOne
		}
		if u.IntN(2) == 0 {
			config.Factor = power(-26, 0)
		}
		cert, err := bounds.Certify(c.Network(), in, config)
		if err != nil {
			continue
		}
		given++
		if e.ScaledColumns() != nil {
			scaledOnes++
		} else if cert.Factor() > 0x1p-16 {
			coarse++
		}
		if err := computed(c, cert, config.NoiseMultiplier, len(sizes)); err != nil {
			t.Fatalf("sizes %v, hidden %v, scaled %v, %+v: %v", sizes, hidden, e.ScaledColumns(),
				config, err)
		}
	}
	if given < 1000 || scaledOnes < 100 || coarse < 100 {
		t.Errorf("%d certificates, %d of scaled columns, %d of coarse factors: too few to tell", given,
			scaledOnes, coarse)
	}
}

// computed is what the critic, or the noise, refuses of no rows.
func computed(c *critic.Critic, cert *bounds.Certificate, z float64, columns int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the critic: %v", r)
		}
	}()
	c.AddSumTo(make([]int64, cert.Parameters()), nil, cert.Factor(), make([]table.Codes, columns),
		[]int{})
	sum := Sum{Scales: make([]float64, cert.Coordinates()), Grid: cert.Grid()}
	cert.ScalesTo(sum.Scales, z)
	_, err = sum.noised()
	return err
}
