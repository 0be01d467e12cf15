package helper

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/decoy-dp/decoy/schema"
)

// Serve is a helper's side of the talk: it answers the one request of standard input on standard
// output, and returns the exit status. Counting ends on SIGTERM, on an interrupt, and when the
// program that started this one has ended, however it did. Of the error of count the text is shown.
func Serve(
	count func(ctx context.Context, r Request, progress func(float64)) ([][]int64, error),
) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	signal.Ignore(syscall.SIGPIPE) // what cannot be written is an error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for by := os.Getppid(); os.Getppid() == by; {
			time.Sleep(time.Second)
		}
		cancel()
	}()
	if err := answer(ctx, os.Stdin, os.Stdout, count); err != nil {
		return 1
	}
	return 0
}

// Cells is the number of cells of each set, and of all, for columns of these sizes.
func Cells(sizes []int, sets [][]int) (each []int, all int) {
	for _, set := range sets {
		n := 1
		for _, c := range set {
			n *= sizes[c]
		}
		each, all = append(each, n), all+n
	}
	return each, all
}

// answer answers one request.
func answer(
	ctx context.Context, in io.Reader, out io.Writer,
	count func(ctx context.Context, r Request, progress func(float64)) ([][]int64, error),
) error {
	lines := json.NewEncoder(out)
	var counts [][]int64
	var r Request
	err := json.NewDecoder(in).Decode(&r)
	if err != nil || r.Version != Version {
		err = errors.New("engine: the program that counts is of another version than decoy")
	} else {
		counts, err = count(ctx, r, func(done float64) { lines.Encode(Reply{Progress: done}) })
	}
	if err != nil {
		return errors.Join(err, lines.Encode(Reply{Error: err.Error(),
			Data: errors.Is(err, schema.ErrSchema)}))
	}
	for _, c := range counts {
		if err := lines.Encode(Reply{Counts: c}); err != nil {
			return err
		}
	}
	return lines.Encode(Reply{Done: true})
}
