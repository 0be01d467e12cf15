package infer_test

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/infer"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/text"
	"github.com/decoy-dp/decoy/schema"
)

// What a schema of 15 columns needs.
func ExamplePlan_Needs() {
	plan, err := infer.NewPlan(15, privacy.Neighbours{Adjacency: accountant.AddRemove},
		accountant.Budget{Epsilon: .5, Delta: 1e-9})
	if err != nil {
		panic(err)
	}
	n := plan.Needs()
	fmt.Printf("a column needs %.0f values, bounds %.0f numbers, a category %.0f rows\n",
		n.Kind, n.Bounds, n.Category)
	// Output:
	// a column needs 334 values, bounds 764 numbers, a category 467 rows
}

// One reservation for a schema and for what is measured by it: a third of the filter buys the
// schema, and what is left is for any Gaussian or exponential mechanism on the rows in its codes.
// The counts that bought the schema are measurements already.
func ExamplePlan_Buy() {
	ctx, budget := context.Background(), accountant.Budget{Epsilon: 1, Delta: 1e-9}
	csv := schema.CSV{Comma: ','}
	t, err := text.File("patients.csv", text.Options{Names: []string{"age", "sex"}, CSV: csv})
	if err != nil {
		panic(err)
	}
	nb := t.Neighbours(accountant.AddRemove)
	plan, err := infer.NewPlan(len(t.Names()), nb, budget)
	if err != nil {
		panic(err)
	}
	plan.Share = 1. / 3
	texts, err := text.Open(ctx, t, privacy.Options{Budget: budget, Plan: plan.Composition(),
		Method: "mst"})
	if err != nil {
		fmt.Println(err) // there is no such file
		return
	}
	bought, err := plan.Buy(ctx, t, texts, infer.Options{
		Options: privacy.Options{Budget: budget}, CSV: csv})
	if err != nil {
		panic(err) // infer.ErrNothing, for one
	}
	measured, err := bought.Measurements()
	if err != nil {
		panic(err)
	}
	session, err := texts.As(bought.Schema())
	if err != nil {
		panic(err)
	}
	fmt.Println(len(measured), "columns measured; for pairs of them μ² =", session.FilterLeft())
}
