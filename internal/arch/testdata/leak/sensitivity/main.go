// want: too many arguments
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/query"
)

func ask(s *privacy.Session) { fmt.Println(s.Measure(query.Total{}, 1, 0.5)) }

func main() { ask(nil) }
