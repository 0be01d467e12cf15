package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/calibrate"
	"github.com/decoy-dp/decoy/bounds"
	"github.com/decoy-dp/decoy/bounds/modes"
	"github.com/decoy-dp/decoy/gan/critic"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/gradient"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/wgan"
	"github.com/decoy-dp/decoy/table"
)

// averaged simulates, without protection, a critic that parties train together, and prints for each
// way the error of the model and how long the noise is beside the sum that it is added to:
//
//   - FedSGD, exact sums of gradients under the noise of their certificate;
//   - FedAvg, the mean of the parties' own means: what an update of one local step is;
//   - DP-FedAvg (McMahan et al. 2018, arXiv 1710.06963), the same with each party's update clipped
//     to S, the median of their lengths, and noise for 2S: that is how far one person can move an
//     update of which nothing else is known. More local steps have the same noise.
//
// All have the same marginal model, and a generator that follows the critic's score.
func averaged(t *table.Table, parts []*table.Table, b accountant.Budget) {
	tree := fitted(t, must(fitterOf("mst")), b)
	f := must(wgan.New(wgan.Config{Mode: "box", NoReplay: true, Unsteered: true}))
	for _, way := range []string{"FedSGD", "FedAvg", "DP-FedAvg"} {
		length := 0.0
		m, err := f.Train(context.Background(), t.Schema(), privacy.NeighboursOf(t.Schema(), 0),
			math.Sqrt(2*must(calibrate.Rho(b))), wgan.Source{
				Seed:      [2]uint64{1, 2},
				Marginals: func() (synth.Model, error) { return synth.Model{Params: tree.Params()}, nil },
				Gradient: func(p gradient.CertifiedPlan, c *critic.Critic) (
					gradient.Certified, float64, error,
				) {
					cert, noisy, ratio := step(parts, p, c, tree.Rows, way)
					length = max(length, ratio)
					return gradient.Certified{Certificate: cert, Released: noisy}, p.NoiseMultiplier, nil
				}}, nil)
		check(err)
		e := errorOf(t, m.Params)
		fmt.Printf("%-16s %.4f %.4f  noise over signal at most %.3g\n", way, e[0], e[1], length)
	}
}

// step is one sum over the parties, as an encoded gradient sum of so many rows.
func step(
	parts []*table.Table, p gradient.CertifiedPlan, c *critic.Critic, rows float64, way string,
) (*bounds.Certificate, []int64, float64) {
	in := must(p.Domain(parts[0].Schema()))
	cert := must(bounds.Certify(c.Network(), in, bounds.Config{Mode: modes.Box,
		Adjacency: accountant.AddRemove, NoiseMultiplier: p.NoiseMultiplier}))
	h := float64(len(parts))
	all := math.Sqrt(h / (h - 1)) // the noise of one party counts for nothing
	var updates [][]float64
	var lengths []float64
	for _, part := range parts {
		sum, columns := make([]int64, cert.Parameters()), make([]table.Codes, len(part.Schema().Columns))
		for i := range columns {
			columns[i] = part.Column(i)
		}
		c.AddSumTo(sum, nil, cert.Factor(), columns, nil)
		update := make([]float64, len(sum))
		for k, x := range sum {
			update[k] = float64(x) * cert.Grid() / float64(part.Rows())
		}
		updates, lengths = append(updates, update), append(lengths, floats.Norm(update, 2))
	}
	slices.Sort(lengths)
	limit := lengths[len(lengths)/2]
	signal, noise := make([]float64, cert.Parameters()), make([]float64, cert.Parameters())
	for i, update := range updates {
		weight := 1 / h
		switch way {
		case "FedSGD":
			weight = float64(parts[i].Rows()) / rows
		case "DP-FedAvg":
			weight *= min(1, limit/floats.Norm(update, 2))
		}
		floats.AddScaled(signal, weight, update)
	}
	for k, scale := range cert.Scales() {
		switch way {
		case "FedSGD":
			noise[k] = all * p.NoiseMultiplier * scale / rows * rand.NormFloat64()
		case "DP-FedAvg":
			noise[k] = all * p.NoiseMultiplier * 2 * limit / h * rand.NormFloat64()
		}
	}
	out, centre := make([]int64, len(signal)), cert.Centre()
	for k, x := range signal {
		out[k] = int64(math.Round((x + noise[k] - centre[k]) * rows / cert.Grid()))
	}
	return cert, out, floats.Norm(noise, 2) / floats.Norm(signal, 2)
}
