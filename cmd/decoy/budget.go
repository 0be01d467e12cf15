package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/synth"
)

// defaultDelta is δ where none is asked for.
const defaultDelta = 1e-9

// budgetFlags are the flags that say how much a run may cost and by which method.
type budgetFlags struct {
	methodFlags
	epsilon, delta float64
	adjacency      string
}

func (b *budgetFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Float64Var(&b.epsilon, "epsilon", 0, "privacy budget `E` of everything the run reads "+
		"(required, > 0)")
	f.Float64Var(&b.delta, "delta", defaultDelta,
		fmt.Sprintf("probability `D` in the guarantee, 0 to %v", accountant.MaxDelta))
	addAdjacency(cmd, &b.adjacency)
	b.methodFlags.add(cmd)
}

func addAdjacency(cmd *cobra.Command, adjacency *string) {
	cmd.Flags().StringVar(adjacency, "adjacency", accountant.AddRemove.String(),
		"which tables are neighbours, `A`: add-remove or replace-one")
	complete(cmd, "adjacency", accountant.AddRemove.String(), accountant.ReplaceOne.String())
}

// complete names the values of a flag for the shell.
func complete(cmd *cobra.Command, flag string, values ...string) {
	cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values,
		cobra.ShellCompDirectiveNoFileComp))
}

// budget validates --epsilon and --delta.
func (b *budgetFlags) budget(cmd *cobra.Command) (accountant.Budget, error) {
	return budgetOf(cmd, b.epsilon, b.delta)
}

func budgetOf(cmd *cobra.Command, epsilon, delta float64) (accountant.Budget, error) {
	asked := accountant.Budget{Epsilon: epsilon, Delta: delta}
	if err := need(cmd, "epsilon"); err != nil {
		return asked, err
	}
	if !(epsilon > 0 && epsilon <= configs.MaxEpsilon) {
		return asked, usagef("--epsilon %v must be above 0 and at most %d", epsilon, configs.MaxEpsilon)
	}
	if asked.Validate() != nil {
		return asked, usagef("--delta %v must be from 0 to %v", delta, accountant.MaxDelta)
	}
	return asked, nil
}

func parseAdjacency(text string) (accountant.Adjacency, error) {
	var a accountant.Adjacency
	if a.UnmarshalText([]byte(text)) != nil {
		return a, usagef("--adjacency %q must be add-remove or replace-one", text)
	}
	return a, nil
}

// request is a validated choice of budget, neighbours and method.
type request struct {
	budget    accountant.Budget
	adjacency accountant.Adjacency
	fitter    synth.Fitter
}

func (b *budgetFlags) request(cmd *cobra.Command) (request, error) {
	var r request
	var err error
	if r.fitter, err = b.fitter(cmd); err != nil {
		return r, err
	}
	if r.budget, err = b.budget(cmd); err != nil {
		return r, err
	}
	r.adjacency, err = parseAdjacency(b.adjacency)
	return r, err
}
