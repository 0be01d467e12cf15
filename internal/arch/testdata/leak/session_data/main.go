// want: s.data undefined
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
)

func peek(s *privacy.Session) { fmt.Println(s.data().Rows()) }

func main() { peek(nil) }
