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
	cmd := manual{
		operands: "MODEL  model file of mst, aim or mwem, made by one of the parties",
		session: `
$ decoy datasets export icu-mortality --out icu.csv --schema-out icu.yaml
$ (head -n 1 icu.csv; sed -n '2~2p' icu.csv) > north.csv
$ (head -n 1 icu.csv; sed -n '3~2p' icu.csv) > south.csv
$ decoy fit north.csv --schema icu.yaml --epsilon 1 --model north.decoy
$ decoy fit south.csv --schema icu.yaml --epsilon 1 --model south.decoy
$ decoy join north.decoy south.decoy --people disjoint --out joint.decoy
$ decoy verify joint.decoy
$ decoy sample joint.decoy --out synthetic.csv
`}.document(&cobra.Command{
		Use:   "join MODEL MODEL... --people disjoint|may-overlap --out JOINT",
		Short: "fit one model to the models of several parties, which keep their rows",
		Long: `Fit one model to the noisy counts that models of several parties keep: each was made at home,
from rows that nobody else saw, under a ledger of its own, with the same schema. It costs no budget
and needs no rows.

You must know whether one person may be in the tables of several parties: it decides the guarantee.
  disjoint     nobody is: the joint model has the largest epsilon and delta of the parties
  may-overlap  somebody may be: the sums of their epsilons and deltas
Two models of one table are may-overlap.

Counts that all parties made add up. What only some made stands for the others too, with less weight
the more the parties differ (decoy help join). JOINT keeps each party's account: 'decoy verify'
checks them all, and the joint guarantee by them.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("two MODELs or more are needed")
			}
			return nil
		},
	})
	addForce(cmd, t)
	cmd.Flags().StringVar(&people, "people", "", "disjoint or may-overlap: whether somebody may be "+
		"in the tables of several `parties` (required)")
	cmd.Flags().StringVar(&out, "out", "", "joint model `FILE` to write (required)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := need(cmd, "people", "out"); err != nil {
			return err
		}
		return join(cmd, t, args, release.People(people), out)
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
	var read []job.NamedPath
	for _, path := range paths {
		m, err := openModel(path)
		if err != nil {
			return err
		}
		models, read = append(models, m), append(read, job.At("MODEL", path))
		name := filepath.Base(path)
		o.Names = append(o.Names, strings.TrimSuffix(name, filepath.Ext(name)))
	}
	if err := job.Distinct([]job.NamedPath{job.At("--out", out)}, read); err != nil {
		return err
	}
	f, err := t.create("--out", out, job.ReleaseMode)
	if err != nil {
		return err
	}
	defer f.Abort()
	shown := t.progress()
	o.Progress = shown.of("fitting the joint model")
	m, err := release.Join(cmd.Context(), models, o)
	shown.finish()
	if err != nil {
		return err
	}
	t.sayGuarantee(m)
	return t.deliver(f, "", m.Write)
}
