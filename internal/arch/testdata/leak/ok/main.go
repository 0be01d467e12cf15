// A program that uses the gate as intended; it must compile, or the other programs prove nothing.
package main

import (
	"context"
	"fmt"

	"github.com/decoy-dp/decoy/data/schema"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

func main() {
	rows := privacy.File("t.csv", &schema.Schema{})
	s, err := privacy.Open(
		context.Background(), rows, privacy.Options{Budget: accountant.Budget{Epsilon: 1, Delta: 1e-9}},
	)
	if err != nil {
		return
	}
	n, err := s.Measure(privacy.Total{}, 10)
	fmt.Println(n, err)
}
