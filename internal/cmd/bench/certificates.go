package main

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/synth"
	"github.com/decoy-dp/decoy/synth/wgan"
	"github.com/decoy-dp/decoy/table"
)

// printCertificates runs the method once, with as few generator steps as train a critic, and prints
// √(total variance) of each step's noise, at noise multiplier 1, as each mode would have it, and
// what a penalty at points between private and generated rows would add. It is an error if a step
// is out of order.
func printCertificates(train *table.Table, f synth.Fitter, b accountant.Budget) error {
	nb := privacy.NeighboursOf(train.Schema(), accountant.AddRemove)
	p := must(f.Plan(train.Schema(), nb, b))
	s := must(privacy.Open(context.Background(), privacy.FromTable(train),
		privacy.Options{Budget: b, Plan: p.Composition(), Price: synth.PriceOf(p), Method: f.Name()}))
	sizes := must(wgan.StepSizes(context.Background(), p, s))
	fmt.Printf("%-6s %10s %10s %10s %16s %14s\n", "step", "thesis", "box", "residual",
		"thesis/residual", "interpolates")
	for k, x := range sizes {
		fmt.Printf("%-6d %10.1f %10.1f %10.1f %16.1f %14.1f\n", k+1, x.Thesis, x.Box, x.Residual,
			x.Thesis/x.Residual, x.Interpolates)
		if !x.Ordered() {
			return fmt.Errorf("step %d is out of order", k+1)
		}
	}
	return s.Finish(nil, nil)
}
