package ellipsoid

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/internal/stattest"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/mechtest"
)

// TestCertifiedIsAccepted: what a certificate was given for, the critic computes and the noise
// covers. Shapes, weights of all sizes, factors and multipliers are at random.
func TestCertifiedIsAccepted(t *testing.T) {
	u := rand.New(rand.NewPCG(1, 2))
	power := func(from, to int) float64 { return math.Ldexp(1, from+u.IntN(to-from+1)) }
	given, coarse := 0, 0
	for range 12000 {
		var sizes, hidden []int
		for range 1 + u.IntN(5) {
			sizes = append(sizes, 1+u.IntN(6))
		}
		for range 1 + u.IntN(3) {
			hidden = append(hidden, 1+u.IntN(8))
		}
		e := stattest.Must(critic.NewEncoderOf(sizes))
		c, err := critic.New(e, critic.Options{Hidden: hidden, Slope: float32(u.IntN(3)) / 2}, u)
		stattest.Check(t, err)
		size := power(-40, 40)
		for i, w := range c.Parameters() {
			if u.IntN(10) == 0 {
				w *= float32(power(-40, 40))
			}
			c.Parameters()[i] = float32(size) * w
		}
		config := bounds.Config{Adjacency: accountant.AddRemove, UnitRows: u.IntN(4),
			NoiseMultiplier: power(0, 40)}
		if u.IntN(2) == 0 {
			config.Adjacency = accountant.ReplaceOne
		}
		if u.IntN(2) == 0 {
			config.Factor = power(-26, 0)
		}
		cert, err := bounds.Certify(c.Network(), mechtest.Blocks(c), config)
		if err != nil {
			continue
		}
		given++
		if cert.Factor() > 0x1p-16 {
			coarse++
		}
		if err := computed(c, cert, config.NoiseMultiplier, len(sizes)); err != nil {
			t.Fatalf("sizes %v, hidden %v, %+v: %v", sizes, hidden, config, err)
		}
	}
	if given < 1000 || coarse < 100 {
		t.Errorf("%d certificates, %d of coarse factors: too few to tell", given, coarse)
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
	_, err = NewSum(cert, z).noise()
	return err
}
