package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/decoy-dp/decoy/data/schema"
)

// Serve is a helper's side of the talk: it answers the one request of standard input on standard
// output, and returns the exit status. Counting ends on SIGTERM, on an interrupt, and when the
// program that started this one has ended, however it did. Of the error of count the text is shown.
func Serve(count func(ctx context.Context, r Request) ([]int64, error)) int {
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

// answer answers one request.
func answer(
	ctx context.Context, in io.Reader, out io.Writer,
	count func(ctx context.Context, r Request) ([]int64, error),
) error {
	var r Request
	var said Reply
	err := json.NewDecoder(in).Decode(&r)
	if err != nil || r.Version != version {
		err = errors.New("the program that counts is of another version than decoy")
	} else {
		said.Counts, err = count(ctx, r)
	}
	if err != nil {
		said = Reply{Error: err.Error(), Data: errors.Is(err, schema.ErrSchema)}
	}
	return errors.Join(err, json.NewEncoder(out).Encode(said))
}
