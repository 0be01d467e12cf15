package synth_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/synth"
)

// A rule of the schema holds in every synthetic row, however noisy the fit is.
func ExampleNew() {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "age", Kind: schema.Integer, Min: 0, Max: 99, Bins: 10},
		{Name: "retired", Kind: schema.Boolean},
	}, Rules: []schema.Rule{{When: []schema.Cells{{Column: "age", Below: "50"}},
		Then: []schema.Cells{{Column: "retired", Values: []string{"false"}}}}}}
	age, retired := make([]uint8, 1000), make([]uint8, 1000)
	for i := range age {
		age[i] = uint8(i % 10)
		if age[i] >= 7 {
			retired[i] = 1
		}
	}
	rows, err := table.FromColumns(s, []table.Codes{{U8: age}, {U8: retired}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := synth.Checked(&synth.AIM{Target: "retired"})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _, err := synth.Run(context.Background(), privacy.FromTable(rows), f,
		synth.RunOptions{Options: privacy.Options{Budget: accountant.Budget{Epsilon: .5, Delta: 1e-9}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	young := 0
	err = m.Sample(context.Background(), 10_000, 1, func(t *table.Table) error {
		for r := range t.Rows() {
			if t.Column(0).At(r) < 5 && t.Column(1).At(r) == 1 {
				young++
			}
		}
		return nil
	})
	fmt.Println(young, "young and retired", err)
	fmt.Println(m.Claim)

	_, err = synth.Checked(&synth.AIM{Workload: "everything"})
	fmt.Println(errors.Is(err, synth.ErrConfig))
	// Output:
	// 0 young and retired <nil>
	// (ε = 0.5, δ = 1e-09)-differential privacy under adding or removing one row
	// true
}
