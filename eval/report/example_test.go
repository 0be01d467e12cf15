package report_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/eval/report"
)

// A copied table looks perfect, and is found out.
func Example() {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "age", Kind: schema.Integer, Min: 0, Max: 99},
		{Name: "weight", Kind: schema.Integer, Min: 40, Max: 139},
	}}
	draw := func(n, step int) *table.Table { // n rows spread over the plane
		age, weight := table.NewCodes(100, n), table.NewCodes(100, n)
		for i := range n {
			age.Set(i, uint16(i*step%97))
			weight.Set(i, uint16(i*i*step%89))
		}
		t, err := table.FromColumns(s, []table.Codes{age, weight}, nil)
		if err != nil {
			panic(err)
		}
		return t
	}
	train, holdout := draw(150, 7), draw(150, 11)
	r, err := report.Compute(context.Background(),
		report.Tables{Train: report.Table{Rows: train}, Holdout: report.Table{Rows: holdout},
			Synthetic: report.Table{Rows: train}},
		report.Options{})
	if err != nil {
		panic(err)
	}
	for _, f := range r.Summary {
		fmt.Println(f.Question, f.Status)
	}
	var page bytes.Buffer
	fmt.Println(r.NotPrivate, r.HTML(&page), page.Len() > 10_000)
	// Output:
	// Do the columns look alike? mixed
	// Are associations kept? unknown
	// Can a model be trained on it? unknown
	// Did the rare outcome survive? unknown
	// Are real rows copied? poor
	// Do rows hang together? unknown
	// true <nil> true
}

// One call measures all that eval.Metrics lists: each metric has its values, or why it has none.
func ExampleCompute() {
	s := &schema.Schema{Columns: []schema.Column{
		{Name: "sex", Kind: schema.Categorical, Categories: []string{"f", "m"}},
	}}
	rows := func(codes ...uint8) report.Table {
		t, err := table.FromColumns(s, []table.Codes{{U8: codes}}, nil)
		if err != nil {
			panic(err)
		}
		return report.Table{Rows: t}
	}
	r, err := report.Compute(context.Background(), report.Tables{
		Train: rows(0, 0, 1, 1), Synthetic: rows(0, 0, 0, 1)}, report.Options{})
	if err != nil {
		panic(err)
	}
	for _, m := range r.Metrics {
		switch m.Name {
		case "TVComplement", "MarginalError", "NNAA", "TSTR":
			if m.LeftOut != "" {
				fmt.Println(m.Name, m.LeftOut)
				continue
			}
			fmt.Printf("%s %.2f\n", m.Name, m.Values[0].Value)
		}
	}
	// Output:
	// TVComplement 0.75
	// MarginalError 0.25
	// TSTR needs a target column to predict
	// NNAA 0.47
}
