package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/configs"
	"github.com/decoy-dp/decoy/model/release"
	"github.com/decoy-dp/decoy/privacy/accountant/pld"
	"github.com/decoy-dp/decoy/stats/party"
	"github.com/decoy-dp/decoy/synth"
)

func partyKeygenCommand(t *terminal) *cobra.Command {
	var out string
	return t.verb("party keygen", func(_ *cobra.Command, t *terminal, _ []string) error {
		if out == configs.Standard {
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
		if err := t.write("--out", out, 0o600, bytesOf(pem)); err != nil {
			return err
		}
		_, err = fmt.Fprintln(t.stdout, party.Public(key))
		return err
	}, flags{"out": &out})
}

type partyRun struct {
	jobFlags
	parties, key string
	wait         time.Duration
}

func partyRunCommand(t *terminal) *cobra.Command {
	r := &partyRun{jobFlags: newJob(), wait: 10 * time.Minute}
	r.Method = party.DefaultMethod
	return t.verb("party run", r.run, r.flags(), flags{"parties": &r.parties, "key": &r.key,
		"wait": &r.wait})
}

func (r *partyRun) run(cmd *cobra.Command, t *terminal, args []string) error {
	if err := r.checkPrivate(); err != nil {
		return err
	}
	if r.Model == configs.Standard || r.wait <= 0 {
		return usagef("--model needs a file, and --wait a time above 0")
	}
	o := party.Options{Budget: r.Budget(), Adjacency: r.Relation(), Tool: tool(), Wait: r.wait}
	var err error
	if o.Method, err = r.method(cmd); err != nil {
		return err
	}
	if o.Parties, err = readShort(r.parties, party.Parse); err != nil {
		return err
	}
	if o.Key, err = readShort(r.key, party.ParseKey); err != nil {
		return err
	}
	rows, l, err := r.private(cmd, "INPUT", args[0])
	if err != nil {
		return err
	}
	o.Schema = rows.Schema()
	run, err := r.pay(t, l, "party", args[0], "--model", r.Model)
	if err != nil {
		return err
	}
	o.Progress = func(stage string, _ float64) { cmd.PrintErrln(stage) }
	link, err := party.Meet(cmd.Context(), o)
	if cmd.Context().Err() != nil && err != nil {
		err = cmd.Context().Err()
	}
	if err != nil {
		return fmt.Errorf("%w\nnothing is spent: no row was read", err)
	}
	options := synth.RunOptions{Options: run.Options(r.Job), Progress: run.shown.report,
		Deliver: func(m *release.Model) error {
			if err := t.deliver(run.file, "", m.Write); err != nil {
				return err
			}
			run.got("%v", m.Claim)
			return nil
		}}
	options.Journal, options.Outputs = "", nil // the others would not wait: nothing is continued
	_, s, err := synth.Run(cmd.Context(), rows, party.Fitter{Link: link}, options)
	link.End(err)
	return run.end(s, err)
}

// readShort parses a file of at most 1 MiB, which errors name.
func readShort[T any](path string, parse func([]byte) (T, error)) (out T, err error) {
	text, err := configs.ReadBounded(path, 1<<20)
	if err != nil {
		return out, err
	}
	if out, err = parse(text); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}

func joinCommand(t *terminal) *cobra.Command {
	var people, out string
	cmd := t.verb("join", func(_ *cobra.Command, t *terminal, args []string) error {
		return join(t, args, release.People(people), out)
	}, flags{"people": &people, "out": &out})
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return usagef("two MODELs or more are needed")
		}
		return nil
	}
	return cmd
}

func join(t *terminal, paths []string, people release.People, out string) error {
	if out == configs.Standard {
		return usagef("--out -: a model needs a file")
	}
	o := release.JoinOptions{People: people, Tool: tool(), Price: pld.Epsilon}
	var models []*release.Model
	for _, path := range paths {
		m, err := openTable(path)
		if err != nil {
			return err
		}
		models = append(models, m)
		name := filepath.Base(path)
		o.Names = append(o.Names, strings.TrimSuffix(name, filepath.Ext(name)))
	}
	f, err := t.create("--out", out, configs.ReleaseMode)
	if err != nil {
		return err
	}
	m, err := release.Join(models, o)
	if err != nil {
		return err
	}
	t.sayGuarantee(m)
	return t.deliver(f, "", m.Write)
}
