// want: too many arguments
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
)

func ask(s *privacy.Session) { fmt.Println(s.Measure(privacy.Total{}, 1, 0.5)) }

func main() { ask(nil) }
