// want: s.src undefined
package main

import (
	"github.com/decoy-dp/decoy/noise"
	"github.com/decoy-dp/decoy/privacy"
)

func fix(s *privacy.Session) { s.src = noise.NewSource() }

func main() { fix(nil) }
