// Command decoy-spark counts a table in Spark for decoy, which starts it:
//
//	decoy fit sc://HOST:15002/TABLE --schema S --epsilon E --ledger L --model M
//
// "decoy-spark count" is what decoy calls, and "decoy-spark count-worker" what the tasks of Spark
// call, where SQL does not carry a question: then the same file must be at the same path on every
// worker. See decoy help scale.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/decoy-dp/decoy/data/engine"
	"github.com/decoy-dp/decoy/data/spark/driver"
	"github.com/decoy-dp/decoy/data/spark/worker"
)

func main() {
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == engine.Verb:
		os.Exit(engine.Serve(count))
	case len(args) == 1 && args[0] == driver.Verb:
		worker.Run()
	default:
		fmt.Fprintln(os.Stderr, "decoy-spark is started by decoy: decoy fit sc://HOST:15002/TABLE "+
			"--schema S --epsilon E --ledger L --model M (decoy help scale)")
		os.Exit(2)
	}
}

func count(ctx context.Context, r engine.Request) ([]int64, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return nil, errors.New("spark: this program does not know its path")
	}
	return driver.Count(ctx, r, program)
}
