// want: s.left undefined
package main

import (
	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/privacy"
)

func refund(s *privacy.Session, e accountant.Event) { s.left[e]++ }

func main() { refund(nil, nil) }
