// want: too many arguments
package main

import "github.com/decoy-dp/decoy/noise"

func main() { noise.NewSource(42) }
