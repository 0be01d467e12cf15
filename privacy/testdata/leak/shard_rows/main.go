// want: sh.inner undefined
package main

import (
	"fmt"

	"github.com/decoy-dp/decoy/privacy"
)

func peek(sh *privacy.Shards[int]) { fmt.Println(sh.inner()) }

func main() { peek(nil) }
