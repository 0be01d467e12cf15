package configs_test

import (
	"fmt"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/synth"
)

// A batch file becomes jobs; each has an identity that decides what it may spend.
func ExampleParseBatch() {
	b, err := configs.ParseBatch("jobs.yaml", []byte(`
name: autumn
tables:
  - {name: adult, input: adult.csv, schema: adult.yaml}
epsilons: [0.5, 1]
job: {out: "{table}-{epsilon}.csv"}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	jobs, err := b.Expand()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, j := range jobs {
		fmt.Println(j.Name, j.Method, j.Budget(), j.Out)
	}
	// Output:
	// adult-auto-0.5-1 auto {0.5 1e-09} adult-0.5.csv
	// adult-auto-1-1 auto {1 1e-09} adult-1.csv
}

// A mistake in a setting names its place and the nearest setting that exists.
func ExampleDecoder() {
	given := configs.Settings{{Key: "iteration", Value: 3, From: "--set"}}
	_, err := synth.New("mst", configs.Decoder("mst", given))
	fmt.Println(err)
	// Output:
	// --set: method mst has no setting "iteration"; did you mean "iterations"?: invalid configuration
}
