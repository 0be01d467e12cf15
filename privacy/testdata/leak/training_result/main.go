// want: does not implement privacy.Teacher[int]
package main

import (
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/table"
)

type telltale struct{}

func (telltale) Train(shard *table.Table, shown int) int { return shard.Rows() }
func (telltale) VotesTo(votes []uint8, shown int)        {}

var _ privacy.Teacher[int] = telltale{}

func main() {}
