package pategan

import (
	"testing"

	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestConformance(t *testing.T) {
	quick := Config{Rounds: 2, Questions: 20, DistilSteps: 10, GeneratorSteps: 4, ShardRows: 50}
	good := Config{Rounds: 3, Questions: 50, DistilSteps: 500, GeneratorSteps: 20, ShardRows: 200}
	synthtest.Run(t, synthtest.Must(New(quick)), synthtest.Must(New(good)))
}
