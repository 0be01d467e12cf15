package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant"
	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/ledger/signature"
)

func ledgerVerifyCommand(t *terminal) *cobra.Command {
	var keyFile string
	cmd := addJSON(manual{
		operands: "FILE  ledger file",
		session: `
$ decoy fit --dataset icu-readmission --epsilon 1 --model icu.model --ledger icu.ledger
$ decoy ledger verify icu.ledger
`}.document(&cobra.Command{
		Use:   "verify FILE [--key PUB]",
		Short: "check the hash chain, every run's account and the limits",
		Long: `Check a ledger: the chain of hashes; every mechanism call within its run's reservation; the
cost of every reservation, recomputed, within its budget; no limit exceeded when a run began; and
each limit with the signature that it needs. With --key, also that it has a limit, and that the key
has signed the one in force ('decoy ledger limit --sign'). Exit status 1
when it does not hold.`,
		Args: operands("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			l, torn, err := openLedger(args[0])
			if err != nil {
				return err
			}
			if err := l.Verify(pld.Epsilon); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if keyFile != "" {
				key, err := publicKey("--key", keyFile)
				if err != nil {
					return err
				}
				limit, _ := l.LimitInForce()
				if err := signature.Check(limit, key.String()); err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
			}
			return t.print(verifiedLedger{len(l.Entries), len(l.Runs()), l.Spent(), torn,
				job.SpentText(l)})
		},
	}), t)
	cmd.Flags().StringVar(&keyFile, "key", "", "minisign's public key of who signs the limits, a "+
		"file `PUB`; got from them by another way than the ledger")
	return cmd
}

// verifiedLedger is what was checked of a ledger that holds.
type verifiedLedger struct {
	Entries int               `json:"entries"`
	Runs    int               `json:"runs"`
	Spent   accountant.Budget `json:"spent"`
	Torn    bool              `json:"torn,omitempty"`
	total   string            // what is spent, and the limit
}

func (v verifiedLedger) text(w io.Writer) {
	fmt.Fprintf(w, "ok: %s, %s, spent %s\n", plural(v.Entries, "entry", "entries"),
		plural(v.Runs, "run", "runs"), v.total)
	if v.Torn {
		fmt.Fprintln(w, tornText)
	}
}
