// want: does not implement privacy.Aggregator
package main

import "github.com/decoy-dp/decoy/privacy"

type noiseless struct{}

var _ privacy.Aggregator = noiseless{}

func main() {}
