package workload_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/model/workload"
)

// A workload of a table, two counts and a cumulative distribution, answered on a few public rows.
func Example() {
	s, err := schema.Parse([]byte(`
decoy: 1
columns:
  - {name: sex, kind: categorical, categories: [F, M]}
  - {name: age, kind: integer, min: 0, max: 79, bins: 4}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	w, err := workload.Parse([]byte(`
decoy_workload: 1
queries:
  - marginal: [sex, age]
  - where: sex = F and age >= 40
  - where: age >= 20 and age < 60
  - prefix: age
`), s)
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, err := table.FromColumns(s, []table.Codes{{U8: []uint8{0, 0, 1, 0, 1}},
		{U8: []uint8{0, 2, 3, 3, 1}}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	answers, err := w.OnTable(rows)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, a := range answers {
		fmt.Printf("%s: %v\n", w.Items()[i].Name, a)
	}
	_, err = workload.Parse([]byte("decoy_workload: 1\nqueries:\n  - where: age < 30\n"), s)
	fmt.Println(err)
	// Output:
	// sex, age: [1 0 1 1 0 1 0 1]
	// sex = F and age >= 40: [2]
	// age >= 20 and age < 60: [2]
	// age up to [0, 20): [1]
	// age up to [20, 40): [2]
	// age up to [40, 60): [3]
	// line 3: where: character 5: age < 30 cuts the bin [20, 40): a bound must lie between two bins
}
