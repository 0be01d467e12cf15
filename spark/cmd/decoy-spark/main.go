// Command decoy-spark counts a table in Spark for decoy, which starts it:
//
//	decoy fit sc://HOST:15002/TABLE --schema S --epsilon E --ledger L --model M
//
// "decoy-spark count" is what decoy calls, and "decoy-spark count-worker" what the tasks of Spark
// call: so the same file must be at the same path on every worker. Beside it lies the key file, of
// 32 secret bytes, where tables have an id column. See decoy help scale.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/decoy-dp/decoy/internal/engine/helper"
	"github.com/decoy-dp/decoy/schema"
	"github.com/decoy-dp/decoy/spark/driver"
	"github.com/decoy-dp/decoy/spark/worker"
)

func main() {
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == helper.Verb:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		signal.Ignore(syscall.SIGPIPE) // what cannot be written is an error
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go whileStarted(cancel)
		if err := count(ctx, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
	case len(args) == 2 && args[0] == driver.Verb:
		worker.Run(args[1])
	default:
		fmt.Fprintln(os.Stderr, "decoy-spark is started by decoy: decoy fit sc://HOST:15002/TABLE "+
			"--schema S --epsilon E --ledger L --model M (decoy help scale)")
		os.Exit(2)
	}
}

// whileStarted calls end when the program that started this one has ended, however it did.
func whileStarted(end func()) {
	for by := os.Getppid(); os.Getppid() == by; {
		time.Sleep(time.Second)
	}
	end()
}

// count answers one request.
func count(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := json.NewEncoder(out)
	fail := func(err error) error {
		return errors.Join(err, lines.Encode(helper.Reply{Error: err.Error(),
			Data: errors.Is(err, schema.ErrSchema)}))
	}
	var r helper.Request
	if err := json.NewDecoder(in).Decode(&r); err != nil || r.Version != helper.Version {
		return fail(errors.New("spark: decoy and decoy-spark are of different versions"))
	}
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return fail(errors.New("spark: this program does not know its path"))
	}
	counts, err := driver.Count(ctx, r, program, func(done float64) {
		lines.Encode(helper.Reply{Progress: done})
	})
	if err != nil {
		return fail(err)
	}
	for _, c := range counts {
		if err := lines.Encode(helper.Reply{Counts: c}); err != nil {
			return err
		}
	}
	return lines.Encode(helper.Reply{Done: true})
}
