// want: does not implement privacy.Query
package main

import "github.com/decoy-dp/decoy/privacy"

type mine struct{}

func (mine) query() {}

func ask(s *privacy.Session) { s.Measure(mine{}, 1) }

func main() { ask(nil) }
