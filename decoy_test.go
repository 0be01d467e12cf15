package decoy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/decoy-dp/decoy"
	"github.com/decoy-dp/decoy/datasets"
	"github.com/decoy-dp/decoy/internal/stattest"
)

// stays writes a simulated table of intensive care stays, with its schema, into a new folder.
func stays() (dir string) {
	dir, err := os.MkdirTemp("", "decoy")
	if err == nil {
		err = os.Chdir(dir)
	}
	var d datasets.Dataset
	if err == nil {
		d, err = datasets.Get("icu-readmission")
	}
	if err == nil {
		err = os.WriteFile("stays.csv", d.CSV(), 0o600)
	}
	if err != nil {
		panic(err)
	}
	return dir
}

func Example() {
	defer os.RemoveAll(stays())
	ctx := context.Background()
	made, err := decoy.Generate(ctx, decoy.Job{
		Source:  decoy.Source{Input: "stays.csv", HeaderIsPublic: true},
		Epsilon: 3, Out: "synthetic.csv", Model: "stays.decoy"}, decoy.Run{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(made.Claim)
	found, err := decoy.Evaluate(ctx, "stays.csv", "synthetic.csv", made.Schema, decoy.Compare{})
	fmt.Println(len(found.Summary) > 0, err)
	proof, err := decoy.Verify("stays.decoy")
	fmt.Println(proof.Claim.Epsilon, err)
	// Output:
	// (ε = 3, δ = 1e-09)-differential privacy under adding or removing one row
	// true <nil>
	// 3 <nil>
}

// TestErrors: what is wrong is told by its kind, before anything is spent.
func TestErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	defer os.RemoveAll(stays())
	ctx := context.Background()
	usage := (*decoy.UsageError)(nil)
	stattest.Check(t, os.WriteFile("there.csv", nil, 0o600))
	stays := decoy.Source{Input: "stays.csv", HeaderIsPublic: true}
	for name, j := range map[string]decoy.Job{
		"negative epsilon": {Source: stays, Epsilon: -1, Out: "out.csv"},
		"unknown setting": {Source: stays, Epsilon: 1, Out: "out.csv",
			Settings: decoy.Settings{{Key: "nonsense", Value: 1}}},
		"no schema, and a header that is not public": {Source: decoy.Source{Input: "stays.csv"},
			Epsilon: 1, Out: "out.csv"},
		"no output":            {Source: stays, Epsilon: 1},
		"no table":             {Epsilon: 1, Out: "out.csv"},
		"a file that is there": {Source: stays, Epsilon: 1, Out: "there.csv"},
	} {
		_, err := decoy.Generate(ctx, j, decoy.Run{})
		if !errors.Is(err, decoy.ErrConfig) && !errors.As(err, &usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := decoy.Verify("stays.csv"); err == nil {
		t.Error("a table is no model")
	}
	if left, _ := filepath.Glob("*.ledger*"); len(left) > 0 {
		t.Errorf("refusals have left %v", left)
	}
}
