package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/party"
	"github.com/decoy-dp/decoy/privacy"
	"github.com/decoy-dp/decoy/release"
	"github.com/decoy-dp/decoy/synth"
)

func partyKeygenCommand(t *terminal) *cobra.Command {
	var out string
	cmd := t.verb("party keygen", flags{"out": &out})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if out == job.Standard {
			return usagef("--out -: a secret key needs a file")
		}
		pem, err := party.NewKey()
		if err != nil {
			return err
		}
		key, err := party.ParseKey(pem)
		if err != nil {
			return err
		}
		f, err := t.create("--out", out, 0o600)
		if err != nil {
			return err
		}
		defer f.Abort()
		err = t.deliver(f, "", func(w io.Writer) error { _, err := w.Write(pem); return err })
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(t.stdout, party.Public(key))
		return err
	}
	return cmd
}

type partyRun struct {
	jobFlags
	parties, key string
	wait         time.Duration
}

func partyRunCommand(t *terminal) *cobra.Command {
	r := &partyRun{jobFlags: newJob(), wait: 10 * time.Minute}
	r.Method = party.DefaultMethod
	cmd := t.verb("party run", r.flags(), flags{"parties": &r.parties, "key": &r.key,
		"wait": &r.wait})
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return r.run(cmd, t, args[0]) }
	return cmd
}

func (r *partyRun) run(cmd *cobra.Command, t *terminal, input string) error {
	if err := r.checkPrivate(); err != nil {
		return err
	}
	if r.Model == job.Standard || r.wait <= 0 {
		return usagef("--model needs a file, and --wait a time above 0")
	}
	o := party.Options{Budget: r.Budget(), Adjacency: r.Relation(), Tool: tool(), Wait: r.wait}
	var err error
	if o.Method, err = r.method(cmd); err != nil {
		return err
	}
	if o.Parties, err = readParties(r.parties); err != nil {
		return err
	}
	if o.Key, err = readPartyKey(r.key); err != nil {
		return err
	}
	rows, l, err := r.private(cmd, "INPUT", input)
	if err != nil {
		return err
	}
	o.Schema = rows.Schema()
	run, err := r.pay(t, l, "party", input, "--model", r.Model)
	if err != nil {
		return err
	}
	run.shown.report("waiting for the other parties", 0)
	link, err := party.Meet(cmd.Context(), o)
	if cmd.Context().Err() != nil && err != nil {
		err = cmd.Context().Err()
	}
	if err != nil {
		run.shown.finish()
		run.file.Abort()
		return fmt.Errorf("%w\nnothing is spent: no row was read", err)
	}
	options := synth.RunOptions{Options: run.Options(r.Job), Progress: run.shown.report,
		Deliver: func(m *release.Model) error {
			run.shown.finish()
			if err := t.deliver(run.file, "", m.Write); err != nil {
				return err
			}
			run.got("%v", m.Claim)
			return nil
		}}
	options.Journal, options.Outputs = "", nil // the others would not wait: nothing is continued
	s, err := fitTogether(cmd.Context(), rows, link, options)
	return run.end(s, err)
}

func fitTogether(
	ctx context.Context, rows *privacy.Rows, link *party.Link, o synth.RunOptions,
) (*privacy.Session, error) {
	_, s, err := synth.Run(ctx, rows, party.Fitter{Link: link}, o)
	link.End(err)
	return s, err
}

func readParties(path string) (*party.Parties, error) {
	return readFile(path, func(r io.Reader) (*party.Parties, error) {
		b, err := short(r)
		if err != nil {
			return nil, err
		}
		return party.Parse(b)
	})
}

func readPartyKey(path string) (ed25519.PrivateKey, error) {
	return readFile(path, func(r io.Reader) (ed25519.PrivateKey, error) {
		b, err := short(r)
		if err != nil {
			return nil, err
		}
		return party.ParseKey(b)
	})
}

// short reads a file of at most 1 MiB.
func short(r io.Reader) ([]byte, error) {
	const most = 1 << 20
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("the file is longer than 1 MiB: %w", party.ErrFile)
	}
	return b, err
}
