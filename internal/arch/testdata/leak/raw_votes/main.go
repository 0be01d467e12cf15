// want: sh.votes undefined
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

func peek(sh *vote.Shards[int]) {
	fmt.Println(sh.votes(vote.Ballot{Questions: 1, Classes: 2}, 0))
}

func main() { peek(nil) }
