// want: does not implement accountant.Event
package main

import "github.com/decoy-dp/decoy/privacy/accountant"

type free struct{}

func main() { var _ accountant.Event = free{} }
