// want: as vote.Aggregator value
package main

import "github.com/decoy-dp/decoy/privacy/mech/vote"

type noiseless struct{}

var _ vote.Aggregator = noiseless{}

func main() {}
