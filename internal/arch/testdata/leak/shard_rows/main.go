// want: sh.inner undefined
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

func peek(sh *vote.Shards[int]) { fmt.Println(sh.inner()) }

func main() { peek(nil) }
