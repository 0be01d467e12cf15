// want: sh.votes undefined
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
)

func peek(sh *privacy.Shards[int]) {
	fmt.Println(sh.votes(privacy.Ballot{Questions: 1, Classes: 2}, 0))
}

func main() { peek(nil) }
