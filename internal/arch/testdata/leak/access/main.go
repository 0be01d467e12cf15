// want: use of internal package
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/privacy/accountant"
	"github.com/decoy-dp/decoy/privacy/internal/access"
)

func peek(s *privacy.Session) {
	access.Runner(s)(
		access.Call{Draw: func(in access.Rows, _ func(accountant.Charge) error) ([]byte, error) {
			fmt.Println(in.Table().Rows())
			return nil, nil
		}},
	)
}

func main() { peek(nil) }
