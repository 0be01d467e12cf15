package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/decoy-dp/decoy/accountant/pld"
	"github.com/decoy-dp/decoy/eval/publish"
	"github.com/decoy-dp/decoy/internal/job"
	"github.com/decoy-dp/decoy/internal/spelling"
	"github.com/decoy-dp/decoy/release"
)

func verifyCommand(t *terminal) *cobra.Command {
	return manual{
		operands: "MODEL  model file, or a published evaluation (decoy evaluate --epsilon E --json)",
		session: `
$ decoy fit --dataset icu-readmission --epsilon 1 --model icu.model
$ decoy verify icu.model
`}.document(&cobra.Command{
		Use:   "verify MODEL",
		Short: "recompute a model's guarantee from its own ledger, without the data",
		Long: `Recompute the guarantee that a model file claims, from the ledger inside it: the chain of
hashes, one run, closed as done, every mechanism call within what was reserved, and the cost of
their composition within the claim. No private data is needed.

The cost is computed twice: by the accountant that planned it ("reserved"), and from closed forms
that share no arithmetic with the accountant ("derived": no less than the first number, no more than
the second). A claim below the first is refused, and so is a figure of the accountant that is
impossible. Selections and batches have no exact closed form, so for them the two numbers differ.

It cannot tell whether the program that wrote the file ran the mechanisms that it logged.`,
		Args: operands("MODEL"),
		RunE: func(_ *cobra.Command, args []string) error { return verify(t, args[0]) },
	})
}

// derived is the range of ε in a line.
func derived(lower, upper float64) string {
	text := "epsilon at least " + job.Short(lower)
	if !math.IsInf(upper, 1) {
		text += ", at most " + job.Short(upper)
	}
	return text + ", by closed forms apart from the accountant"
}

func verify(t *terminal, path string) error {
	m, err := openModel(path)
	if errors.Is(err, release.ErrFormat) {
		if other := verifyPublished(t, path); !errors.Is(other, publish.ErrFormat) {
			return other
		}
	}
	if err != nil {
		return err
	}
	v, err := m.Verify(pld.Epsilon)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	w := t.table()
	fmt.Fprintf(w, "ok\tthe claim holds: %v\n", v.Claim)
	fmt.Fprintf(w, "reserved\t%v\n", costOf(v.Reserved))
	if v.Charges > 0 {
		fmt.Fprintf(w, "charged\t%v, in %d mechanism calls\n", costOf(v.Charged), v.Charges)
	}
	fmt.Fprintf(w, "derived\t%s\n", derived(v.Derived.Lower, v.Derived.Upper))
	fmt.Fprintf(w, "checked\tthe hash chain of %d ledger entries; one run, closed as %s; every "+
		"charge in the reservation;\n", len(m.Ledger), spelling.Visible(m.Ledger[len(m.Ledger)-1].Status))
	fmt.Fprintf(w, "\tunit, method, schema and parameters as the ledger and the manifest state them\n")
	fmt.Fprintf(w, "not checked\tthat the program which wrote the file ran the mechanisms it logged\n")
	return w.Flush()
}
