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
	return t.verb("ledger verify", func(_ *cobra.Command, t *terminal, args []string) error {
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
	}, flags{"key": &keyFile})
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
