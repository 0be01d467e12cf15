package pategan

import (
	"testing"

	"github.com/decoy-dp/decoy/synth/synthtest"
)

func TestConformance(t *testing.T) {
	quick, err := New(Config{Rounds: 2, Questions: 20, WarmSteps: 10, GeneratorSteps: 4,
		PostSteps: 20, Batch: 64, StudentHidden: 8, StudentSteps: 5, ShardRows: 50})
	if err != nil {
		t.Fatal(err)
	}
	good, err := New(Config{Rounds: 3, Questions: 50, WarmSteps: 500, GeneratorSteps: 20,
		PostSteps: 500, Batch: 256, ShardRows: 200, StudentSteps: 50})
	if err != nil {
		t.Fatal(err)
	}
	synthtest.Run(t, quick, good)
}
