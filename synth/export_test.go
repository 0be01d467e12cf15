package synth

import (
	"context"
	"math/rand/v2"

	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

// AuditedPATEGAN is a fit of a plan of pategan as an auditor sees it. One that lies has the noise
// of μ = 10 in place of what it was charged.
func AuditedPATEGAN(
	made *RunPlan, lies bool,
) func(context.Context, *table.Table) ([]float64, error) {
	p := made.Plan.(*patePlan)
	if lies {
		lying, left := *p, accountant.Account{Mu2: 100 * (1 - p.cfg.MarginalShare)}
		if p.votes.Laplace > 0 {
			left.Epsilon = 50 / p.votes.Laplace
		}
		lying.votes, _ = vote.Named(p.cfg.Aggregator, p.ballot, p.questions(), left)
		p = &lying
	}
	enough := accountant.Composition{{Event: accountant.GDPFilter{Mu: 100}, Count: 1},
		{Event: accountant.Laplace{Epsilon: 1e3}, Count: 64}}
	return func(ctx context.Context, tab *table.Table) ([]float64, error) {
		session, err := privacy.Open(ctx, privacy.FromTable(tab), privacy.Options{
			Budget: accountant.Budget{Epsilon: 1e6, Delta: 1e-5}, Plan: enough, Method: "pategan",
		})
		if err != nil {
			return nil, err
		}
		var got answers
		tr := p.training(rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
		if _, err := tr.run(ctx, got.recorded(p.source(ctx, session, nil)), nil); err != nil {
			return nil, err
		}
		return seen(&got, tr), nil
	}
}

// seen is what an auditor sees of a fit: the rows and the ones that the marginal model has, votes
// on rows by their number of ones, and draws of 111.
func seen(got *answers, tr *pateTraining) []float64 {
	out := []float64{got.marginals.Params.Total(), 0, 0, 0, 0, 0}
	for _, m := range got.marginals.Params.(*release.Marginal).Measured {
		out[1] += m.Counts[len(m.Counts)-1]
	}
	for i, votes := range got.votes {
		for q := range votes.Answered {
			ones, n := 0, float64(votes.Counts[2*q+1])
			for k := range 3 {
				ones += int(got.shown[i].asked.row(q)[k]) & 1
			}
			if ones == 3 {
				out[2] += n
			} else {
				out[3] += n
			}
			out[4] += n
		}
	}
	codes := tr.generator.Sample(1000, tr.u)
	for i := range codes[0] {
		if codes[0][i]+codes[1][i]+codes[2][i] == 3 {
			out[5]++
		}
	}
	return out
}
