// want: s.left undefined
package main

import (
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
)

func refund(s *privacy.Session, e accountant.Event) { s.left[e]++ }

func main() { refund(nil, nil) }
