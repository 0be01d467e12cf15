// want: not exported by package privacy
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
)

func ask(s *privacy.Session, cell string) { fmt.Println(s.Total(privacy.label(cell), 1)) }

func main() { ask(nil, "") }
