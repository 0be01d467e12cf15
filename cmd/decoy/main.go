// Command decoy turns a private table into a synthetic one under differential privacy, and keeps
// the account of what it cost.
//
// The command line is an interface: verbs, flags and exit codes stay what they are. One file holds
// one verb; a page in the folder manual names its operands and flags, and is its help. What all verbs
// share: verb.go (verbs of their pages), flags.go (the flags of a job), settings.go (flag,
// environment, file, default), result.go (what is printed, as text or JSON), target.go (what is
// written), exit.go (errors to exit codes), talk.go and progress.go (standard error), help.go with
// help_page.go and help_man.go (help, pages and man pages from one source).
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program. The first interrupt (SIGINT, SIGTERM, or SIGHUP of a closed terminal)
// cancels the context, so that an open run is left to be continued; the second ends the process
// where it stands.
func run(args []string, stdout, stderr io.Writer) int {
	interrupts := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup, which is asked for to outlive the terminal
		interrupts = append(interrupts, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), interrupts...)
	defer stop()
	context.AfterFunc(ctx, stop)

	root := newRoot(&terminal{stdout: stdout, stderr: stderr})
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		printError(stderr, err, cmd.CommandPath())
	}
	return exitCode(err)
}
