package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/release"
)

func joinCommand(t *terminal) *cobra.Command {
	var people, out string
	cmd := t.verb("join", func(cmd *cobra.Command, t *terminal, args []string) error {
		return join(cmd, t, args, release.People(people), out)
	}, flags{"people": &people, "out": &out})
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return usagef("two MODELs or more are needed")
		}
		return nil
	}
	return cmd
}

func join(
	cmd *cobra.Command, t *terminal, paths []string, people release.People, out string,
) error {
	switch {
	case people != release.Disjoint && people != release.MayOverlap:
		return usagef("--people %s: want %s or %s", people, release.Disjoint, release.MayOverlap)
	case out == job.Standard:
		return usagef("--out -: a model needs a file")
	}
	o := release.JoinOptions{People: people, Tool: tool(), Price: pld.Epsilon}
	var models []*release.Model
	for _, path := range paths {
		m, err := openModel(path)
		if err != nil {
			return err
		}
		models = append(models, m)
		name := filepath.Base(path)
		o.Names = append(o.Names, strings.TrimSuffix(name, filepath.Ext(name)))
	}
	f, err := t.create("--out", out, job.ReleaseMode)
	if err != nil {
		return err
	}
	defer f.Abort()
	o.Progress = t.progress().of("fitting the joint model")
	m, err := release.Join(cmd.Context(), models, o)
	if err != nil {
		return err
	}
	t.sayGuarantee(m)
	return t.deliver(f, "", m.Write)
}
