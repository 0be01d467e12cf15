package attack_test

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/eval/attack"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

// A claim of ε = 1 is audited with 400 runs a side.
func ExampleManyRun() {
	s := &schema.Schema{Columns: []schema.Column{{Name: "ill", Kind: schema.Boolean}}}
	m, pair, err := attack.Gate("answer", s, accountant.AddRemove, accountant.Budget{Epsilon: 1},
		attack.Shapes()[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := attack.ManyRun(context.Background(), m, pair,
		attack.Options{Runs: 400, Confidence: .999999})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d runs a side, %d of them a pilot; at most ε ≥ %.2f could be shown\n", r.Runs,
		r.Pilot, r.Ceiling)
	fmt.Println("refuted:", r.Refuted)
	// Output:
	// 400 runs a side, 100 of them a pilot; at most ε ≥ 2.96 could be shown
	// refuted: false
}
