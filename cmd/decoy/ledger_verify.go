package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/internal/job"
)

func ledgerVerifyCommand(t *terminal) *cobra.Command {
	return manual{
		operands: "FILE  ledger file",
		session: `
$ decoy fit --dataset icu-readmission --epsilon 1 --model icu.model --ledger icu.ledger
$ decoy ledger verify icu.ledger
`}.document(&cobra.Command{
		Use:   "verify FILE",
		Short: "check the hash chain, every run's account and the limits",
		Long: `Check a ledger: the chain of hashes; every mechanism call within its run's reservation; the
cost of every reservation, recomputed, within its budget; and no limit exceeded when a run began.
Exit status 1 when it does not hold.`,
		Args: operands("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			l, torn, err := openLedger(args[0])
			if err != nil {
				return err
			}
			if err := l.Verify(pld.Upper); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			fmt.Fprintf(t.stdout, "ok: %s, %s, spent %s\n", plural(len(l.Entries), "entry", "entries"),
				plural(len(l.Runs()), "run", "runs"), job.SpentText(l))
			if torn {
				fmt.Fprintln(t.stdout, "the last line was cut short by a crash; its run never started, and "+
					"the next append removes it")
			}
			return nil
		},
	})
}
