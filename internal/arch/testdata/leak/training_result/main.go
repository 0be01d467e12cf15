// want: does not implement vote.Teacher[int]
package main

import (
	"github.com/decoy-dp/decoy/data/table"
	"github.com/decoy-dp/decoy/privacy/mech/vote"
)

type telltale struct{}

func (telltale) Train(shard *table.Table, shown int) int { return shard.Rows() }
func (telltale) VotesTo(votes []uint8, shown int)        {}

var _ vote.Teacher[int] = telltale{}

func main() {}
